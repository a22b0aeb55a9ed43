//! Clients that may see it are told how their shots, and those that hit them, were judged.

use core::{any::TypeId, time::Duration};

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, DisplayedShots, Hitbox, LagCompensationConfig, RejectReason, Rig, ShotTraced, ShotTracing,
    lightyear::{EvidenceViewer, FireShots, ShotClientSystems, ShotServerConfig, VerdictReceived},
};
use lightyear::prelude::{server::ClientOf, *};
use netsim::{Network, Scene, Shooter, Sim, SimConfig, Strafing, TARGET_RADIUS, Target};

/// Client 1 shoots at the strafing target, client 2 at client 1.
struct Duel {
    /// For those of whom nothing else is known.
    stream_evidence: bool,
    /// What is known of single clients, by their ids.
    viewers: &'static [(u64, bool)],
    /// When clients shoot.
    aim: Aim,
}

/// At which frame a client shoots.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Aim {
    /// At the one that was drawn last.
    Drawn,
    /// At the one that is about to be drawn.
    Coming,
}

impl Default for Duel {
    fn default() -> Self {
        Self { stream_evidence: true, viewers: &[], aim: Aim::Drawn }
    }
}

/// Everything that a client was told.
#[derive(Resource, Default)]
struct Told {
    traced: Vec<ShotTraced>,
    verdicts: Vec<VerdictReceived>,
    /// Metres between where the screen showed a hitbox and where the server tested it.
    errors: Vec<f32>,
}

#[derive(Resource)]
struct Me(u64);

impl Scene for Duel {
    fn protocol(&self, app: &mut App) {
        Strafing::default().protocol(app);
    }

    fn server(&self, app: &mut App, config: &SimConfig) {
        let admission = AdmissionRules { max_rewind: Duration::from_secs(1), ..AdmissionRules::default() };
        Strafing { admission, ..Strafing::default() }.server(app, config);
        let viewers = self.viewers;
        app.insert_resource(ShotServerConfig { stream_evidence: self.stream_evidence, ..default() })
            .insert_resource(ShotTracing { enabled: true, ..default() })
            .add_observer(|shooter: On<Add, Shooter>, mut commands: Commands| {
                commands.entity(shooter.entity).insert(Hitbox::ball(0.3));
            })
            .add_observer(
                move |link: On<Add, Connected>, links: Query<&RemoteId, With<ClientOf>>, mut commands: Commands| {
                    let Ok(id) = links.get(link.entity) else { return };
                    for (_, may_see) in viewers.iter().filter(|(viewer, _)| *viewer == id.0.to_bits()) {
                        commands.entity(link.entity).insert(EvidenceViewer(*may_see));
                    }
                },
            );
    }

    fn client(&self, app: &mut App, config: &SimConfig, id: u64) {
        Strafing { shoot: false, ..Strafing::default() }.client(app, config, id);
        app.insert_resource(ShotTracing { enabled: true, ..default() })
            .insert_resource(Me(id))
            .init_resource::<Told>()
            .add_systems(Update, (know_rigs, note));
        match self.aim {
            Aim::Drawn => app.add_systems(FixedUpdate, shoot),
            Aim::Coming => app.add_systems(Update, shoot.after(ShotClientSystems::RememberDisplayed)),
        };
    }
}

fn know_rigs(
    targets: Query<Entity, (With<Target>, With<Transform>, Without<Rig>)>,
    shooters: Query<Entity, (With<Shooter>, With<Transform>, Without<Rig>)>,
    mut commands: Commands,
) {
    for target in &targets {
        commands.entity(target).insert((Rig, Hitbox::ball(TARGET_RADIUS)));
    }
    for shooter in &shooters {
        commands.entity(shooter).insert((Rig, Hitbox::ball(0.3)));
    }
}

fn shoot(
    mut shots: FireShots,
    me: Single<&Transform, With<Controlled>>,
    target: Single<&GlobalTransform, With<Target>>,
    others: Query<&GlobalTransform, (With<Shooter>, Without<Controlled>)>,
    own: Res<Me>,
    local: Res<LocalTimeline>,
    mut last: Local<u32>,
) {
    let tick = local.tick().0;
    if !tick.is_multiple_of(8) || tick == *last {
        return;
    }
    *last = tick;
    let aim = match own.0 {
        1 => Some(target.translation()),
        _ => others.iter().next().map(GlobalTransform::translation),
    };
    if let Some(direction) = aim.and_then(|aim| Dir3::new(aim - me.translation).ok()) {
        // Before the clocks have met, there is nothing to shoot at.
        let _ = shots.fire(Ray3d::new(me.translation, direction), 100.0, ());
    }
}

fn note(
    mut traced: MessageReader<ShotTraced>,
    mut verdicts: MessageReader<VerdictReceived>,
    displayed: Res<DisplayedShots>,
    mut told: ResMut<Told>,
) {
    told.verdicts.extend(verdicts.read().copied());
    for shot in traced.read() {
        if let Some(screen) = displayed.get(shot.shot).filter(|_| shot.shot.connection == 0) {
            for tested in &shot.hitboxes {
                let shown = screen.hitboxes.iter().find(|shown| shown.hitbox == tested.hitbox);
                told.errors.extend(shown.map(|shown| shown.pose.translation.distance(tested.pose.translation)));
            }
        }
        told.traced.push(shot.clone());
    }
}

