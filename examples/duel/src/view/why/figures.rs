//! The ghosts of the slow motion, as bodies: where the server tested them, and where they are.

use bevy::prelude::*;
use bevy_hindsight::{LagCompensationGizmos, Shape};

use super::{
    replay::SlowMotion,
    shots::{OwnShot, OwnShots},
};
use crate::view::{Panels, figures::Wardrobe, look::LookMaterial};

/// How much of them is seen.
const DENSITY: f32 = 0.45;
/// How much of the one that moves.
const MOVING_DENSITY: f32 = 0.75;
/// In how many steps its colour changes.
const STEPS: usize = 12;

/// The colours of ghosts.
#[derive(Resource)]
pub struct GhostLooks {
    live: Handle<LookMaterial>,
    rewound: Handle<LookMaterial>,
    /// From rewound to live.
    moving: [Handle<LookMaterial>; STEPS],
}

impl FromWorld for GhostLooks {
    fn from_world(world: &mut World) -> Self {
        let (_, style) = world.resource::<GizmoConfigStore>().config::<LagCompensationGizmos>();
        let [live, rewound] = [style.live, style.rewound].map(Option::unwrap_or_default);
        let mut materials = world.resource_mut::<Assets<LookMaterial>>();
        let mut add = |color: Color, density| materials.add(LookMaterial::ghost(color.with_alpha(density)));
        Self {
            live: add(live, DENSITY),
            rewound: add(rewound, DENSITY),
            moving: core::array::from_fn(|step| {
                add(rewound.mix(&live, step as f32 / (STEPS - 1) as f32), MOVING_DENSITY)
            }),
        }
    }
}

/// A part of a ghost.
#[derive(Component)]
pub struct Ghost;

/// A part of the one that moves.
#[derive(Component)]
pub struct MovingGhost {
    from: Isometry3d,
    to: Isometry3d,
}

/// Puts the ghosts of the chosen shot there, if it is looked at; and takes away those of another.
pub fn place(
    ghosts: Query<Entity, With<Ghost>>,
    shots: Res<OwnShots>,
    panels: Res<Panels>,
    looks: Res<GhostLooks>,
    mut wardrobe: Wardrobe,
    mut commands: Commands,
) {
    ghosts.iter().for_each(|ghost| commands.entity(ghost).despawn());
    let Some(shot) = shots.chosen().filter(|_| panels.why) else { return };
    let mut spawn = |shape: Shape, pose: Isometry3d, look: &Handle<LookMaterial>| {
        let look = (wardrobe.mesh(shape), MeshMaterial3d(look.clone()));
        commands.spawn((Ghost, look, Transform::from_isometry(pose))).id()
    };
    let mut moving = Vec::new();
    for (shape, pose, live) in tested(shot) {
        spawn(shape, pose, &looks.rewound);
        if let Some(live) = live {
            spawn(shape, live, &looks.live);
            moving.push((spawn(shape, pose, &looks.moving[0]), MovingGhost { from: pose, to: live }));
        }
    }
    commands.try_insert_batch(moving);
}

/// All that was tested, and where it is now.
fn tested(shot: &OwnShot) -> impl Iterator<Item = (Shape, Isometry3d, Option<Isometry3d>)> {
    let hitboxes = shot.traced.hitboxes.iter().map(|hitbox| (hitbox.shape, hitbox.pose, hitbox.live));
    let occluders = shot.traced.occluders.iter().map(|occluder| (occluder.shape, occluder.pose, occluder.live));
    hitboxes.chain(occluders)
}

/// Moves the one that moves.
pub fn animate(
    mut parts: Query<(&MovingGhost, &mut Transform, &mut MeshMaterial3d<LookMaterial>, &mut Visibility)>,
    slow: Res<SlowMotion>,
    looks: Res<GhostLooks>,
) {
    let moment = slow.moment();
    let look = &looks.moving[(moment.victim * (STEPS - 1) as f32) as usize];
    for (part, mut transform, mut material, mut visibility) in &mut parts {
        visibility.set_if_neq(if moment.bullet < 1.0 { Visibility::Hidden } else { Visibility::Inherited });
        transform.translation = part.from.translation.lerp(part.to.translation, moment.victim).into();
        transform.rotation = part.from.rotation.slerp(part.to.rotation, moment.victim);
        if material.0 != *look {
            material.0 = look.clone();
        }
    }
}
