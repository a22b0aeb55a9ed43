//! Section C of the public faults of hit registration: teleport, death, respawn, despawn, visibility.
//!
//! Written elsewhere: B30, at all tick rates and in all directions, in `src/history/segment.rs`.
//!
//! Still missing:
//!
//! * B37 (anti-cheat false positives after small or forced teleports): needs a validator of hits that a client claims.

#[path = "fixture/runner.rs"]
mod fixture;

use bevy::prelude::*;
use bevy_hindsight::{RejectReason::Missed, Tick, prelude::*};
use fixture::{Range, Runner, assert_near, x};

/// An app just before tick 100, with F of radius 0.5.
fn range() -> Range {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.run_to(Tick(99));
    range
}

/// B29: interpolated through a teleport.
#[test]
fn b29_a_teleport_is_not_interpolated_and_costs_no_narrow_phase_on_its_way() {
    for announced in [true, false] {
        let mut range = Range::new(Hitbox::ball(0.5));
        range.app.world_mut().get_mut::<Runner>(range.target).unwrap().metres_per_tick = 0.0;
        range.app.run_to(Tick(99));
        let mut target = range.app.world_mut().entity_mut(range.target);
        // F stands still from here on.
        target.remove::<Runner>();
        target.get_mut::<Transform>().unwrap().translation.x = 40.0;
        if announced {
            target.trigger(|entity| BeginSegment { entity });
        } else {
            // Faster than any rule about speeds would have it: the second net.
            assert!(40.0 * 64.0 > range.app.world().resource::<LagCompensationConfig>().max_speed.unwrap());
        }
        let shots = [(x(0.0), 0.5), (x(20.0), 0.5), (x(40.0), 0.5), (x(0.0), 0.0), (x(40.0), 0.0)];
        let [held, halfway, ahead, gone, there] = range.fire(shots);
        assert_near(held.unwrap().pose.translation.x, 0.0);
        assert_eq!((halfway, ahead, gone), (Err(Missed), Err(Missed), Err(Missed)));
        assert_near(there.unwrap().pose.translation.x, 40.0);

        // Only rays that come near the bounds reach the narrow phase; none at x = 20 does at any view.
        let history = range.app.world().get::<HistoryBuffer>(range.target).unwrap();
        let reached = (0..1_000).filter(|n| {
            let view = ViewTime::before(Tick(100), f64::from(*n) / 500.0);
            let bounds = history.sample(view).expect("F is there").bounds();
            (bounds.center.x - 20.0).abs() <= bounds.radius()
        });
        assert_eq!(reached.count(), 0);
        // An answer of each of a thousand shots says the same.
        let missed = range.fire(core::array::from_fn::<_, 1_000, _>(|n| (x(20.0), 1.0 + n as f64 / 500.0)));
        assert!(missed.iter().all(|answer| *answer == Err(Missed)));
    }
}

/// B30: teleport threshold depends on tick rate. 70 m/s is no teleport, though it is 2.33 m in a tick of 30 Hz.
#[test]
fn b30_a_fast_target_at_a_low_tick_rate_is_interpolated() {
    let mut range = Range::new(Hitbox::ball(0.05));
    range.app.insert_resource(Time::<Fixed>::from_hz(30.0)).insert_resource(CurrentTick(Tick(89)));
    let runner = Runner { metres_per_tick: 70.0 / 30.0, start: Tick(90) };
    range.app.world_mut().entity_mut(range.target).insert(runner);
    range.app.run_to(Tick(99));
    let place = 4.5 * 70.0 / 30.0;
    let [halfway, before, after] =
        range.fire([(x(place), 5.5), (x(place - 70.0 / 60.0), 5.5), (x(place + 70.0 / 60.0), 5.5)]);
    let halfway = halfway.unwrap();
    assert_near(halfway.pose.translation.x, place);
    assert_near(halfway.distance, 9.95);
    assert_eq!((before, after), (Err(Missed), Err(Missed)));
}

