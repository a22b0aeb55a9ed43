//! A client that says what it likes.

use core::time::Duration;
use std::thread;

use bevy::prelude::*;
use bevy_hindsight::{
    CheckPolicy, CurrentTick, RejectReason, Rig, Tick, ViewTime,
    lightyear::{Displayed, PresentationEpoch, ShotOutcome, ShotRequest},
};
use lightyear::prelude::{ControlledBy, LocalId, LocalTimeline};
use netsim::{Carousel, Network, Peer, Shooter, Sim, SimConfig, TICK, Transport};

use crate::ear;

/// What became of a shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    Hit,
    Missed,
    Refused(RejectReason),
}

/// The answer to a shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// If it was not judged by what it claimed: what was done, and why.
    pub adjusted: Option<(CheckPolicy, RejectReason)>,
    /// Ticks between the instant that was tested and the command tick.
    pub rewind: f64,
}

/// The first client of a server on which an honest one plays, too.
///
/// When it is dropped, it holds the server to its promise about the log.
pub struct Attacker {
    pub sim: Sim,
    sequence: u32,
}

/// The line of most attackers: the screen shows what is about seven ticks old.
pub const LINE: Network = Network { latency: 20.0, jitter: 0.0, loss: 0.0 };

impl Attacker {
    pub fn new() -> Self {
        Self::on(LINE)
    }

    /// On this line.
    pub fn on(network: Network) -> Self {
        Self::playing(SimConfig { network, ..SimConfig::default() })
    }

    /// On a server that sends its snapshots so many ticks apart.
    pub fn sending_every(ticks: u32) -> Self {
        Self::playing(SimConfig { network: LINE, send_interval: ticks * TICK, ..SimConfig::default() })
    }

    /// Long enough for the clocks to settle.
    fn playing(config: SimConfig) -> Self {
        ear::listen();
        let config = SimConfig { transport: Transport::Udp, client_fps: vec![144.0, 60.0], ..config };
        let mut sim = Sim::new(config, Carousel);
        sim.run(Duration::from_secs(4));
        Self { sim, sequence: 0 }
    }

    pub fn run(&mut self, milliseconds: u64) {
        self.sim.run(Duration::from_millis(milliseconds));
    }

    pub fn server(&mut self) -> &mut World {
        self.sim.server.app.world_mut()
    }

    pub fn now(&self) -> Tick {
        self.sim.server.app.world().resource::<CurrentTick>().0
    }

    /// The server's entity for the rig of a client.
    pub fn rig(&mut self, client: usize) -> Entity {
        let Peer { app, link, .. } = &self.sim.clients[client];
        let id = app.world().get::<LocalId>(*link);
        let id = id.expect("the client should be connected").0.to_bits();
        let world = self.server();
        let mut rigs = world.query_filtered::<(Entity, &Shooter), With<Rig>>();
        let found = rigs.iter(world).find(|(_, shooter)| shooter.0 == id);
        found.expect("the client should have a rig").0
    }

    /// The server's entity for the attacker's connection.
    pub fn link(&mut self) -> Entity {
        let rig = self.rig(0);
        self.server().get::<ControlledBy>(rig).expect("rigs belong to clients").owner
    }

    /// The attacker's own entity for something, by a component that only this has.
    pub fn on_screen<C: Component>(&mut self, is_it: impl Fn(&C) -> bool) -> Entity {
        let world = self.sim.clients[0].app.world_mut();
        let mut all = world.query::<(Entity, &C)>();
        all.iter(world).find(|(_, component)| is_it(component)).expect("it should be on the screen").0
    }

    /// What an honest client would send in this frame, aimed at what its screen shows.
    pub fn honest(&mut self) -> ShotRequest<()> {
        self.sequence += 1;
        let world = self.sim.clients[0].app.world();
        let view = world.resource::<Displayed>().view_time().expect("the clocks should have settled");
        let request = ShotRequest {
            command_tick: Tick(world.resource::<LocalTimeline>().tick().0),
            view_time: Some(view),
            epoch: world.resource::<PresentationEpoch>().0,
            ..netsim::request(self.sequence)
        };
        aimed(request, view)
    }

