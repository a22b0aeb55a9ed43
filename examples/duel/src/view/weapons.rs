//! What weapons look like: a few boxes each. They are no hitboxes.

use bevy::prelude::*;

use super::{look::LookMaterial, palette};
use crate::game::weapon::Weapon;

/// A box of a weapon, seen from where it is held: its middle, and its width, height and length, in metres.
type Part = (Vec3, Vec3);

const RIFLE: [Part; 5] = [
    (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.045, 0.075, 0.26)),
    (Vec3::new(0.0, 0.014, -0.27), Vec3::new(0.024, 0.024, 0.30)),
    (Vec3::new(0.0, -0.014, 0.19), Vec3::new(0.036, 0.060, 0.14)),
    (Vec3::new(0.0, -0.080, -0.05), Vec3::new(0.030, 0.100, 0.05)),
    (Vec3::new(0.0, 0.050, -0.03), Vec3::new(0.016, 0.026, 0.08)),
];
const SHOTGUN: [Part; 5] = [
    (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.055, 0.070, 0.20)),
    (Vec3::new(-0.017, 0.016, -0.26), Vec3::new(0.031, 0.031, 0.36)),
    (Vec3::new(0.017, 0.016, -0.26), Vec3::new(0.031, 0.031, 0.36)),
    (Vec3::new(0.0, -0.020, -0.24), Vec3::new(0.055, 0.042, 0.14)),
    (Vec3::new(0.0, -0.020, 0.17), Vec3::new(0.040, 0.070, 0.16)),
];
const ROCKET: [Part; 4] = [
    (Vec3::new(0.0, 0.035, -0.06), Vec3::new(0.110, 0.110, 0.64)),
    (Vec3::new(0.0, 0.035, -0.38), Vec3::new(0.140, 0.140, 0.06)),
    (Vec3::new(0.0, 0.035, 0.25), Vec3::new(0.135, 0.135, 0.08)),
    (Vec3::new(0.0, -0.065, 0.0), Vec3::new(0.034, 0.100, 0.05)),
];
const BLADE: [Part; 3] = [
    (Vec3::new(0.0, 0.0, 0.02), Vec3::new(0.030, 0.034, 0.14)),
    (Vec3::new(0.0, 0.0, -0.06), Vec3::new(0.030, 0.110, 0.02)),
    (Vec3::new(0.0, 0.0, -0.33), Vec3::new(0.012, 0.052, 0.52)),
];

fn parts(weapon: Weapon) -> &'static [Part] {
    match weapon {
        Weapon::Rifle => &RIFLE,
        Weapon::Shotgun => &SHOTGUN,
        Weapon::Rocket => &ROCKET,
        Weapon::Blade => &BLADE,
    }
}

/// The end of the barrel, seen from where the weapon is held.
pub fn muzzle(weapon: Weapon) -> Vec3 {
    let ends = parts(weapon).iter().map(|(middle, size)| middle.with_x(0.0) - Vec3::Z * size.z / 2.0);
    ends.min_by(|a, b| a.z.total_cmp(&b.z)).unwrap_or_default()
}

/// The meshes of all weapons, and of what they are made.
#[derive(Resource)]
pub struct WeaponLooks {
    meshes: [Handle<Mesh>; Weapon::ALL.len()],
    /// What all weapons are made of.
    pub material: Handle<LookMaterial>,
}

impl WeaponLooks {
    /// What a weapon looks like.
    pub fn mesh(&self, weapon: Weapon) -> Mesh3d {
        Mesh3d(self.meshes[weapon.index()].clone())
    }
}

impl FromWorld for WeaponLooks {
    fn from_world(world: &mut World) -> Self {
        let meshes = Weapon::ALL.map(|weapon| world.resource_mut::<Assets<Mesh>>().add(build(weapon)));
        let material = LookMaterial::block(palette::WEAPON, 0.0, 0.0);
        Self { meshes, material: world.resource_mut::<Assets<LookMaterial>>().add(material) }
    }
}

fn build(weapon: Weapon) -> Mesh {
    let mut boxes =
        parts(weapon).iter().map(|(middle, size)| Cuboid::from_size(*size).mesh().build().translated_by(*middle));
    let first = boxes.next().unwrap_or_else(|| Cuboid::default().mesh().build());
    boxes.fold(first, |mut all, part| {
        // All boxes have the same attributes.
        let _ = all.merge(&part);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_boxes_of_a_weapon_are_there() {
        for weapon in Weapon::ALL {
            assert_eq!(build(weapon).count_vertices(), 24 * parts(weapon).len());
        }
    }

    #[test]
    fn the_muzzle_is_in_front() {
        for weapon in Weapon::ALL {
            assert!(muzzle(weapon).z < -0.3, "{weapon:?}");
        }
    }
}