/// B33: a shot at a corpse hits the respawned player.
#[test]
fn b33_a_corpse_is_not_hit_and_a_hit_on_the_last_life_is_none_on_this_one() {
    let mut range = Range::new(Hitbox::ball(0.5));
    range.app.run_to(Tick(89));
    range.app.world_mut().get_mut::<Life>(range.target).unwrap().end();
    range.app.run_to(Tick(94));

    // Alive at view 89, dead in tick 95.
    let died_since = range.app.judge(range.shot(x(11.125), 6.0)).unwrap();
    assert_eq!((died_since.target, died_since.hit.still_alive), (range.target, false));
    assert_eq!(died_since.living_target(), None, "no damage");

    range.app.run_to(Tick(99));
    range.app.world_mut().get_mut::<Life>(range.target).unwrap().begin();
    let life = range.app.world().get::<Life>(range.target).unwrap().number();
    let [corpse, last_life, this_life] = range.fire([(x(11.875), 5.0), (x(11.125), 11.0), (x(12.5), 0.0)]);
    assert_eq!(corpse, Err(Missed), "dead at view 95");
    let (last_life, this_life) = (last_life.unwrap(), this_life.unwrap());
    assert!(!last_life.still_alive && last_life.life != life);
    assert!(this_life.still_alive && this_life.life == life);
}

/// B34: effects applied after death.
#[test]
fn b34_the_second_of_two_deadly_shots_tells_that_the_target_is_dead() {
    #[derive(Resource, Default)]
    struct Deaths(u32);
    let mut range = range();
    range.app.init_resource::<Deaths>().add_observer(
        |hit: On<HitConfirmed>, mut lives: Query<&mut Life>, mut deaths: ResMut<Deaths>| {
            if let Some(target) = hit.living_target()
                && let Ok(mut life) = lives.get_mut(target)
            {
                life.end();
                deaths.0 += 1;
            }
        },
    );
    let other = range.app.world_mut().spawn(Rig).id();
    let first = range.app.judge(range.shot(x(11.75), 6.0)).unwrap();
    let second = range.app.judge(ShotEvent { shooter: other, ..range.shot(x(11.75), 7.0) }).unwrap();
    assert_eq!((first.evidence.judged_at, second.evidence.judged_at), (Tick(100), Tick(101)));
    assert_eq!((first.target, second.target), (range.target, range.target));
    assert_eq!((first.hit.still_alive, second.hit.still_alive), (true, false));
    assert_eq!(range.app.world().resource::<Deaths>().0, 1);
}

/// B35: despawned target, whose id is used again.
#[test]
fn b35_a_despawned_target_is_hit_only_with_tombstones_and_never_as_the_next_one_with_its_id() {
    #[derive(Resource)]
    struct NextWithItsId(Entity);
    for tombstones in [false, true] {
        let mut range = Range::new(Hitbox::ball(0.5));
        let old = range.target;
        range.app.world_mut().resource_mut::<LagCompensationConfig>().tombstones = tombstones;
        // In the tick, as a system of the game would, but so that the id can be used again at once.
        range.app.add_systems(FixedUpdate, move |world: &mut World| {
            if world.resource::<CurrentTick>().0 == Tick(98) {
                let next = world.despawn_no_free(old).expect("F was there");
                world.insert_resource(NextWithItsId(next));
            }
        });
        range.app.run_to(Tick(98));
        let new = range.app.world().resource::<NextWithItsId>().0;
        assert!(new.index() == old.index() && new != old);
        range.app.world_mut().spawn_at(new, (Rig, Hitbox::ball(0.5), Transform::from_xyz(30.0, 0.0, 10.0))).unwrap();
        range.app.run_to(Tick(99));

        let shot = |place, delay| (x(place), delay);
        let shots = [shot(11.75, 6.0), shot(12.125, 2.0), shot(12.5, 0.0), shot(30.0, 6.0), shot(30.0, 1.0)];
        let [before, after, now, new_before, new_since] = range.fire(shots);
        if tombstones {
            let hit = before.unwrap();
            assert_eq!((hit.rig, hit.hitbox, hit.still_alive), (old, old, false));
            assert_near(hit.pose.translation.x, 11.75);
        } else {
            assert_eq!(before, Err(Missed));
        }
        assert_eq!((after, now, new_before), (Err(Missed), Err(Missed), Err(Missed)));
        assert_eq!(new_since.unwrap().rig, new);
    }
}
