//! What the server's verdict leaves of a prediction.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::prelude::client::{Client, Connected};

use super::{
    ShotOutcome, VerdictReceived,
    predict::{OpenPredictions, PredictedShot},
};
use crate::{
    hitbox::Zone,
    shot::{HitBy, RejectReason, RewoundHit},
};

/// A prediction has come to its end: exactly one for each shot, or pellet, of [`PredictShots`](super::PredictShots).
///
/// Written in [`ShotClientSystems::SettlePredictions`](super::ShotClientSystems::SettlePredictions). Of a pellet that went
/// through several rigs, the nearest one whose verdict has come in this frame settles it. A refusal of the whole shot settles
/// all its pellets.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct PredictionSettled {
    /// What was shown.
    pub predicted: PredictedShot,
    /// What is left of it.
    pub settlement: Settlement,
}

/// What is left of a prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Settlement {
    /// All of it: the server says that the same rig was hit in the same zone; or, as predicted, none.
    Confirmed,
    /// Nothing was hit, or the shot was refused: undo the blood, and keep the tracer.
    Denied(RejectReason),
    /// Another rig was hit, or another zone; or one where none was predicted.
    #[non_exhaustive]
    Corrected {
        /// The rig that was hit; `None` if this world has no such entity (any more).
        target: Option<Entity>,
        /// How it was met.
        by: HitBy,
        /// Which part of the body.
        zone: Zone,
        /// Where, in the world.
        point: Vec3,
        /// The outward normal there.
        normal: Vec3,
    },
    /// No verdict has come in time, or the connection has ended. One that comes later is not told again.
    TimedOut,
}

impl Settlement {
    /// What this verdict leaves of a predicted hit or miss.
    fn of(predicted: Option<&RewoundHit>, outcome: &ShotOutcome) -> Self {
        match (predicted, *outcome) {
            (Some(hit), ShotOutcome::Hit { target, zone, .. }) if (target, zone) == (Some(hit.rig), hit.zone) => {
                Self::Confirmed
            }
            (_, ShotOutcome::Hit { target, by, zone, point, normal, .. }) => {
                Self::Corrected { target, by, zone, point, normal }
            }
            (None, ShotOutcome::Rejected(reason)) if reason.was_traced() => Self::Confirmed,
            (_, ShotOutcome::Rejected(reason)) => Self::Denied(reason),
        }
    }
}

impl VerdictReceived {
    /// Whether this is about the predicted part of the shot, or about the shot as a whole.
    fn answers(&self, predicted: &PredictedShot) -> bool {
        let is_refusal = matches!(self.outcome, ShotOutcome::Rejected(reason) if !reason.was_traced());
        self.shot == predicted.shot && (self.part == predicted.part || is_refusal)
    }

    /// Metres along the shot; 0 if there was no hit.
    fn distance(&self) -> f32 {
        match self.outcome {
            ShotOutcome::Hit { distance, .. } => distance,
            ShotOutcome::Rejected(_) => 0.0,
        }
    }
}

/// How long a prediction waits for its verdict.
#[derive(Resource)]
pub(super) struct Patience(pub(super) Duration);

