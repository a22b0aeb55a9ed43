//! The figures: every hitbox is drawn as exactly what it is.

use bevy::{camera::visibility::VisibilitySystems, ecs::system::SystemParam, prelude::*};
use bevy_hindsight::{Bone, Hitbox, Shape, Zone};
use lightyear::prelude::Controlled;

use super::{Panels, effects::Puff, look::LookMaterial, palette};
use crate::{
    game::weapon::Weapon,
    net::protocol::{Health, Loadout, MoverNumber, Player},
};

/// The bone that holds the weapon.
const RIGHT_HAND: Bone = Bone(10);
/// Where the middle of a weapon is, seen from the right hand: between both.
const GRIP: Vec3 = Vec3::new(-0.09, 0.03, -0.12);
/// How much lighter heads and hands are.
const SKIN: f32 = 0.14;

/// The plugin that draws figures.
pub fn plugin(app: &mut App) {
    app.init_resource::<FigureAssets>()
        .add_observer(show_figure)
        .add_systems(Update, (dress, change_weapons).chain())
        .add_systems(PostUpdate, hide_figures.before(VisibilitySystems::VisibilityPropagate));
}

/// A hitbox that has its mesh.
#[derive(Component)]
struct Dressed;

/// The weapon in the hands of a figure; it is no hitbox.
#[derive(Component)]
struct HeldWeapon {
    figure: Entity,
}

/// What figures are made of: each shape and each colour once, so that they are drawn together.
#[derive(Resource, Default)]
struct FigureAssets {
    meshes: Vec<(Shape, Handle<Mesh>)>,
    materials: Vec<((Option<u32>, bool), Handle<LookMaterial>)>,
    weapon: Option<(Handle<Mesh>, Handle<LookMaterial>)>,
}

/// Makes what is not there yet.
#[derive(SystemParam)]
struct Wardrobe<'w> {
    known: ResMut<'w, FigureAssets>,
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<LookMaterial>>,
}

impl Wardrobe<'_> {
    fn mesh(&mut self, shape: Shape) -> Handle<Mesh> {
        if let Some((_, mesh)) = self.known.meshes.iter().find(|(known, _)| *known == shape) {
            return mesh.clone();
        }
        let mesh = self.meshes.add(mesh_of(shape));
        self.known.meshes.push((shape, mesh.clone()));
        mesh
    }

    fn material(&mut self, number: Option<u32>, is_skin: bool) -> Handle<LookMaterial> {
        let key = (number, is_skin);
        if let Some((_, material)) = self.known.materials.iter().find(|(known, _)| *known == key) {
            return material.clone();
        }
        let color = palette::player(number);
        let color = if is_skin { color.lighter(SKIN) } else { color };
        let material = self.materials.add(LookMaterial::body(color));
        self.known.materials.push((key, material.clone()));
        material
    }

    fn weapon(&mut self) -> (Handle<Mesh>, Handle<LookMaterial>) {
        let Self { known, meshes, materials } = self;
        let made = known
            .weapon
            .get_or_insert_with(|| (meshes.add(Cuboid::default()), materials.add(LookMaterial::body(palette::WEAPON))));
        made.clone()
    }
}

/// A mesh of exactly this shape.
pub fn mesh_of(shape: Shape) -> Mesh {
    match shape {
        Shape::Capsule { half_height, radius } => {
            Capsule3d { radius, half_length: half_height }.mesh().longitudes(14).latitudes(8).build()
        }
        Shape::Ball { radius } => Sphere { radius }.mesh().uv(16, 12),
        Shape::Cuboid { half_extents } => Cuboid { half_size: half_extents }.mesh().build(),
        // The library has no other shapes yet.
        _ => Sphere { radius: shape.bounding_radius() }.mesh().uv(16, 12),
    }
}

fn show_figure(figure: On<Add, Health>, mut commands: Commands) {
    commands.entity(figure.entity).insert_if_new(Visibility::default());
}

