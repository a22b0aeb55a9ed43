//! How the own shots are fired, and what the screen says of each of them.

use bevy::prelude::*;
use bevy_hindsight::{
    RewoundCast, RewoundFilter, RewoundHit, ShotId, Tick,
    lightyear::{Displayed, FireShots, PredictShots, ShotClientSystems, VerdictReceived, prespawn_hash},
};
use lightyear::prelude::{Controlled, LocalId, LocalTimeline, MessageReceiver, client::Client, is_in_rollback};

use super::{eye::Eye, magazines::Magazines, opponents::Opponents, rockets::Fired, shot_log::ShotLog};
use crate::{
    game::{
        bot::Bot,
        controls::{Controls, Pilot},
        weapon::Weapon,
    },
    net::protocol::{Health, Player, RocketFlight, UncompensatedVerdict},
};

/// This client has fired. What it shows need not wait for the server.
#[derive(Message, Clone, Debug)]
pub struct ShotFired {
    /// Which shot.
    pub shot: ShotId,
    /// With what.
    pub weapon: Weapon,
    /// From where.
    pub origin: Vec3,
    /// Where each bullet or pellet ends on the screen; none of a rocket or a blow.
    pub traces: Vec<Trace>,
}

/// The way of a bullet on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    /// Where it ends.
    pub end: Vec3,
    /// Whom it has hit there.
    pub hit: Option<RewoundHit>,
}

/// The plugin of shooting.
pub fn plugin(app: &mut App) {
    app.add_message::<ShotFired>()
        .add_systems(FixedUpdate, fire.before(super::pilot::move_own_character).run_if(not(is_in_rollback)))
        .add_systems(PreUpdate, note_verdicts.after(ShotClientSystems::ReceiveVerdicts));
}

/// Shoots at what the screen shows, and notes whether somebody was hit there.
///
/// In the fixed steps of a frame, interpolated entities still stand as the last frame has shown them.
fn fire(
    mut shots: FireShots<Weapon>,
    mut predictions: PredictShots,
    controls: Res<Controls>,
    mut bot: ResMut<Bot>,
    mut magazines: ResMut<Magazines>,
    mut log: ResMut<ShotLog>,
    mut rockets: ResMut<Fired>,
    eye: Res<Eye>,
    own: Query<(Entity, &Health), (With<Player>, With<Controlled>)>,
    opponents: Opponents,
    displayed: Res<Displayed>,
    local: Res<LocalTimeline>,
    client: Query<&LocalId, With<Client>>,
    mut fired: MessageWriter<ShotFired>,
) {
    let (weapon, tick) = (controls.weapon, Tick(local.tick().0));
    let Ok((me, health)) = own.single() else { return };
    if !controls.trigger || !health.is_alive() || !magazines.may_fire(weapon) {
        return;
    }
    let aim = controls.input().direction();
    let aim = if controls.pilot == Pilot::Bot { bot.shake(aim) } else { aim };
    let (ray, range) = (Ray3d::new(eye.place, aim), weapon.range());
    let shot = match shots.fire(ray, range, weapon) {
        Ok(shot) => shot,
        Err(error) => {
            debug!("no shot: {error}");
            return;
        }
    };
    magazines.fire(weapon);
    let filter = RewoundFilter::new().fired_by(me);
    let mut traces = Vec::new();
    let mut trace = |direction: Dir3, met: RewoundCast| {
        let hit = met.victim();
        let length = hit.map(|hit| hit.distance).or(met.blocker.map(|wall| wall.distance)).unwrap_or(range);
        traces.push(Trace { end: ray.origin + direction * length, hit });
    };
    match weapon {
        Weapon::Rifle => {
            log.fired(shot.sequence, 0, opponents.is_hit(ray, range));
            trace(aim, predictions.predict(shot, ray, range, &filter));
        }
        Weapon::Shotgun => {
            if let Some(pattern) = weapon.pellets() {
                let directions: Vec<Dir3> = pattern.seeded(shot.sequence).directions(aim).collect();
                for (part, direction) in (0..).zip(&directions) {
                    log.fired(shot.sequence, part, opponents.is_hit(Ray3d::new(ray.origin, *direction), range));
                }
                let met = predictions.predict_pellets(shot, ray, range, pattern, &filter);
                for (direction, met) in directions.into_iter().zip(met) {
                    trace(direction, met);
                }
            }
        }
        Weapon::Rocket => {
            let (Some(view), Some(rocket), Ok(peer)) = (displayed.view_time(), weapon.projectile(), client.single())
            else {
                return;
            };
            let flight = RocketFlight {
                muzzle: ray.origin,
                velocity: ray.direction * rocket.speed,
                left_at: rocket.leaves_at(view, tick),
            };
            rockets.note(tick, prespawn_hash(peer.0, shot), flight);
        }
        Weapon::Blade => {}
    }
    fired.write(ShotFired { shot, weapon, origin: ray.origin, traces });
}

fn note_verdicts(
    mut verdicts: MessageReader<VerdictReceived>,
    mut uncompensated: Query<&mut MessageReceiver<UncompensatedVerdict>, With<Client>>,
    mut log: ResMut<ShotLog>,
) {
    for verdict in verdicts.read() {
        log.judged(verdict.shot.sequence, verdict.part, &verdict.outcome);
    }
    for mut link in &mut uncompensated {
        for UncompensatedVerdict { sequence, part, confirmed } in link.receive() {
            log.judged_uncompensated(sequence, part, confirmed);
        }
    }
}
