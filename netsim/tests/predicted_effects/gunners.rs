//! Clients that draw blood at once.

use core::time::Duration;
use std::collections::HashMap;

use bevy::prelude::*;
use bevy_hindsight::{
    AdmissionRules, CurrentTick, FireControl, Hitbox, LagCompensationConfig, LagCompensationPlugin, Occluder,
    PelletPattern, RewoundFilter, Rig, ShotId, Zone,
    lightyear::{
        FireShots, PredictShots, PredictionSettled, Settlement, ShotClientPlugin, ShotClientSystems, VerdictReceived,
    },
};
use bevy_rapier3d::prelude::*;
use lightyear::prelude::{AppComponentExt, Controlled, InterpolationTarget, LocalTimeline, NetworkTarget, Replicate};
use netsim::{CeaseFire, Peer, Scene, Shooter, Sim, SimConfig, Strafing, TARGET_RADIUS, TICK, Target};
use serde::{Deserialize, Serialize};

const TICKS_PER_SHOT: u32 = 4;
const RANGE: f32 = 100.0;

/// A strafing target, and clients that shoot and predict what they hit.
#[derive(Clone, Debug)]
pub struct Gunners {
    /// What the server does differently from what clients expect.
    pub twist: Twist,
    /// What clients know.
    pub knowledge: Knowledge,
    /// The pellets of their weapon.
    pub pellets: Option<PelletPattern>,
    /// How long they wait for a verdict.
    pub patience: Duration,
}

/// Something that clients do not know of, mostly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Twist {
    None,
    /// Nobody may shoot.
    CeaseFire,
    /// A wall in front of the target, on the server only.
    Wall,
    /// They do: a door that slides to and fro in front of the target, on both sides.
    Door,
    /// The target wears a shell in another zone, on the server only.
    Shell,
}

/// What clients know of the target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Knowledge {
    /// That it is a rig.
    Rig,
    /// That it is a rig; and the app could be a server, too.
    RigInBothHalves,
    /// Where it is.
    Place,
}

/// What a client predicted, and what became of that.
#[derive(Resource, Default)]
pub struct Ledger {
    /// Each prediction: the shot, its part, and whether a hit was predicted.
    pub predicted: Vec<(ShotId, u32, bool)>,
    pub settled: Vec<PredictionSettled>,
    pub verdicts: Vec<VerdictReceived>,
}

impl Ledger {
    /// Whether a hit was predicted, and what became of that; without the first `skip` predictions.
    pub fn settlements(&self, skip: usize) -> Vec<(bool, Settlement)> {
        let mut settled = HashMap::new();
        for PredictionSettled { predicted, settlement, .. } in &self.settled {
            let before = settled.insert((predicted.shot, predicted.part), *settlement);
            assert_eq!(before, None, "{predicted:?} is settled twice");
        }
        assert_eq!(settled.len(), self.predicted.len(), "as much is settled as was predicted");
        let later = self.predicted.iter().skip(skip);
        later.map(|(shot, part, is_hit)| (*is_hit, settled[&(*shot, *part)])).collect()
    }
}

impl Default for Gunners {
    fn default() -> Self {
        Self { twist: Twist::None, knowledge: Knowledge::Rig, pellets: None, patience: Duration::from_secs(2) }
    }
}

impl Gunners {
    /// Lets clients shoot until each has predicted so much, and waits for what becomes of it.
    pub fn play(self, config: SimConfig, predictions: usize) -> Sim {
        let mut sim = Sim::new(config, self);
        let clients = sim.clients.len();
        sim.run_until("predictions", Duration::from_secs(60), |sim| {
            (0..clients).all(|client| ledger(&sim.clients[client]).predicted.len() >= predictions)
        });
        sim.server.app.insert_resource(CeaseFire);
        for client in &mut sim.clients {
            client.app.insert_resource(CeaseFire);
        }
        sim.run(Duration::from_secs(5));
        sim
    }
}

/// What a client, or the host, predicted.
pub fn ledger(peer: &Peer) -> &Ledger {
    peer.app.world().resource::<Ledger>()
}

#[derive(Resource, Clone, Copy)]
struct Pellets(Option<PelletPattern>);

impl Scene for Gunners {
    fn protocol(&self, app: &mut App) {
        Strafing::default().protocol(app);
        app.component::<Door>().replicate();
    }

