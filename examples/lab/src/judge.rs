//! The server judges each shot by every policy at once.

use alloc::collections::BTreeMap;

use bevy::{ecs::message::MessageCursor, prelude::*};
use bevy_hindsight::{
    Bone, Evidence, HitConfirmed, HitRejected, LagCompensationSystems, RejectReason, ShotEvent, ShotId, Tick, ViewTime,
};
use lightyear::prelude::{InterpolationDelay, LocalTimeline, RemoteId};

use crate::{policy::Policy, scene::Role, screen::Sight};

/// What the server says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Answer {
    /// The shot was traced, and met this.
    Traced(Sight),
    /// It was not traced.
    Refused(RejectReason),
}

/// The answer to a shot by one policy.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The id of the client.
    pub client: u64,
    /// The client's number for the shot.
    pub sequence: u32,
    /// By which policy.
    pub policy: Policy,
    /// What the server says.
    pub answer: Answer,
    /// Where the roots of targets stood that it tested.
    pub roots: Vec<(Role, Vec3)>,
    /// The hitbox of a target that the ray met first, and where that stood.
    pub hit: Option<(Role, Option<Bone>, Vec3)>,
    /// The instant of that.
    pub view_time: ViewTime,
}

/// All answers of the server.
#[derive(Resource, Default)]
pub struct Verdicts(pub Vec<Verdict>);

/// Where each target stood after each tick.
#[derive(Resource, Default)]
pub struct Past(BTreeMap<(u32, Role), Isometry3d>);

impl Past {
    /// Whether this is what the server had to say of a target after a tick.
    pub fn knows(&self, tick: Tick, role: Role, pose: Isometry3d) -> bool {
        self.0.get(&(tick.0, role)) == Some(&pose)
    }
}

/// Which shots the copies are of, by their number.
#[derive(Resource, Default)]
struct Copies(Vec<(Policy, ShotId)>);

/// The connection of all copies: nobody's, so that their answers stay here.
const LAB: u64 = u64::MAX;

/// Judges by all policies, and notes all answers.
pub fn plugin(app: &mut App) {
    app.init_resource::<Verdicts>()
        .init_resource::<Copies>()
        .init_resource::<Past>()
        .add_observer(|hit: On<HitConfirmed>, mut log: Log| {
            let sight = |role| Answer::Traced(Sight::Struck(role, hit.hit.zone));
            if let Ok(role) = log.roles.get(hit.target).copied() {
                log.write(hit.shot, sight(role), &hit.evidence);
            }
        })
        .add_observer(|rejection: On<HitRejected>, mut log: Log| {
            let answer = match rejection.reason {
                RejectReason::Missed => Answer::Traced(Sight::Missed),
                RejectReason::Blocked => Answer::Traced(Sight::Blocked),
                reason => Answer::Refused(reason),
            };
            log.write(rejection.shot, answer, &rejection.evidence);
        })
        .add_systems(FixedLast, remember)
        .add_systems(
            FixedPostUpdate,
            copy_shots.after(LagCompensationSystems::ReceiveShots).before(LagCompensationSystems::AdmitShots),
        );
}

fn remember(targets: Query<(&Role, &Transform)>, local: Res<LocalTimeline>, mut past: ResMut<Past>) {
    let tick = local.tick().0;
    past.0.extend(targets.iter().map(|(role, root)| ((tick, *role), root.to_isometry())));
}

/// Asks for a verdict by every policy. The shot itself stays as it is, and is judged as the server would without a lab.
fn copy_shots(
    mut shots: ResMut<Messages<ShotEvent>>,
    mut cursor: Local<MessageCursor<ShotEvent>>,
    links: Query<&InterpolationDelay>,
    local: Res<LocalTimeline>,
    mut copies: ResMut<Copies>,
) {
    let originals: Vec<ShotEvent> = cursor.read(&shots).copied().collect();
    for shot in originals {
        let delay = Entity::try_from_bits(shot.id.connection).and_then(|link| links.get(link).ok());
        // As lightyear's own lag compensation has it: from the tick that the server runs.
        let lightyear = delay.map(|delay| {
            let (tick, overstep) = delay.tick_and_overstep(local.tick());
            ViewTime::new(Tick(tick.0), (overstep * 65_536.0) as u16)
        });
        for policy in Policy::ALL.into_iter().filter(|policy| *policy != Policy::AsDisplayed) {
            if let Some(copy) = policy.ask(shot, lightyear) {
                shots.write(copy.with_id(ShotId { connection: LAB, sequence: copies.0.len() as u32 }));
                copies.0.push((policy, shot.id));
            }
        }
    }
    cursor.clear(&shots);
}

/// Notes verdicts.
#[derive(bevy::ecs::system::SystemParam)]
struct Log<'w, 's> {
    verdicts: ResMut<'w, Verdicts>,
    copies: Res<'w, Copies>,
    links: Query<'w, 's, &'static RemoteId>,
    roles: Query<'w, 's, &'static Role>,
    bones: Query<'w, 's, &'static Bone>,
}

impl Log<'_, '_> {
    fn write(&mut self, shot: ShotId, answer: Answer, evidence: &Evidence) {
        let (policy, original) = match shot.connection {
            LAB => self.copies.0[shot.sequence as usize],
            _ => (Policy::AsDisplayed, shot),
        };
        let link = Entity::try_from_bits(original.connection);
        let Some(client) = link.and_then(|link| self.links.get(link).ok()) else { return };
        let role_of = |rig: Entity| self.roles.get(rig).ok().copied();
        let rigs = evidence.rigs.iter().flatten();
        let roots = rigs.filter_map(|rig| Some((role_of(rig.rig)?, rig.root.translation.into()))).collect();
        let hit = evidence.hit.and_then(|hit| {
            let bone = self.bones.get(hit.hitbox).ok().copied();
            Some((role_of(hit.rig)?, bone, hit.pose.translation.into()))
        });
        self.verdicts.0.push(Verdict {
            client: client.0.to_bits(),
            sequence: original.sequence,
            policy,
            answer,
            roots,
            hit,
            view_time: evidence.view_time,
        });
    }
}