    /// Sends a request as it is.
    pub fn send(&mut self, request: &ShotRequest<()>) {
        self.sim.fire_raw(0, request.clone());
    }

    /// Sends a request and waits for the answer.
    pub fn ask(&mut self, request: &ShotRequest<()>) -> Answer {
        self.send(request);
        self.run(400);
        self.answer(request.sequence).unwrap_or_else(|| panic!("no answer to {request:?}"))
    }

    /// The answer to a shot, if it has come; never a second one.
    pub fn answer(&mut self, sequence: u32) -> Option<Answer> {
        let connection = self.link().to_bits();
        let mut verdicts = self.sim.client_log(0).verdicts.iter().filter(|verdict| verdict.shot.sequence == sequence);
        let verdict = verdicts.next()?;
        assert!(verdicts.next().is_none(), "shot {sequence} was answered twice");
        let outcome = match verdict.outcome {
            ShotOutcome::Hit { .. } => Outcome::Hit,
            ShotOutcome::Rejected(RejectReason::Missed) => Outcome::Missed,
            ShotOutcome::Rejected(reason) => Outcome::Refused(reason),
            _ => unreachable!("there are no other outcomes"),
        };
        let mut judged = self.sim.server_log().judged.iter();
        let judged = judged.find(|judged| (judged.shot.connection, judged.shot.sequence) == (connection, sequence));
        Some(Answer {
            outcome,
            adjusted: judged.and_then(|judged| judged.adjusted).map(|adjusted| (adjusted.policy, adjusted.reason)),
            rewind: judged.map_or(0.0, |judged| judged.rewind),
        })
    }

    /// Holds that a request is refused for this reason.
    #[track_caller]
    pub fn assert_refused(&mut self, request: &ShotRequest<()>, reason: RejectReason) {
        assert_eq!(self.ask(request).outcome, Outcome::Refused(reason));
    }

    /// Holds that a lie about the view is seen through: aimed at the past that it claims it misses, and aimed at what an
    /// honest screen shows it hits.
    #[track_caller]
    pub fn assert_gains_nothing(
        &mut self,
        adjusted: (CheckPolicy, RejectReason),
        lie: impl Fn(ShotRequest<()>) -> ShotRequest<()>,
    ) {
        let lying = lie(self.honest());
        let claimed = view_of(&lying);
        let answer = self.ask(&aimed(lying, claimed));
        assert_eq!((answer.outcome, answer.adjusted), (Outcome::Missed, Some(adjusted)), "aimed at the claimed past");
        let honest = self.honest();
        let seen = view_of(&honest);
        let answer = self.ask(&aimed(lie(honest), seen));
        assert_eq!((answer.outcome, answer.adjusted), (Outcome::Hit, Some(adjusted)), "aimed at the honest past");
    }

    /// Holds that an honest shot hits.
    #[track_caller]
    pub fn assert_honest_shots_hit(&mut self) {
        let honest = self.honest();
        assert_eq!(self.ask(&honest).outcome, Outcome::Hit);
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert_eq!(ear::loud_events(), 0, "nothing that a client does is logged above `debug`");
        }
    }
}

/// The same request, aimed at where the target was at an instant.
pub fn aimed(request: ShotRequest<()>, instant: ViewTime) -> ShotRequest<()> {
    ShotRequest { direction: Carousel::place(instant), ..request }
}

/// The view that a request claims.
pub fn view_of(request: &ShotRequest<()>) -> ViewTime {
    request.view_time.expect("the request should claim a view")
}

/// The instant so many ticks before another one, or after it if they are negative.
pub fn before(instant: ViewTime, ticks: f64) -> ViewTime {
    ViewTime::before(instant.tick, instant.ticks_before(instant.tick) + ticks)
}

/// The same request with a view so many ticks older.
pub fn back_dated(request: ShotRequest<()>, ticks: f64) -> ShotRequest<()> {
    let view_time = Some(before(view_of(&request), ticks));
    ShotRequest { view_time, ..request }
}