fn play(duel: Duel) -> Sim {
    // So rarely that the blend of two snapshots differs from what was in between.
    let send_interval = Duration::from_millis(100);
    let config = SimConfig { client_fps: vec![60.0, 144.0], network: Network::TYPICAL, send_interval, ..default() };
    let mut sim = Sim::new(config, duel);
    sim.run(Duration::from_secs(15));
    sim
}

fn told(sim: &Sim, client: usize) -> &Told {
    sim.clients[client].app.world().resource::<Told>()
}

fn rig_of(sim: &mut Sim, client: usize, id: u64) -> Entity {
    let world = sim.clients[client].app.world_mut();
    let mut shooters = world.query::<(Entity, &Shooter)>();
    shooters.iter(world).find(|(_, shooter)| shooter.0 == id).map(|(rig, _)| rig).expect("it is replicated")
}

#[test]
fn who_may_see_it_is_told_of_own_shots_and_of_own_wounds_and_nobody_else_anything() {
    let mut sim = play(Duel { stream_evidence: false, viewers: &[(1, true)], ..Duel::default() });
    let [me, shooter] = [1, 2].map(|id| rig_of(&mut sim, 0, id));
    let Told { traced, verdicts, .. } = told(&sim, 0);
    let (own, wounds): (Vec<_>, Vec<_>) = traced.iter().partition(|shot| shot.shot.connection == 0);
    assert!(own.len() > 80, "{}", own.len());
    // Whatever is still on its way.
    assert!(own.len().abs_diff(verdicts.len()) <= 3, "{} of {} verdicts", own.len(), verdicts.len());
    for shot in &own {
        assert_eq!(shot.shooter, me);
        let verdict = verdicts.iter().find(|verdict| verdict.shot == shot.shot).expect("verdicts are not in the way");
        assert_eq!(verdict.outcome.is_hit(), shot.hit().is_some());
        assert_eq!((verdict.judged_at, verdict.view_time), (shot.evidence.judged_at, shot.evidence.view_time));
    }
    assert!(wounds.len() > 60, "{}", wounds.len());
    for wound in wounds {
        assert_eq!((wound.victim(), wound.shooter), (Some(me), shooter));
        assert!(wound.rewind_ms() > 100.0, "{}", wound.rewind_ms());
    }
    let other = told(&sim, 1);
    assert!(other.verdicts.len() > 80 && other.traced.is_empty(), "{} are told", other.traced.len());
}

#[test]
fn the_server_can_permit_all_and_forbid_one() {
    let sim = play(Duel { viewers: &[(1, false)], ..Duel::default() });
    assert_eq!(told(&sim, 0).traced.len(), 0);
    let other = &told(&sim, 1).traced;
    assert!(other.len() > 80 && other.iter().all(|shot| shot.shot.connection == 0), "{} are told", other.len());
}

#[test]
fn what_was_tested_is_what_the_screen_showed() {
    for aim in [Aim::Drawn, Aim::Coming] {
        let sim = play(Duel { aim, ..Duel::default() });
        for client in 0..2 {
            let Told { errors, traced, .. } = told(&sim, client);
            assert!(errors.len() > 80, "{aim:?}: {} of {}", errors.len(), traced.len());
            let largest = errors.iter().copied().fold(0.0, f32::max);
            assert!(largest < 1e-3, "{aim:?}: {largest} m");
        }
        // It matters: the present was another one.
        let moved = |shot: &ShotTraced| {
            let target = shot.hitboxes.iter().find(|hitbox| Some(hitbox.rig) == shot.victim())?;
            Some(target.live?.translation.distance(target.pose.translation))
        };
        let furthest = told(&sim, 0).traced.iter().filter_map(moved).fold(0.0, f32::max);
        assert!(furthest > 0.5, "{aim:?}: {furthest} m");
    }
}

#[test]
fn a_server_takes_no_evidence_from_clients() {
    let mut sim = Sim::new(SimConfig::default(), Duel::default());
    sim.run(Duration::from_secs(3));
    // As if it were a request.
    let registry = sim.server.app.world().resource::<MessageRegistry>();
    let kind = *registry.kind_map.net_id(&TypeId::of::<ShotTraced>().into()).expect("it is registered") as u8;
    sim.server.app.world_mut().resource_mut::<Messages<ShotTraced>>().clear();
    sim.server.app.world_mut().resource_mut::<LagCompensationConfig>().cease_fire = true;
    let before = sim.server_log().judged.len();
    for fill in [0, 1, 0x7F] {
        sim.send_bytes(0, [vec![kind], vec![fill; 400]].concat());
        sim.run(Duration::from_millis(300));
    }
    let traced = sim.server.app.world().resource::<Messages<ShotTraced>>();
    assert!(traced.iter_current_update_messages().all(|shot| shot.rejected() == Some(RejectReason::CeaseFire)));
    assert!(sim.server_log().judged.len() > before, "honest shots are answered all the same");
}
