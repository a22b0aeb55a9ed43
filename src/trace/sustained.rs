//! Swings and beams: shots that go on for some ticks.

use bevy::prelude::*;

use super::{
    filter::RewoundFilter,
    query::RewoundQuery,
    screen::Screen,
    swing::{self, Blow},
};
use crate::{
    hitbox::LifeNumber,
    shot::{AdmittedShot, Aim, Evidence, HitBy, RejectReason, ReleaseTrigger, Shooters, Verdicts},
    time::{Tick, ViewTime},
    weapon::{Beam, Swing},
};

/// The swings and beams that have not ended, in the order of their admission.
#[derive(Resource, Default)]
pub(crate) struct SustainedAttacks {
    attacks: Vec<Sustained>,
    begun: u64,
    /// Whom each swing has met.
    met: Vec<(u64, Entity, LifeNumber)>,
    blow: swing::Scratch,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Swing(Swing),
    Beam(Beam),
}

struct Sustained {
    number: u64,
    shot: AdmittedShot,
    kind: Kind,
    /// Where the shooter's entity stood at the command tick.
    stood: Isometry3d,
    /// The life in which the shooter began.
    life: Option<LifeNumber>,
    /// The next of its ticks.
    next: u32,
    released: bool,
    has_met: bool,
    was_blocked: bool,
}

/// One tick of an attack.
struct Moment {
    screen_time: ViewTime,
    ray: Ray3d,
}

impl SustainedAttacks {
    /// Begins an attack with its first tick in this one.
    pub(super) fn begin(&mut self, shot: AdmittedShot, kind: Kind, shooters: &Shooters) {
        self.attacks.push(Sustained {
            number: self.begun,
            shot,
            kind,
            stood: shooters.stood(shot.shooter, shot.evidence.command_tick),
            life: shooters.life(shot.shooter),
            next: 0,
            released: false,
            has_met: false,
            was_blocked: false,
        });
        self.begun += 1;
    }
}

/// Ends the beams of a shooter.
pub(crate) fn release_trigger(release: On<ReleaseTrigger>, mut sustained: ResMut<SustainedAttacks>) {
    for attack in sustained.attacks.iter_mut().filter(|attack| attack.shot.shooter == release.entity) {
        attack.released = matches!(attack.kind, Kind::Beam(_));
    }
}

/// Goes on with all swings and beams, up to this tick.
pub(crate) fn continue_attacks(
    query: RewoundQuery,
    shooters: Shooters,
    aims: Query<&Aim>,
    mut sustained: ResMut<SustainedAttacks>,
    mut verdicts: ResMut<Verdicts>,
) {
    let now = query.tick.0;
    let SustainedAttacks { attacks, met, blow, .. } = &mut *sustained;
    attacks.retain_mut(|attack| {
        let shot = attack.shot;
        let mut goes_on = true;
        while attack.next < attack.ticks() && now.since(attack.now()) >= 0 {
            let is_first = attack.next == 0;
            let may_go_on = || shooters.may_go_on(shot.shooter, attack.life, attack.now(), &query.config);
            goes_on = is_first || (!attack.released && may_go_on());
            if !goes_on {
                break;
            }
            let Moment { screen_time, ray } = attack.moment(&shooters, aims.get(shot.shooter).ok(), now);
            // What the shot says of its screen is of its first tick.
            let displayed = shot.displayed.filter(|_| is_first);
            let screen = Screen::new(screen_time, displayed, &query.arena.sent);
            let filter = RewoundFilter::new().fired_by(shot.shooter).targets(shot.targets);
            let (origin, direction) = (ray.origin, *ray.direction);
            let evidence = Evidence { view_time: screen_time, origin, direction, ..shot.evidence };
            match attack.kind {
                Kind::Swing(swing) => {
                    let known = |rig, life| met.contains(&(attack.number, rig, life));
                    let Blow { rigs, blocked } = swing::strike(&query, &screen, ray, swing, &filter, known, blow);
                    attack.was_blocked |= blocked;
                    for hit in blow.hits() {
                        met.push((attack.number, hit.rig, hit.life));
                        let evidence = Evidence { range: swing.reach(), rigs, hit: Some(*hit), ..evidence };
                        verdicts.confirm(shot.confirmed(attack.next, HitBy::Swing, *hit, evidence));
                        attack.has_met = true;
                    }
                }
                Kind::Beam(_) => {
                    let cast = query.cast_ray_on(&screen, ray, evidence.range, &filter);
                    let evidence =
                        Evidence { rigs: cast.evidence.rigs, hit: cast.hit, blocker: cast.blocker, ..evidence };
                    if let Some(hit) = cast.victim() {
                        verdicts.confirm(shot.confirmed(attack.next, HitBy::Beam, hit, evidence));
                        attack.has_met = true;
                    } else {
                        attack.was_blocked |= cast.is_blocked();
                        let blocked = cast.is_blocked();
                        let reason = if blocked { RejectReason::Blocked } else { RejectReason::Missed };
                        verdicts.reject(shot.rejected(attack.next, reason, evidence));
                    }
                }
            }
            attack.next += 1;
        }
        let has_ended = !goes_on || attack.next >= attack.ticks();
        if has_ended {
            attack.end(&mut verdicts);
            met.retain(|(number, ..)| *number != attack.number);
        }
        !has_ended
    });
}

impl Sustained {
    fn ticks(&self) -> u32 {
        match self.kind {
            Kind::Swing(Swing { ticks, .. }) | Kind::Beam(Beam { ticks }) => ticks.max(1),
        }
    }

    /// The tick of the shooter's that is to be looked at next.
    fn now(&self) -> Tick {
        self.shot.evidence.command_tick + self.next
    }

    /// Where the attack begins in its next tick, and what the screen then showed.
    fn moment(&self, shooters: &Shooters, aim: Option<&Aim>, now: Tick) -> Moment {
        let Evidence { view_time, .. } = self.shot.evidence;
        let later = ViewTime { tick: view_time.tick + self.next, ..view_time };
        let screen_time = if later.is_after(now) { ViewTime::at(now) } else { later };
        if self.next == 0 {
            return Moment { screen_time, ray: self.shot.ray };
        }
        let moved = shooters.stood(self.shot.shooter, self.now()) * self.stood.inverse();
        let Ray3d { origin, direction } = self.shot.ray;
        let turned = Dir3::new(moved.rotation * *direction).unwrap_or(direction);
        let aim = aim.filter(|_| matches!(self.kind, Kind::Beam(_)));
        let direction = aim.map_or(turned, |aim| aim.0);
        Moment { screen_time, ray: Ray3d::new(moved * origin, direction) }
    }

    /// Answers a swing that has met nobody. Each tick of a beam has had its answer.
    fn end(&self, verdicts: &mut Verdicts) {
        let reason = if self.was_blocked { RejectReason::Blocked } else { RejectReason::Missed };
        if let (Kind::Swing(swing), false) = (self.kind, self.has_met) {
            let evidence = Evidence { range: swing.reach(), ..self.shot.evidence };
            verdicts.reject(self.shot.rejected(0, reason, evidence));
        }
        verdicts.count(&self.shot.evidence, (!self.has_met).then_some(reason));
    }
}
