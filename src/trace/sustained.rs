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
    shot::{AdmittedShot, Aim, Blocker, Evidence, HitBy, RejectReason, ReleaseTrigger, RewoundHit, Shooters, Verdicts},
    time::{CurrentTick, Tick, ViewTime},
    weapon::{Beam, Swing},
};

/// The swings and beams that have not ended, in the order of their admission.
#[derive(Resource, Default)]
pub(crate) struct SustainedAttacks {
    attacks: Vec<Sustained>,
    begun: u64,
    /// Whom each swing has met.
    met: Vec<(u64, Entity, LifeNumber)>,
    /// Who has released their trigger, and the first tick in which their beams burn no more: for beams that come late, as long as
    /// they may.
    releases: Vec<(Entity, Tick)>,
    /// The last tick up to which all attacks went on.
    done: Option<Tick>,
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
    has_met: bool,
    was_blocked: bool,
    /// What a swing that meets nobody is answered with: the first of its ticks in which a wall protected someone, or else its first
    /// one.
    missed: (u32, Evidence),
}

/// One tick of an attack.
struct Moment {
    screen_time: ViewTime,
    ray: Ray3d,
}

impl SustainedAttacks {
    /// Begins an attack with its first tick in this one.
    pub(super) fn begin(&mut self, shot: AdmittedShot, kind: Kind, shooters: &Shooters) {
        let command_tick = shot.evidence.command_tick;
        self.attacks.push(Sustained {
            number: self.begun,
            shot,
            kind,
            stood: shooters.stood(shot.shooter, command_tick),
            life: shooters.life(shot.shooter, command_tick),
            next: 0,
            has_met: false,
            was_blocked: false,
            missed: (0, shot.evidence),
        });
        self.begun += 1;
    }
}

/// Ends the beams of a shooter.
pub(crate) fn release_trigger(
    release: On<ReleaseTrigger>,
    mut sustained: ResMut<SustainedAttacks>,
    tick: Res<CurrentTick>,
) {
    // What was judged in this tick already has burnt.
    let is_over = sustained.done == Some(tick.0);
    let released = (release.entity, if is_over { tick.0 + 1 } else { tick.0 });
    if !sustained.releases.contains(&released) {
        sustained.releases.push(released);
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
    let window = query.config.history_ticks(query.time.timestep()) as i32;
    let SustainedAttacks { attacks, met, blow, releases, done, .. } = &mut *sustained;
    *done = Some(now);
    // A shot may be as late as history reaches; what lies ahead is of a clock that was set back.
    releases.retain(|(_, tick)| (0..=window).contains(&now.since(*tick)));
    attacks.retain_mut(|attack| {
        let shot = attack.shot;
        // No tick of its waits for a clock that was set back.
        let mut goes_on = attack.now().since(now) <= 0;
        while goes_on && attack.next < attack.ticks() && now.since(attack.now()) >= 0 {
            let is_first = attack.next == 0;
            let may_go_on = || shooters.may_go_on(shot.shooter, attack.life, attack.now(), &query.config);
            goes_on = is_first || (!attack.is_released(releases) && may_go_on());
            if !goes_on {
                break;
            }
            let Moment { screen_time, ray } = attack.moment(&shooters, aims.get(shot.shooter).ok(), now);
            // What the shot says of its screen is of its first tick.
            let displayed = shot.displayed.filter(|_| is_first);
            let screen = Screen::new(screen_time, displayed, &query.arena.sent);
            let filter = RewoundFilter::new().fired_by(shot.shooter).targets(shot.targets);
            let (origin, direction) = (ray.origin, *ray.direction);
            let evidence = Evidence { judged_at: now, view_time: screen_time, origin, direction, ..shot.evidence };
            match attack.kind {
                Kind::Swing(swing) => {
                    let known = |rig, life| met.contains(&(attack.number, rig, life));
                    let Blow { rigs, stopped } = swing::strike(&query, &screen, ray, swing, &filter, known, blow);
                    let evidence = Evidence { range: swing.reach(), rigs, ..evidence };
                    for hit in blow.hits() {
                        met.push((attack.number, hit.rig, hit.life));
                        let evidence = Evidence { hit: Some(*hit), ..evidence };
                        verdicts.confirm(shot.confirmed(attack.next, HitBy::Swing, *hit, evidence));
                        attack.has_met = true;
                    }
                    attack.remember(stopped, evidence);
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
            attack.end(now, &mut verdicts);
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
        let stands = shooters.stood(self.shot.shooter, self.now());
        let turn = stands.rotation * self.stood.rotation.inverse();
        let Ray3d { origin, direction } = self.shot.ray;
        // Far from the origin of the world, differences keep the digits that places lose.
        let arm = origin - Vec3::from(self.stood.translation);
        let origin = Vec3::from(stands.translation) + turn * arm;
        let turned = Dir3::new(turn * *direction).unwrap_or(direction);
        let aim = aim.filter(|_| matches!(self.kind, Kind::Beam(_)));
        let direction = aim.map_or(turned, |aim| aim.0);
        Moment { screen_time, ray: Ray3d::new(origin, direction) }
    }

    /// Whether the shooter released the trigger after this beam began, and before its next tick.
    fn is_released(&self, releases: &[(Entity, Tick)]) -> bool {
        let ends = |(shooter, tick): &(Entity, Tick)| {
            let is_later = tick.since(self.shot.evidence.command_tick) > 0;
            *shooter == self.shot.shooter && is_later && self.now().since(*tick) >= 0
        };
        matches!(self.kind, Kind::Beam(_)) && releases.iter().any(ends)
    }

    /// Keeps what a tick of a swing tells, for the case that it meets nobody.
    fn remember(&mut self, stopped: Option<(RewoundHit, Blocker)>, evidence: Evidence) {
        if let (Some((hit, wall)), false) = (stopped, self.was_blocked) {
            self.missed = (self.next, Evidence { hit: Some(hit), blocker: Some(wall), ..evidence });
            self.was_blocked = true;
        } else if self.next == 0 {
            self.missed = (0, evidence);
        }
    }

    /// Answers a swing that has met nobody. Each tick of a beam has had its answer.
    fn end(&self, now: Tick, verdicts: &mut Verdicts) {
        let reason = if self.was_blocked { RejectReason::Blocked } else { RejectReason::Missed };
        if let (Kind::Swing(_), false) = (self.kind, self.has_met) {
            let (part, evidence) = self.missed;
            verdicts.reject(self.shot.rejected(part, reason, Evidence { judged_at: now, ..evidence }));
        }
        verdicts.count(&self.shot.evidence, (!self.has_met).then_some(reason));
    }
}