    fn server(&self, app: &mut App, config: &SimConfig) {
        // What is compared is screens, and not where a server draws the line.
        let admission = AdmissionRules { max_rewind: Duration::from_secs(1), ..AdmissionRules::default() };
        Strafing { admission, ..Strafing::default() }.server(app, config);
        let world = app.world_mut();
        let target = world.query_filtered::<Entity, With<Target>>().single(world).expect("it is spawned");
        match self.twist {
            Twist::None => {}
            Twist::CeaseFire => world.resource_mut::<LagCompensationConfig>().cease_fire = true,
            Twist::Wall => {
                world.spawn((Collider::cuboid(100.0, 10.0, 0.1), Transform::from_xyz(0.0, 0.0, 5.0)));
                simulate_walls(app);
            }
            Twist::Door => {
                world.spawn((
                    Door,
                    Transform::from_xyz(0.0, 0.0, 5.0),
                    Replicate::to_clients(NetworkTarget::All),
                    InterpolationTarget::to_clients(NetworkTarget::All),
                ));
                simulate_walls(app);
                app.add_systems(FixedUpdate, (know_doors, slide_doors).chain());
            }
            Twist::Shell => {
                let shell = Hitbox::ball(1.1 * TARGET_RADIUS).in_zone(Zone::Head);
                world.spawn((shell, ChildOf(target)));
            }
        }
        if let Some(pellets) = self.pellets {
            app.add_observer(move |armed: On<Add, Shooter>, mut commands: Commands| {
                commands.entity(armed.entity).insert(FireControl::default().with_pellets(pellets));
            });
        }
    }

    fn client(&self, app: &mut App, _config: &SimConfig, _id: u64) {
        app.add_plugins(ShotClientPlugin::<()>::default().with_patience(self.patience))
            .insert_resource(Pellets(self.pellets))
            .init_resource::<Ledger>()
            .add_systems(PreUpdate, keep_ledger.after(ShotClientSystems::SettlePredictions))
            .add_systems(FixedUpdate, shoot.run_if(not(resource_exists::<CeaseFire>)));
        if self.knowledge == Knowledge::RigInBothHalves {
            app.add_plugins(LagCompensationPlugin::default());
        }
        if self.twist == Twist::Door {
            simulate_walls(app);
            app.add_systems(Update, know_doors);
        }
        if self.knowledge != Knowledge::Place {
            app.add_systems(Update, know_rigs);
        }
    }
}

/// A door: it slides at 4 m/s.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
struct Door;

fn simulate_walls(app: &mut App) {
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .insert_resource(TimestepMode::Fixed { dt: TICK.as_secs_f32(), substeps: 1 });
}

fn know_doors(doors: Query<Entity, (With<Door>, With<Transform>, Without<Occluder>)>, mut commands: Commands) {
    for door in &doors {
        commands.entity(door).insert((Occluder::default(), Collider::cuboid(2.0, 2.0, 0.1)));
    }
}

fn slide_doors(mut doors: Query<&mut Transform, With<Door>>, tick: Res<CurrentTick>) {
    for mut door in &mut doors {
        let way = 4.0 * TICK.as_secs_f32() * tick.0.0 as f32;
        // There and back again.
        door.translation.x = (way % 12.0 - 6.0).abs() - 3.0;
    }
}

/// Makes of what the server sends what it is there.
fn know_rigs(
    targets: Query<Entity, (With<Target>, With<Transform>, Without<Rig>)>,
    shooters: Query<Entity, (With<Shooter>, With<Transform>, Without<Rig>)>,
    mut commands: Commands,
) {
    for target in &targets {
        commands.entity(target).insert((Rig, Hitbox::ball(TARGET_RADIUS)));
    }
    for shooter in &shooters {
        commands.entity(shooter).insert(Rig);
    }
}

/// Shoots at the target as it was drawn: from its middle to its rim, and each fifth time past it.
fn shoot(
    mut shots: FireShots,
    mut predictions: PredictShots,
    target: Single<&GlobalTransform, With<Target>>,
    me: Single<(Entity, &Transform), With<Controlled>>,
    local: Res<LocalTimeline>,
    pellets: Res<Pellets>,
    mut ledger: ResMut<Ledger>,
) {
    if !local.tick().0.is_multiple_of(TICKS_PER_SHOT) {
        return;
    }
    let (me, Transform { translation: origin, .. }) = *me;
    let aside = [0.0, 0.32, 0.63, 0.95, 1.33][ledger.predicted.len() % 5] * TARGET_RADIUS;
    let to_target = target.translation() - origin;
    let aim = to_target + to_target.cross(Vec3::Y).normalize() * aside;
    let Ok(direction) = Dir3::new(aim) else { return };
    let ray = Ray3d::new(*origin, direction);
    let Ok(shot) = shots.fire(ray, RANGE, ()) else { return };
    let filter = RewoundFilter::new().fired_by(me);
    let met = match pellets.0 {
        Some(pattern) => predictions.predict_pellets(shot, ray, RANGE, pattern, &filter),
        None => vec![predictions.predict(shot, ray, RANGE, &filter)],
    };
    let parts = (0..).zip(met).map(|(part, met)| (shot, part, met.victim().is_some()));
    ledger.predicted.extend(parts);
}

fn keep_ledger(
    mut settled: MessageReader<PredictionSettled>,
    mut verdicts: MessageReader<VerdictReceived>,
    mut ledger: ResMut<Ledger>,
) {
    ledger.settled.extend(settled.read().copied());
    ledger.verdicts.extend(verdicts.read().copied());
}
