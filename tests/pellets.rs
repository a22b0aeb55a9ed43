//! One shot with many pellets: each gets its verdict, and together they are told by victim.

use bevy::{math::ops, prelude::*};
use bevy_hindsight::{
    Attack, Bullet, FireControl, HitBy, PelletOutcome, PelletPattern, RejectReason, TargetGroups, Tick, VolleyJudged,
    prelude::*,
    test_app::{TestApp, Verdict},
};

/// The volleys that were judged.
#[derive(Resource, Default)]
struct Volleys(Vec<VolleyJudged>);

/// An app at tick 99 with three runners at 8 m/s: balls that stand at z = 10 and x = T / 8 plus −2, 0 and 2.
fn range() -> (TestApp, Entity, [Entity; 3]) {
    let mut app = TestApp::new(64.0);
    app.init_resource::<Volleys>();
    app.add_observer(|volley: On<VolleyJudged>, mut volleys: ResMut<Volleys>| volleys.0.push(*volley));
    app.add_systems(FixedUpdate, |mut rigs: Query<&mut Transform, With<Hitbox>>| {
        for mut transform in &mut rigs {
            transform.translation.x += 0.125;
        }
    });
    let shooter = app.world_mut().spawn(Rig).id();
    let rigs = [(-2.0, Zone::Torso), (0.0, Zone::Head), (2.0, Zone::Torso)];
    let rigs = rigs.map(|(x, zone)| {
        let body = Hitbox::ball(0.5).in_zone(zone);
        app.world_mut().spawn((Rig, body, Transform::from_xyz(x, 0.0, 10.0))).id()
    });
    app.run_to(Tick(99));
    (app, shooter, rigs)
}

/// Eight pellets that pass z = 10 at these x, from the aim: five meet the last ball, two the middle one, and one nothing. The
/// right of who looks along Z is −X, and with a spread of one radian, places on the disc are angles.
fn eight(pellet: u32, _seed: u32) -> Vec2 {
    let x = [2.0, 1.0, 0.1, 2.2, 1.8, -0.2, 2.1, 1.9][pellet as usize];
    Vec2::new(-ops::atan2(x, 10.0), 0.0)
}

fn shot(shooter: Entity) -> ShotEvent {
    let view = ViewTime::before(Tick(100), 6.0);
    ShotEvent::new(shooter, Tick(100), Vec3::X * 11.75, Vec3::Z).seen_at(view)
}

fn pellets() -> Attack {
    Attack::Bullet(Bullet::default().with_pellets(PelletPattern::by_rule(8, 1.0, eight)))
}

fn judge(app: &mut TestApp, shot: ShotEvent) -> (Vec<Verdict>, VolleyJudged) {
    let verdicts = app.judge_all([shot]);
    let volley = app.world_mut().resource_mut::<Volleys>().0.pop().expect("a volley should be judged");
    (verdicts, volley)
}

