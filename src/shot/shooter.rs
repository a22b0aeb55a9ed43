//! Who may shoot, and from where.

use core::time::Duration;

use bevy::{
    ecs::{entity::Entities, system::SystemParam},
    prelude::*,
};

use super::{Muzzle, RejectReason, ShotEvent};
use crate::{
    config::LagCompensationConfig,
    history::{Hierarchy, HistoryBuffer},
    hitbox::{Life, LifeNumber},
    policy::DeadShooters,
    time::{Tick, ViewTime},
};

/// This shooter cannot shoot: a spectator, a player in a cutscene. Their shots are refused as [`RejectReason::CeaseFire`].
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct CeaseFire;

/// All shooters, with what decides whether they may shoot.
#[derive(SystemParam)]
pub(crate) struct Shooters<'w, 's> {
    entities: &'w Entities,
    ceased: Query<'w, 's, (), With<CeaseFire>>,
    lives: Query<'w, 's, &'static Life>,
    histories: Query<'w, 's, &'static HistoryBuffer>,
    muzzles: Query<'w, 's, &'static Muzzle>,
    hierarchy: Hierarchy<'w, 's>,
}

/// Where a shot begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) point: Vec3,
    /// The shooter's own muzzle, if the game says where that is: nothing may stand between the two.
    pub(crate) muzzle: Option<Vec3>,
}

impl Shooters<'_, '_> {
    /// Checks all that has to do with the shooter, for a shot with this direction of unit length.
    pub(super) fn check(
        &self,
        shot: &ShotEvent,
        direction: Vec3,
        config: &LagCompensationConfig,
        timestep: Duration,
    ) -> Result<Origin, RejectReason> {
        let (shooter, tick) = (shot.shooter, shot.command_tick);
        if config.cease_fire || self.ceased.contains(shooter) {
            return Err(RejectReason::CeaseFire);
        }
        if self.is_too_young(shooter, tick) {
            return Err(RejectReason::ShooterUnknown);
        }
        if self.is_dead(shooter, tick, config.dead_shooters) {
            return Err(RejectReason::ShooterDead);
        }
        let mut origin = Origin { point: shot.origin, muzzle: None };
        if let Ok(muzzle) = self.muzzles.get(shooter) {
            let own = self.stood(shooter, tick) * muzzle.offset;
            origin.point = muzzle.check(own, shot.origin, direction, tick, timestep)?;
            origin.muzzle = Some(own);
        }
        Ok(origin)
    }

    /// Whether an attack that began in this life of the shooter may go on in a later tick.
    pub(crate) fn may_go_on(
        &self,
        shooter: Entity,
        life: Option<LifeNumber>,
        tick: Tick,
        config: &LagCompensationConfig,
    ) -> bool {
        let is_kept = config.cease_fire || self.ceased.contains(shooter);
        let is_dead = || self.is_dead(shooter, tick, config.dead_shooters);
        self.exists(shooter) && !is_kept && self.life(shooter, tick) == life && !is_dead()
    }

    /// In which of their lives the shooter was in a tick, if they have any; in which they are now if that is not known.
    pub(crate) fn life(&self, shooter: Entity, tick: Tick) -> Option<LifeNumber> {
        let history = self.histories.get(shooter).ok();
        let then = history.and_then(|history| history.sample(ViewTime::at(tick))).map(|then| then.life());
        then.or_else(|| self.lives.get(shooter).ok().map(Life::number))
    }

    pub(super) fn exists(&self, shooter: Entity) -> bool {
        self.entities.contains_spawned(shooter)
    }

    /// Whether the shooter was not there yet at the command tick, but for the one before its first record, in which it may have
    /// been spawned.
    fn is_too_young(&self, shooter: Entity, command_tick: Tick) -> bool {
        let oldest =
            self.histories.get(shooter).ok().filter(|history| !history.is_full()).and_then(HistoryBuffer::oldest);
        oldest.is_some_and(|oldest| oldest.since(command_tick) > 1)
    }

    fn is_dead(&self, shooter: Entity, command_tick: Tick, rule: DeadShooters) -> bool {
        let is_dead_now = || self.lives.get(shooter).is_ok_and(|life| !life.is_alive());
        match rule {
            DeadShooters::MayShoot => false,
            DeadShooters::WhenJudged => is_dead_now(),
            DeadShooters::ByCommandTick => {
                let history = self.histories.get(shooter).ok();
                let then = history.and_then(|history| history.sample(ViewTime::at(command_tick)));
                then.map_or_else(is_dead_now, |then| !then.is_alive())
            }
        }
    }

    /// Where the shooter stood at the command tick; where they stand now if that is not known.
    pub(crate) fn stood(&self, shooter: Entity, command_tick: Tick) -> Isometry3d {
        let history = self.histories.get(shooter).ok();
        let then = history.and_then(|history| history.sample(ViewTime::at(command_tick)));
        then.map_or_else(|| crate::pose::of(&self.hierarchy.in_world(shooter).to_transform()), |then| then.root())
    }
}
