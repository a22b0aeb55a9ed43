//! Beams end with their trigger, whatever comes late; and what holds for blows and beams alike.

#[path = "fixture/runner.rs"]
#[expect(dead_code, reason = "nobody fires bullets here")]
mod runner;

#[path = "fixture/blows.rs"]
mod blows;

use bevy::prelude::*;
use bevy_hindsight::{
    Attack, Beam, ReleaseTrigger, Swing, Tick,
    prelude::*,
    test_app::{TestApp, Verdict},
};
use blows::{blow, physics, range, run, told};
use runner::{Range, assert_near};

#[test]
fn a_verdict_of_a_later_tick_says_in_which_tick_it_was_reached() {
    let mut range = range();
    let shot = range.shot(Vec3::X * 12.5, 6.0).with_attack(Attack::Beam(Beam { ticks: 4 }));
    for (part, verdict) in (0..).zip(run(&mut range.app, vec![shot], 6)) {
        let evidence = verdict.map_or_else(|rejection| rejection.evidence, |hit| hit.evidence);
        assert_eq!(evidence.judged_at, Tick(100 + part), "beam, part {part}");
    }
    let mut range = blows::range();
    let shot = ShotEvent { origin: Vec3::new(0.0, 0.0, 0.0), ..blow(&range, Swing::arc(1.0, 0.5).lasting(5)) };
    let rejection = run(&mut range.app, vec![shot], 8)[0].unwrap_err();
    assert_eq!(rejection.evidence.judged_at, Tick(104), "a blow that met nobody is answered at its end");
}

#[test]
fn a_release_that_overtakes_its_beam_ends_it() {
    let mut range = range();
    let shot = range.shot(Vec3::X * 12.5, 6.0).with_attack(Attack::Beam(Beam { ticks: 30 }));
    run(&mut range.app, vec![], 2);
    let entity = range.shooter;
    range.app.world_mut().trigger(ReleaseTrigger { entity });
    run(&mut range.app, vec![], 2);
    // As one in time: it burnt in the ticks 100 and 101.
    assert_eq!(run(&mut range.app, vec![shot], 40).len(), 2);
}

#[test]
fn a_release_ends_the_beams_of_earlier_ticks_and_not_that_of_its_own() {
    let mut range = range();
    let beam = |range: &Range, number| {
        let shot = range.shot(Vec3::X * 12.5, 6.0).with_id(ShotId::local(number));
        shot.with_attack(Attack::Beam(Beam { ticks: 8 }))
    };
    let first = beam(&range, 0);
    let mut verdicts = run(&mut range.app, vec![first], 3);
    let (again, entity) = (beam(&range, 1), range.shooter);
    range.app.add_systems(FixedPreUpdate, move |tick: Res<CurrentTick>, mut commands: Commands| {
        if tick.0 == again.command_tick {
            commands.trigger(ReleaseTrigger { entity });
        }
    });
    verdicts.extend(run(&mut range.app, vec![again], 20));
    let of =
        |number| verdicts.iter().filter(|no| no.map_or_else(|no| no.shot, |hit| hit.shot).sequence == number).count();
    assert_eq!((of(0), of(1)), (3, 8));
}

#[test]
fn a_late_beam_is_judged_as_one_in_time() {
    let verdicts = |late: u32| {
        let mut range = range();
        let shot = range.shot(Vec3::X * 12.5, 6.0).with_attack(Attack::Beam(Beam { ticks: 16 }));
        for _ in 0..late {
            range.app.tick();
        }
        let verdicts = run(&mut range.app, vec![shot], 20);
        // In its tick 6, F stands right before it.
        let hit = verdicts[6].unwrap();
        assert_eq!(hit.target, range.target);
        assert_near(hit.hit.distance, 9.5);
        let views = verdicts.iter().map(|v| v.map_or_else(|no| no.evidence.view_time, |hit| hit.evidence.view_time));
        (told(&verdicts), views.collect::<Vec<_>>())
    };
    assert_eq!(verdicts(9), verdicts(0));
}

#[test]
fn a_shooter_who_stands_still_far_away_does_not_drift() {
    let mut app = TestApp::new(64.0);
    let far = Vec3::new(16_000.0, 0.0, 16_000.0);
    let turned = Quat::from_rotation_y(1.0);
    let shooter = app.world_mut().spawn((Rig, Transform::from_translation(far).with_rotation(turned))).id();
    app.run_to(Tick(19));
    let shot = ShotEvent::new(shooter, Tick(20), far + Vec3::Y, Vec3::Z).with_attack(Attack::Beam(Beam { ticks: 4 }));
    for verdict in run(&mut app, vec![shot], 6) {
        let evidence = verdict.unwrap_err().evidence;
        assert_eq!((evidence.origin, evidence.direction), (far + Vec3::Y, Vec3::Z));
    }
}

#[test]
fn a_cease_fire_of_all_ends_blows_and_beams() {
    let mut range = range();
    let shots = vec![
        ShotEvent { origin: Vec3::ZERO, ..blow(&range, Swing::arc(1.0, 0.5).lasting(9)) }.with_id(ShotId::local(0)),
        range.shot(Vec3::X * 12.5, 6.0).with_attack(Attack::Beam(Beam { ticks: 9 })).with_id(ShotId::local(1)),
    ];
    let mut verdicts = run(&mut range.app, shots, 3);
    range.app.world_mut().resource_mut::<LagCompensationConfig>().cease_fire = true;
    verdicts.extend(run(&mut range.app, vec![], 20));
    assert_eq!(verdicts.len(), 4, "three of the beam, one of the blow: {:?}", told(&verdicts));
}

#[test]
fn blows_and_beams_are_judged_alike_whatever_the_spawn_order() {
    let said = |order: &[u32]| {
        let mut app = TestApp::new(64.0);
        physics(&mut app);
        let mut rigs = [Entity::PLACEHOLDER; 8];
        for number in order {
            // Pairs in the same place.
            let place = Transform::from_xyz((number / 2) as f32 * 0.4 - 0.6, 0.0, 1.5);
            let rig = (Rig, RigId(u64::from(*number)), Hitbox::ball(0.3), place);
            rigs[*number as usize] = app.world_mut().spawn(rig).id();
        }
        let shooter = app.world_mut().spawn(Rig).id();
        app.run_to(Tick(19));
        let shots = (0..16).map(|n| {
            let direction = Quat::from_rotation_y(0.1 * n as f32 - 0.8) * Vec3::Z;
            let attack = match n % 3 {
                0 => Attack::Beam(Beam { ticks: 3 }),
                1 => Attack::Swing(Swing::arc(2.0, 0.4).lasting(3)),
                _ => Attack::Swing(Swing::thrust(1.5, 0.2).lasting(3)),
            };
            ShotEvent::new(shooter, Tick(20), Vec3::ZERO, direction).with_id(ShotId::local(n)).with_attack(attack)
        });
        let shots = shots.collect();
        let number = |entity| rigs.iter().position(|rig| *rig == entity);
        let said = |verdict: &Verdict| match verdict {
            Ok(hit) => (hit.shot.sequence, hit.part, number(hit.target), hit.hit.point.to_array().map(f32::to_bits)),
            Err(no) => (no.shot.sequence, no.part, None, [0; 3]),
        };
        run(&mut app, shots, 5).iter().map(said).collect::<Vec<_>>()
    };
    let expected = said(&[0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(expected.iter().filter(|said| said.2.is_some()).count() > 20);
    assert_eq!(said(&[7, 6, 5, 4, 3, 2, 1, 0]), expected);
    assert_eq!(said(&[3, 0, 6, 1, 5, 2, 7, 4]), expected);
}
