//! The weapon in one's own hands.

use bevy::{ecs::system::SystemParam, prelude::*};
use lightyear::prelude::Controlled;

use super::{
    Panels,
    camera::{CameraSystems, ViewCamera},
    weapons::{WeaponLooks, muzzle},
};
use crate::{
    game::{controls::Controls, weapon::Weapon},
    net::{
        client::{ShotFired, magazines::Magazines},
        protocol::{Health, Loadout, Player},
    },
};

/// Where its middle is, seen from the eye.
const HIP: Vec3 = Vec3::new(0.17, -0.19, -0.50);
/// How far a shot pushes it back, in metres.
const KICK: f32 = 0.07;
/// How fast it comes back, in parts per second.
const RECOVERY: f32 = 12.0;
/// How far it sinks while its magazine is changed, or the weapon itself.
const SINK: f32 = 0.16;

/// The weapon that the person sees.
#[derive(Component, Default)]
pub struct Viewmodel {
    /// What is left of the last kick.
    kick: f32,
    /// 0 in sight, 1 away.
    sunk: f32,
}

/// Where bullets seem to come from.
#[derive(SystemParam)]
pub struct Muzzle<'w, 's> {
    camera: Single<'w, 's, &'static Transform, (With<ViewCamera>, Without<Viewmodel>)>,
    weapon: Single<'w, 's, (&'static Transform, &'static Visibility), With<Viewmodel>>,
}

impl Muzzle<'_, '_> {
    /// The end of the barrel in this frame, if it is in sight.
    pub fn place(&self, weapon: Weapon) -> Option<Vec3> {
        let (place, visibility) = *self.weapon;
        (*visibility != Visibility::Hidden).then(|| self.camera.transform_point(place.transform_point(muzzle(weapon))))
    }
}

/// The plugin of the weapon.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn).add_systems(Update, (kick, carry).chain().after(CameraSystems));
}

fn spawn(camera: Single<Entity, With<ViewCamera>>, looks: Res<WeaponLooks>, mut commands: Commands) {
    commands.entity(*camera).with_child((
        Viewmodel::default(),
        looks.mesh(Weapon::default()),
        MeshMaterial3d(looks.material.clone()),
        Transform::from_translation(HIP),
    ));
}

fn kick(mut fired: MessageReader<ShotFired>, mut weapon: Single<&mut Viewmodel>) {
    if fired.read().count() > 0 {
        weapon.kick = 1.0;
    }
}

/// Holds it in front of the eyes.
pub fn carry(
    weapon: Single<(&mut Viewmodel, &mut Transform, &mut Mesh3d, &mut Visibility)>,
    own: Query<(&Loadout, &Health), (With<Player>, With<Controlled>)>,
    controls: Res<Controls>,
    magazines: Res<Magazines>,
    looks: Res<WeaponLooks>,
    panels: Res<Panels>,
    time: Res<Time>,
) {
    let (mut weapon, mut transform, mut mesh, mut visibility) = weapon.into_inner();
    let own = own.single().ok().filter(|(_, health)| health.is_alive() && !panels.why);
    let Some((loadout, _)) = own else {
        visibility.set_if_neq(Visibility::Hidden);
        return;
    };
    visibility.set_if_neq(Visibility::Inherited);
    let share = (time.delta_secs() * RECOVERY).min(1.0);
    weapon.kick -= weapon.kick * share;
    let away = magazines.is_reloading(controls.weapon) || loadout.weapon != controls.weapon;
    weapon.sunk += (f32::from(away) - weapon.sunk) * share;
    let place = HIP + Vec3::Z * KICK * weapon.kick - Vec3::Y * SINK * weapon.sunk;
    let turn = Quat::from_rotation_x(0.12 * weapon.kick - 0.6 * weapon.sunk);
    *transform = Transform::from_translation(place).with_rotation(turn);
    mesh.set_if_neq(looks.mesh(loadout.weapon));
}
