//! A projectile on its way.

use bevy::prelude::*;

use super::{AdmittedShot, Evidence, RejectReason, ShotId, Verdicts};
use crate::{
    time::{CurrentTick, Tick, ViewTime},
    weapon::Projectile,
};

/// A projectile of the server's, which the plugin spawns when a shot with [`Attack::Projectile`](crate::Attack::Projectile) is
/// admitted, flies, and despawns.
///
/// # How it flies
///
/// It leaves the muzzle at the instant that the shooter's screen showed, and then flies through the past: its step k, one tick
/// long, meets rigs and occluders where they stood at the view time + k. So it comes to the present, in the tick of its shot, as far
/// from the muzzle as its shooter sees it. The last of these steps is as long as what is left of a tick. From then on it is
/// [live](Self::is_live): in each tick it flies one tick on, and meets what is there.
///
/// A projectile that the game despawns before its end has missed.
///
/// The game is told by [`ProjectileLaunched`], to insert what else it needs (a mesh, lightyear's `Replicate` and `PreSpawned`), and by
/// [`ProjectileEnded`]; the verdict comes at the end of its flight. Its `Transform` follows in each tick.
#[derive(Component, Clone, Copy, Debug)]
pub struct CompensatedProjectile {
    pub(crate) shot: AdmittedShot,
    pub(crate) projectile: Projectile,
    pub(crate) place: Vec3,
    pub(crate) velocity: Vec3,
    /// The instant that it has come to.
    pub(crate) view: ViewTime,
    /// The tick in which it was launched: until then it catches up.
    pub(crate) launched: Tick,
    /// In ticks.
    pub(crate) flown: f64,
    pub(crate) bounces_left: u32,
    /// Projectiles fly in the order in which they were launched.
    pub(crate) order: u64,
    pub(crate) has_ended: bool,
}

/// A projectile has been spawned, and has not flown yet.
///
/// Written as a message and triggered on the projectile.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_hindsight::ProjectileLaunched;
///
/// fn dress(launched: On<ProjectileLaunched>, mut commands: Commands) {
///     commands.entity(launched.projectile).insert(Name::new("rocket"));
/// }
/// # App::new().add_observer(dress);
/// ```
#[derive(Message, EntityEvent, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct ProjectileLaunched {
    /// The projectile, with its [`CompensatedProjectile`].
    #[event_target]
    pub projectile: Entity,
    /// Who shot.
    pub shooter: Entity,
    /// Which shot it is.
    pub shot: ShotId,
    /// The connection that the shot came over.
    pub link: Option<Entity>,
}

/// A projectile has come to its end, and is despawned after this.
///
/// Written as a message and triggered on the projectile.
#[derive(Message, EntityEvent, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct ProjectileEnded {
    /// The projectile.
    #[event_target]
    pub projectile: Entity,
    /// Who shot.
    pub shooter: Entity,
    /// Which shot it was.
    pub shot: ShotId,
    /// Where it ended, in the world.
    pub place: Vec3,
    /// The outward normal of what it met; `None` if its time was over.
    pub normal: Option<Dir3>,
    /// How long it flew, in ticks.
    pub flown: f64,
}

impl CompensatedProjectile {
    /// The projectile of an admitted shot, at its muzzle.
    pub(crate) fn launch(shot: AdmittedShot, projectile: Projectile, view: ViewTime, now: Tick, order: u64) -> Self {
        Self {
            shot,
            projectile,
            place: shot.ray.origin,
            velocity: shot.ray.direction * projectile.speed,
            view,
            launched: now,
            flown: 0.0,
            bounces_left: projectile.bounces,
            order,
            has_ended: false,
        }
    }

    /// Who shot it.
    pub fn shooter(&self) -> Entity {
        self.shot.shooter
    }

    /// Which shot it is.
    pub fn shot(&self) -> ShotId {
        self.shot.id
    }

    /// Where it is, in the world.
    pub fn place(&self) -> Vec3 {
        self.place
    }

    /// How fast it flies and where to, in metres per second.
    pub fn velocity(&self) -> Vec3 {
        self.velocity
    }

    /// How long it has flown, in ticks.
    pub fn flown(&self) -> f64 {
        self.flown
    }

    /// The instant that it has come to on its way through the past.
    pub fn view_time(&self) -> ViewTime {
        self.view
    }

    /// Whether it has come to the present.
    pub fn is_live(&self) -> bool {
        !self.view.is_before(ViewTime::at(self.launched))
    }
}

/// Answers for a projectile that the game has despawned.
pub(crate) fn answer_for_despawned(
    removed: On<Remove, CompensatedProjectile>,
    projectiles: Query<&CompensatedProjectile>,
    tick: Res<CurrentTick>,
    mut verdicts: ResMut<Verdicts>,
) {
    if let Ok(CompensatedProjectile { shot, has_ended: false, .. }) = projectiles.get(removed.entity) {
        let evidence = Evidence { judged_at: tick.0, ..shot.evidence };
        verdicts.reject(shot.rejected(0, RejectReason::Missed, evidence));
        verdicts.count(&shot.evidence, Some(RejectReason::Missed));
    }
}