#[test]
fn b60_pellets_are_told_by_victim_with_their_zones_and_none_is_lost() {
    let (mut app, shooter, [first, middle, last]) = range();
    let (verdicts, volley) = judge(&mut app, shot(shooter).with_attack(pellets()));
    assert_eq!(verdicts.len(), 8);
    let victims: Vec<_> = volley.victims().map(|victim| (victim.rig, victim.pellets())).collect();
    assert_eq!(victims, [(last, 5), (middle, 2)], "and none on {first}");
    assert_eq!((volley.missed(), volley.blocked(), volley.outcomes().len()), (1, 0, 8));
    let heads: Vec<_> = volley.victims().map(|victim| victim.pellets_in(Zone::Head)).collect();
    assert_eq!(heads, [0, 2]);
    let mut parts: Vec<u32> = verdicts
        .iter()
        .map(|verdict| match verdict {
            Ok(hit) => {
                let outcome = volley.outcomes()[hit.part as usize];
                assert!(matches!(outcome, PelletOutcome::Hit { rig, .. } if rig == hit.target));
                assert_eq!((hit.by, hit.evidence.rigs.iter().flatten().count()), (HitBy::Bullet, 2));
                hit.part
            }
            Err(rejection) => {
                assert_eq!(rejection.reason, RejectReason::Missed);
                rejection.part
            }
        })
        .collect();
    parts.sort_unstable();
    assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_pellet_gets_the_verdict_that_a_bullet_in_its_direction_would_get() {
    let (mut app, shooter, _) = range();
    let pattern = PelletPattern::cone(64, 0.25).seeded(3);
    let volley = shot(shooter).with_attack(Attack::Bullet(Bullet::default().with_pellets(pattern)));
    let (verdicts, _) = judge(&mut app, volley);
    let mut singly = range();
    let shots = pattern.directions(Dir3::Z).map(|direction| ShotEvent { direction: *direction, ..shot(singly.1) });
    let shots: Vec<_> = shots.collect();
    let single = singly.0.judge_all(shots);
    assert_eq!((verdicts.len(), single.len()), (64, 64));
    let places = |verdicts: &[Verdict]| -> Vec<_> {
        let hits = verdicts.iter().map(|verdict| verdict.as_ref().ok().map(|hit| (hit.target, hit.hit.point)));
        hits.collect()
    };
    assert_eq!(places(&verdicts), places(&single));
    assert!(places(&verdicts).iter().flatten().count() > 8);
}

#[test]
fn a_weapon_with_pellets_fires_them_for_one_round_and_by_the_number_of_the_shot() {
    let (mut app, shooter, _) = range();
    let pattern = PelletPattern::cone(8, 0.05);
    let weapon = FireControl::default().with_pellets(pattern).with_magazine(2, core::time::Duration::from_secs(1));
    app.world_mut().entity_mut(shooter).insert(weapon);
    let id = ShotId { connection: 0, sequence: 9 };
    let (verdicts, volley) = judge(&mut app, shot(shooter).with_id(id));
    assert_eq!((verdicts.len(), volley.shot), (8, id));
    let directions = |verdict: &Verdict| match verdict {
        Ok(hit) => hit.evidence.direction,
        Err(rejection) => rejection.evidence.direction,
    };
    let flown: Vec<_> = verdicts.iter().map(directions).collect();
    let expected: Vec<_> = pattern.seeded(9).directions(Dir3::Z).map(|direction| *direction).collect();
    assert_eq!(flown, expected);
    assert_eq!(app.world().get::<FireControl>(shooter).unwrap().ammunition(), Some(1));
}

#[test]
fn a_volley_that_is_refused_is_answered_once_and_as_a_whole() {
    let (mut app, shooter, _) = range();
    let wide = Attack::Bullet(Bullet::default().with_pellets(PelletPattern::cone(8, 0.5)));
    app.world_mut().entity_mut(shooter).insert(FireControl::default().with_pellets(PelletPattern::cone(8, 0.1)));
    let verdicts = app.judge_all([shot(shooter).with_attack(wide)]);
    let [Err(rejection)] = &verdicts[..] else { panic!("one rejection: {verdicts:?}") };
    assert_eq!((rejection.reason, rejection.part), (RejectReason::OutsideSpread, 0));
    assert!(app.world().resource::<Volleys>().0.is_empty());
}

/// Team mates are passed through, by a bit for each team.
#[test]
fn pellets_pass_through_rigs_that_the_shot_is_not_meant_for() {
    let (mut app, shooter, [_, middle, last]) = range();
    for (rig, team) in [(last, 1), (middle, 2)] {
        app.world_mut().entity_mut(rig).insert(TargetGroups(team));
    }
    let (_, volley) = judge(&mut app, shot(shooter).with_attack(pellets()).at_targets(!1));
    let victims: Vec<_> = volley.victims().map(|victim| (victim.rig, victim.pellets())).collect();
    assert_eq!((victims, volley.missed()), (vec![(middle, 2)], 6));
}