/// Hitboxes may come before it is known whose they are: colours have to wait for that.
fn dress(
    hitboxes: Query<(Entity, &Hitbox, Option<&Bone>), Without<Dressed>>,
    parents: Query<&ChildOf>,
    figures: Query<(Option<&Player>, Has<MoverNumber>), With<Health>>,
    mut wardrobe: Wardrobe,
    mut commands: Commands,
) {
    for (entity, hitbox, bone) in &hitboxes {
        let root = parents.root_ancestor(entity);
        let Ok((player, is_target)) = figures.get(root) else { continue };
        if player.is_none() && !is_target {
            continue;
        }
        let number = player.map(|player| player.number);
        let is_skin = matches!(hitbox.zone, Zone::Head | Zone::Neck | Zone::Hand);
        let (mesh, material) = (wardrobe.mesh(hitbox.shape), wardrobe.material(number, is_skin));
        let offset = Transform::from_isometry(hitbox.offset);
        commands.entity(entity).insert((Dressed, Visibility::default())).with_children(|hitbox| {
            hitbox.spawn((Mesh3d(mesh), MeshMaterial3d(material), offset));
            if bone == Some(&RIGHT_HAND) && !is_target {
                let (mesh, material) = wardrobe.weapon();
                let size = Transform::from_translation(GRIP).with_scale(weapon_size(Weapon::default()));
                hitbox.spawn((HeldWeapon { figure: root }, Mesh3d(mesh), MeshMaterial3d(material), size));
            }
        });
    }
}

/// The width, height and length of a weapon, in metres.
pub fn weapon_size(weapon: Weapon) -> Vec3 {
    match weapon {
        Weapon::Rifle => Vec3::new(0.045, 0.07, 0.60),
        Weapon::Shotgun => Vec3::new(0.07, 0.07, 0.48),
        Weapon::Rocket => Vec3::new(0.12, 0.12, 0.75),
        Weapon::Blade => Vec3::new(0.015, 0.06, 0.62),
    }
}

fn change_weapons(loadouts: Query<&Loadout>, mut weapons: Query<(&HeldWeapon, &mut Transform)>) {
    for (held, mut transform) in &mut weapons {
        if let Ok(loadout) = loadouts.get(held.figure) {
            let size = weapon_size(loadout.weapon);
            if transform.scale != size {
                transform.scale = size;
            }
        }
    }
}

/// The dead are not there, and nobody sees themselves from within.
fn hide_figures(
    mut figures: Query<(&Transform, &Health, Option<&Player>, Has<Controlled>, &mut Visibility)>,
    panels: Res<Panels>,
    mut puffs: MessageWriter<Puff>,
) {
    for (transform, health, player, is_own, mut visibility) in &mut figures {
        let is_seen = health.is_alive() && (!is_own || panels.why);
        if !health.is_alive() && !is_own && *visibility != Visibility::Hidden {
            let color = palette::player(player.map(|player| player.number));
            puffs.write(Puff { place: transform.translation + Vec3::Y, radius: 0.9, color });
        }
        visibility.set_if_neq(if is_seen { Visibility::Inherited } else { Visibility::Hidden });
    }
}

#[cfg(test)]
mod tests {
    use bevy::camera::primitives::MeshAabb;
    use bevy_hindsight::DisplayParameters;

    use super::*;
    use crate::game::figure;

    #[test]
    fn what_is_drawn_is_as_large_as_its_hitbox() {
        for (bone, hitbox) in figure::bones() {
            let drawn = mesh_of(hitbox.shape).compute_aabb().unwrap();
            let expected = match hitbox.shape {
                Shape::Capsule { half_height, radius } => Vec3::new(radius, half_height + radius, radius),
                Shape::Cuboid { half_extents } => half_extents,
                shape => Vec3::splat(shape.bounding_radius()),
            };
            // Round things are drawn with corners on their surface.
            assert!(
                (Vec3::from(drawn.half_extents) - expected).abs().max_element() < 0.03 * expected.max_element(),
                "{bone:?}"
            );
        }
    }

    #[test]
    fn the_weapon_is_in_the_right_hand() {
        let (_, hitbox) = figure::bones().nth(usize::from(RIGHT_HAND.0)).unwrap();
        assert_eq!(hitbox.zone, Zone::Hand);
        assert!(figure::RULE.pose(&DisplayParameters::default(), RIGHT_HAND).translation.x > 0.0);
    }
}