pub(super) fn settle_predictions(
    mut open: ResMut<OpenPredictions>,
    mut verdicts: MessageReader<VerdictReceived>,
    mut arrived: Local<Vec<VerdictReceived>>,
    connected: Query<(), (With<Client>, With<Connected>)>,
    patience: Res<Patience>,
    time: Res<Time<Real>>,
    mut settled: MessageWriter<PredictionSettled>,
) {
    arrived.clear();
    arrived.extend(verdicts.read());
    if open.0.is_empty() {
        return;
    }
    let is_over = |predicted: &PredictedShot| {
        connected.is_empty() || time.elapsed().saturating_sub(predicted.predicted_at) >= patience.0
    };
    open.0.retain(|predicted| {
        let answers = arrived.iter().filter(|verdict| verdict.answers(predicted));
        let nearest = answers.min_by(|a, b| a.distance().total_cmp(&b.distance()));
        let settlement = match nearest {
            Some(verdict) => Settlement::of(predicted.hit.as_ref(), &verdict.outcome),
            None if is_over(predicted) => Settlement::TimedOut,
            None => return true,
        };
        settled.write(PredictionSettled { predicted: *predicted, settlement });
        false
    });
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;
    use lightyear::{
        connection::network_topology::NetworkingMetadata,
        prelude::{PeerId, RemoteId},
    };

    use super::*;
    use crate::{
        hitbox::{LifeNumber, RigId},
        shape::Shape,
        shot::{PoseBasis, ShotId},
        time::{Tick, ViewTime},
    };

    const RIG: Entity = Entity::from_raw_u32(7).expect("it is a number of an entity");
    const OTHER: Entity = Entity::from_raw_u32(8).expect("it is a number of an entity");
    const REFUSED: ShotOutcome = ShotOutcome::Rejected(RejectReason::CeaseFire);
    const MISSED: ShotOutcome = ShotOutcome::Rejected(RejectReason::Missed);

    fn torso(rig: Entity) -> RewoundHit {
        RewoundHit {
            rig,
            rig_id: RigId::default(),
            life: LifeNumber::default(),
            still_alive: true,
            hitbox: rig,
            zone: Zone::Torso,
            point: Vec3::ZERO,
            normal: Dir3::Y,
            distance: 1.0,
            pose: Isometry3d::IDENTITY,
            basis: PoseBasis::History,
            shape: Shape::Ball { radius: 1.0 },
        }
    }

    fn hit(target: Option<Entity>, zone: Zone, distance: f32) -> ShotOutcome {
        ShotOutcome::Hit { target, by: HitBy::Bullet, zone, point: Vec3::ONE, normal: Vec3::Y, distance }
    }

    fn corrected(target: Option<Entity>, zone: Zone) -> Settlement {
        Settlement::Corrected { target, by: HitBy::Bullet, zone, point: Vec3::ONE, normal: Vec3::Y }
    }

    #[test]
    fn a_hit_is_confirmed_only_in_the_same_zone_of_the_same_rig() {
        let predicted = torso(RIG);
        let of = |outcome| Settlement::of(Some(&predicted), &outcome);
        assert_eq!(of(hit(Some(RIG), Zone::Torso, 3.0)), Settlement::Confirmed);
        for (target, zone) in [(Some(RIG), Zone::Head), (Some(OTHER), Zone::Torso), (None, Zone::Torso)] {
            assert_eq!(of(hit(target, zone, 1.0)), corrected(target, zone));
        }
        assert_eq!(of(MISSED), Settlement::Denied(RejectReason::Missed));
        assert_eq!(of(REFUSED), Settlement::Denied(RejectReason::CeaseFire));
    }

    #[test]
    fn a_miss_is_confirmed_by_a_miss_or_a_wall_and_denied_by_a_refusal() {
        let of = |outcome| Settlement::of(None, &outcome);
        assert_eq!(of(MISSED), Settlement::Confirmed);
        assert_eq!(of(ShotOutcome::Rejected(RejectReason::Blocked)), Settlement::Confirmed);
        assert_eq!(of(REFUSED), Settlement::Denied(RejectReason::CeaseFire));
        assert_eq!(of(hit(Some(RIG), Zone::Head, 1.0)), corrected(Some(RIG), Zone::Head));
    }

    /// A connected client with predictions of hits: shot and part.
    fn client(predictions: &[(u32, u32)]) -> World {
        let mut world = World::new();
        world.init_resource::<NetworkingMetadata>();
        world.spawn((Client, RemoteId(PeerId::Server), Connected));
        let of = |&(sequence, part)| {
            let (shot, hit) = (ShotId::local(sequence), Some(torso(RIG)));
            PredictedShot { shot, part, hit, predicted_at: Duration::ZERO }
        };
        world.insert_resource(OpenPredictions(predictions.iter().map(of).collect()));
        world.insert_resource(Patience(Duration::from_secs(2)));
        world.init_resource::<Time<Real>>();
        world.init_resource::<Messages<VerdictReceived>>();
        world.init_resource::<Messages<PredictionSettled>>();
        world
    }

    /// What is settled in a frame in which these verdicts arrive.
    fn frame(world: &mut World, verdicts: &[(u32, u32, ShotOutcome)]) -> Vec<(u32, u32, Settlement)> {
        world.resource_mut::<Messages<VerdictReceived>>().clear();
        world.resource_mut::<Messages<VerdictReceived>>().write_batch(verdicts.iter().map(
            |&(sequence, part, outcome)| {
                let (view_time, judged_at) = (ViewTime::at(Tick(0)), Tick(0));
                VerdictReceived { shot: ShotId::local(sequence), part, outcome, view_time, judged_at }
            },
        ));
        world.run_system_once(settle_predictions).unwrap();
        let mut settled = world.resource_mut::<Messages<PredictionSettled>>();
        let of =
            |settled: PredictionSettled| (settled.predicted.shot.sequence, settled.predicted.part, settled.settlement);
        settled.drain().map(of).collect()
    }

    #[test]
    fn each_pellet_has_its_own_verdict_and_a_refusal_is_for_all() {
        let mut world = client(&[(1, 0), (1, 1), (2, 0), (2, 1)]);
        let settled = frame(&mut world, &[(1, 1, MISSED), (2, 0, REFUSED), (3, 0, MISSED)]);
        let [missed, refused] = [RejectReason::Missed, RejectReason::CeaseFire].map(Settlement::Denied);
        assert_eq!(settled, [(1, 1, missed), (2, 0, refused), (2, 1, refused)]);
        assert_eq!(frame(&mut world, &[(1, 0, hit(Some(RIG), Zone::Torso, 1.0))]), [(1, 0, Settlement::Confirmed)]);
    }

    #[test]
    fn of_several_victims_the_nearest_settles_and_the_others_are_ignored() {
        let mut world = client(&[(1, 0)]);
        let [far, near] = [(OTHER, 5.0), (RIG, 2.0)].map(|(rig, distance)| hit(Some(rig), Zone::Torso, distance));
        assert_eq!(frame(&mut world, &[(1, 0, far), (1, 0, near)]), [(1, 0, Settlement::Confirmed)]);
        assert_eq!(frame(&mut world, &[(1, 0, far)]), []);
    }

    #[test]
    fn without_a_verdict_it_times_out_once_and_a_late_one_is_not_told() {
        let mut world = client(&[(1, 0), (2, 0)]);
        let pass = |world: &mut World, millis| {
            world.resource_mut::<Time<Real>>().advance_by(Duration::from_millis(millis));
        };
        pass(&mut world, 1_999);
        assert_eq!(frame(&mut world, &[]), []);
        pass(&mut world, 1);
        // What has come with the last moment counts.
        let settled = frame(&mut world, &[(2, 0, MISSED)]);
        assert_eq!(settled, [(1, 0, Settlement::TimedOut), (2, 0, Settlement::Denied(RejectReason::Missed))]);
        assert_eq!(frame(&mut world, &[(1, 0, MISSED)]), []);
    }

    #[test]
    fn with_the_connection_all_predictions_end() {
        let mut world = client(&[(1, 0), (2, 0)]);
        let link = world.query_filtered::<Entity, With<Client>>().single(&world).unwrap();
        world.despawn(link);
        let over = Settlement::TimedOut;
        assert_eq!(frame(&mut world, &[]), [(1, 0, over), (2, 0, over)]);
        assert_eq!(frame(&mut world, &[]), []);
    }
}
