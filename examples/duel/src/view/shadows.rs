//! A dark spot under each figure: without it, nobody sees how far away they stand.

use bevy::{camera::visibility::VisibilitySystems, prelude::*};

use super::{figures, look::LookMaterial};
use crate::{game::arena::Arena, net::protocol::Health};

/// How wide it is, in metres, and how dark.
const RADIUS: f32 = 0.42;
const DARKNESS: f32 = 0.32;
/// Above the ground, in metres.
const GAP: f32 = 0.015;
/// From how high up a figure has none, in metres.
const HIGHEST: f32 = 4.0;

#[derive(Resource)]
struct ShadowLook(Mesh3d, MeshMaterial3d<LookMaterial>);

impl FromWorld for ShadowLook {
    fn from_world(world: &mut World) -> Self {
        let disc = Circle::new(RADIUS)
            .mesh()
            .resolution(24)
            .build()
            .rotated_by(Quat::from_rotation_x(-core::f32::consts::FRAC_PI_2));
        let mesh = Mesh3d(world.resource_mut::<Assets<Mesh>>().add(disc));
        let dark = LookMaterial::ghost(Color::BLACK.with_alpha(DARKNESS));
        Self(mesh, MeshMaterial3d(world.resource_mut::<Assets<LookMaterial>>().add(dark)))
    }
}

/// The shadow of the figure that it is a child of.
#[derive(Component)]
struct Shadow;

/// A figure that has a shadow.
#[derive(Component)]
struct CastsShadow;

/// The plugin of shadows.
pub fn plugin(app: &mut App) {
    app.init_resource::<ShadowLook>()
        .add_systems(Update, cast)
        .add_systems(PostUpdate, lay.after(figures::hide_figures).before(VisibilitySystems::VisibilityPropagate));
}

fn cast(
    figures: Query<Entity, (With<Health>, With<Transform>, With<Visibility>, Without<CastsShadow>)>,
    look: Res<ShadowLook>,
    mut commands: Commands,
) {
    for figure in &figures {
        let shadow = (Shadow, look.0.clone(), look.1.clone(), Transform::default());
        commands.entity(figure).insert(CastsShadow).with_child(shadow);
    }
}

fn lay(
    mut shadows: Query<(&ChildOf, &mut Transform), With<Shadow>>,
    figures: Query<&Transform, Without<Shadow>>,
    arena: Res<Arena>,
) {
    for (figure, mut shadow) in &mut shadows {
        let Ok(feet) = figures.get(figure.parent()) else { continue };
        let place = feet.translation + Vec3::Y * GAP;
        let ground =
            arena.blocks.iter().filter_map(|block| block.solid.ground_below(place, 0.01)).fold(f32::MIN, f32::max);
        let height = (feet.translation.y - ground).clamp(0.0, HIGHEST);
        shadow.translation.y = GAP - height;
        shadow.scale = Vec3::splat(1.0 - height / HIGHEST);
    }
}
