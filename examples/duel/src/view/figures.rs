//! The figures: every hitbox is drawn as exactly what it is.

use bevy::{camera::visibility::VisibilitySystems, ecs::system::SystemParam, prelude::*};
use bevy_hindsight::{Bone, Hitbox, Shape, Zone};
use lightyear::prelude::Controlled;

use super::{Panels, effects::Puff, look::LookMaterial, palette, weapons::WeaponLooks};
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
/// Where the eyes are, seen from the middle of the head, and how large: nowhere do they stand out by more than 5 mm.
const EYES: Vec3 = Vec3::new(0.0, 0.02, -0.04);
const EYES_SIZE: Vec3 = Vec3::new(0.075, 0.028, 0.088);

/// The plugin that draws figures.
pub fn plugin(app: &mut App) {
    app.init_resource::<FigureAssets>()
        .init_resource::<WeaponLooks>()
        .add_observer(show_figure)
        .add_systems(Update, (dress, change_weapons).chain())
        .add_systems(PostUpdate, hide_figures.before(VisibilitySystems::VisibilityPropagate));
}

/// A hitbox that has its mesh.
#[derive(Component)]
struct Dressed;

/// The weapon in the hands of a figure.
#[derive(Component)]
struct HeldWeapon {
    figure: Entity,
}

/// What figures are made of: each shape and each colour once, so that they are drawn together.
#[derive(Resource, Default)]
pub struct FigureAssets {
    meshes: Vec<(Shape, Handle<Mesh>)>,
    materials: Vec<(Color, Handle<LookMaterial>)>,
}

/// Makes what is not there yet.
#[derive(SystemParam)]
pub struct Wardrobe<'w> {
    known: ResMut<'w, FigureAssets>,
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<LookMaterial>>,
}

impl Wardrobe<'_> {
    /// The mesh of a shape.
    pub fn mesh(&mut self, shape: Shape) -> Mesh3d {
        if let Some((_, mesh)) = self.known.meshes.iter().find(|(known, _)| *known == shape) {
            return Mesh3d(mesh.clone());
        }
        let mesh = self.meshes.add(mesh_of(shape));
        self.known.meshes.push((shape, mesh.clone()));
        Mesh3d(mesh)
    }

    fn body(&mut self, color: Color) -> MeshMaterial3d<LookMaterial> {
        if let Some((_, material)) = self.known.materials.iter().find(|(known, _)| *known == color) {
            return MeshMaterial3d(material.clone());
        }
        let material = self.materials.add(LookMaterial::body(color));
        self.known.materials.push((color, material.clone()));
        MeshMaterial3d(material)
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
    weapons: Res<WeaponLooks>,
    mut wardrobe: Wardrobe,
    mut commands: Commands,
) {
    for (entity, hitbox, bone) in &hitboxes {
        let root = parents.root_ancestor(entity);
        let Ok((player, is_target)) = figures.get(root) else { continue };
        if player.is_none() && !is_target {
            continue;
        }
        let is_skin = matches!(hitbox.zone, Zone::Head | Zone::Neck | Zone::Hand);
        let color = palette::player(player);
        let look = (wardrobe.mesh(hitbox.shape), wardrobe.body(if is_skin { color.lighter(SKIN) } else { color }));
        let offset = Transform::from_isometry(hitbox.offset);
        let mut commands = commands.entity(entity);
        commands.insert((Dressed, Visibility::default())).with_child((look, offset));
        if hitbox.zone == Zone::Head {
            let eyes = (wardrobe.mesh(Shape::Ball { radius: 1.0 }), wardrobe.body(palette::VISOR));
            commands.with_child((eyes, Transform::from_translation(EYES).with_scale(EYES_SIZE)));
        }
        if bone == Some(&RIGHT_HAND) && player.is_some() {
            let look = (weapons.mesh(Weapon::default()), MeshMaterial3d(weapons.material.clone()));
            commands.with_child((HeldWeapon { figure: root }, look, Transform::from_translation(GRIP)));
        }
    }
}

fn change_weapons(loadouts: Query<&Loadout>, looks: Res<WeaponLooks>, mut weapons: Query<(&HeldWeapon, &mut Mesh3d)>) {
    for (held, mut mesh) in &mut weapons {
        if let Ok(loadout) = loadouts.get(held.figure) {
            mesh.set_if_neq(looks.mesh(loadout.weapon));
        }
    }
}

/// The dead are not there, and nobody sees themselves from within.
pub fn hide_figures(
    mut figures: Query<(&Transform, &Health, Option<&Player>, Has<Controlled>, &mut Visibility)>,
    panels: Res<Panels>,
    mut puffs: MessageWriter<Puff>,
) {
    for (transform, health, player, is_own, mut visibility) in &mut figures {
        let is_seen = health.is_alive() && (!is_own || panels.why);
        if !health.is_alive() && !is_own && *visibility != Visibility::Hidden {
            let color = palette::player(player);
            puffs.write(Puff { place: transform.translation + Vec3::Y, radius: 0.9, color });
        }
        visibility.set_if_neq(if is_seen { Visibility::Inherited } else { Visibility::Hidden });
    }
}

#[cfg(test)]
mod tests {
    use bevy::{camera::primitives::MeshAabb, math::ops};
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
    fn eyes_hardly_stand_out() {
        let (_, head) = figure::bones().find(|(_, hitbox)| hitbox.zone == Zone::Head).unwrap();
        for step in 0..64 {
            let (sin, cos) = ops::sin_cos(step as f32 * 0.1);
            for edge in [Vec3::new(cos, 0.0, sin), Vec3::new(0.0, cos, sin), Vec3::new(cos, sin, 0.0)] {
                assert!((EYES + EYES_SIZE * edge).length() < head.shape.bounding_radius() + 0.005);
            }
        }
    }

    #[test]
    fn the_weapon_is_in_the_right_hand() {
        let (_, hitbox) = figure::bones().nth(usize::from(RIGHT_HAND.0)).unwrap();
        assert_eq!(hitbox.zone, Zone::Hand);
        assert!(figure::RULE.pose(&DisplayParameters::default(), RIGHT_HAND).translation.x > 0.0);
    }
}
