//! Random changes to hierarchies between ticks, against recordings that keep nothing of the tick before.

use bevy::{
    ecs::{entity_disabling::Disabled, query::Allow},
    prelude::*,
};
use proptest::prelude::*;

use super::{
    HistoryBuffer, RigPlan, forget_inserted, forget_removed,
    record::tests::{Node, nodes, spawn, world},
    record_history,
};
use crate::{
    Shape, Tick, ViewTime,
    hitbox::{ColliderOff, Hitbox, HitboxScale, Rig, Unhittable},
    time::CurrentTick,
};

/// What happens to a hierarchy between two ticks; entities by their numbers.
#[derive(Clone, Copy, Debug)]
enum Change {
    Move(usize, [f32; 3]),
    Grow(usize, f32),
    Reshape(usize, f32),
    Scale(usize, f32),
    /// Puts in or takes out one of its components.
    Toggle(usize, u8),
    Hang(usize, usize),
    Drop(usize),
    Despawn(usize),
    Break(usize),
}

/// A rig with all hitboxes on its children.
fn flat() -> impl Strategy<Value = Vec<Node>> {
    nodes().prop_map(|mut nodes| {
        for (index, (parent, is_rig, is_hitbox, is_uneven, ..)) in nodes.iter_mut().enumerate() {
            let is_root = index == 0;
            (*parent, *is_rig, *is_hitbox, *is_uneven) = (usize::from(!is_root), is_root, !is_root, false);
        }
        nodes
    })
}

fn changes() -> impl Strategy<Value = Change> {
    let number = || 0..24_usize;
    prop_oneof![
        4 => (number(), prop::array::uniform3(-3.0_f32..3.0)).prop_map(|(n, place)| Change::Move(n, place)),
        1 => (number(), 0.5_f32..2.0).prop_map(|(n, scale)| Change::Grow(n, scale)),
        1 => (number(), 0.1_f32..1.0).prop_map(|(n, radius)| Change::Reshape(n, radius)),
        1 => (number(), 0.5_f32..2.0).prop_map(|(n, scale)| Change::Scale(n, scale)),
        4 => (number(), 0_u8..8).prop_map(|(n, kind)| Change::Toggle(n, kind)),
        2 => (number(), number()).prop_map(|(n, parent)| Change::Hang(n, parent)),
        1 => number().prop_map(Change::Drop),
        1 => number().prop_map(Change::Despawn),
        1 => number().prop_map(Change::Break),
    ]
}

#[derive(Component)]
struct Mark;

fn toggle<C: Component>(world: &mut World, entity: Entity, component: C) {
    if world.entity(entity).contains::<C>() {
        world.entity_mut(entity).remove::<C>();
    } else {
        world.entity_mut(entity).insert(component);
    }
}

fn apply(world: &mut World, entities: &[Entity], change: Change) {
    let number = match change {
        Change::Move(n, _)
        | Change::Grow(n, _)
        | Change::Reshape(n, _)
        | Change::Scale(n, _)
        | Change::Toggle(n, _)
        | Change::Hang(n, _)
        | Change::Drop(n)
        | Change::Despawn(n)
        | Change::Break(n) => n,
    };
    let Some(entity) = entities.get(number).copied().filter(|entity| world.get_entity(*entity).is_ok()) else {
        return;
    };
    match change {
        Change::Move(_, place) => {
            if let Some(mut transform) = world.get_mut::<Transform>(entity) {
                transform.translation = place.into();
            }
        }
        Change::Grow(_, scale) => {
            if let Some(mut transform) = world.get_mut::<Transform>(entity) {
                transform.scale = Vec3::splat(scale);
            }
        }
        Change::Reshape(_, radius) => {
            if let Some(mut hitbox) = world.get_mut::<Hitbox>(entity) {
                hitbox.shape = Shape::Ball { radius };
            }
        }
        Change::Scale(_, scale) => {
            if let Some(mut own) = world.get_mut::<HitboxScale>(entity) {
                *own = HitboxScale::Absolute(Vec3::splat(scale));
            }
        }
        Change::Toggle(_, 0) => toggle(world, entity, Hitbox::ball(0.25)),
        Change::Toggle(_, 1) => toggle(world, entity, HitboxScale::Relative(Vec3::splat(1.5))),
        Change::Toggle(_, 2) => toggle(world, entity, Unhittable),
        Change::Toggle(_, 3) => toggle(world, entity, ColliderOff),
        Change::Toggle(_, 4) => toggle(world, entity, Rig),
        Change::Toggle(_, 5) => toggle(world, entity, Transform::from_xyz(1.0, 0.0, 0.0)),
        // Moves the entity to another table, and means nothing.
        Change::Toggle(_, 6) => toggle(world, entity, Mark),
        Change::Toggle(..) => toggle(world, entity, Disabled),
        Change::Hang(_, parent) => {
            let Some(parent) = entities.get(parent).filter(|parent| world.get_entity(**parent).is_ok()) else {
                return;
            };
            let mut above = Some(*parent);
            while let Some(next) = above.filter(|next| *next != entity) {
                above = world.get::<ChildOf>(next).map(ChildOf::parent);
            }
            // Nothing hangs on itself.
            if above.is_none() {
                world.entity_mut(entity).insert(ChildOf(*parent));
            }
        }
        Change::Drop(_) => {
            world.entity_mut(entity).remove::<ChildOf>();
        }
        Change::Despawn(_) => {
            world.despawn(entity);
        }
        Change::Break(_) => {
            if let Some(mut transform) = world.get_mut::<Transform>(entity) {
                transform.translation.x = f32::NAN;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// What is kept of a rig from one tick to the next makes no difference.
    #[test]
    fn whatever_changes_between_two_ticks_is_recorded_as_if_seen_for_the_first_time(
        nodes in prop_oneof![nodes(), flat()],
        script in prop::collection::vec(prop::collection::vec(changes(), 0..4), 1..12),
    ) {
        let mut worlds = [world(), world()];
        let entities = worlds.each_mut().map(|world| {
            world.add_observer(forget_inserted);
            world.add_observer(forget_removed);
            spawn(world, &nodes)
        });
        prop_assert_eq!(&entities[0], &entities[1]);
        let systems = worlds.each_mut().map(|world| world.register_system(record_history));
        for (tick, changes) in (0..).zip(&script) {
            for world in &mut worlds {
                changes.iter().for_each(|change| apply(world, &entities[0], *change));
                world.resource_mut::<CurrentTick>().0 = Tick(tick);
            }
            // The second one keeps nothing.
            let mut plans = worlds[1].query_filtered::<&mut RigPlan, Allow<Disabled>>();
            plans.iter_mut(&mut worlds[1]).for_each(|mut plan| plan.forget());
            let told = [0, 1].map(|number| {
                let world = &mut worlds[number];
                world.run_system(systems[number]).expect("it runs");
                let mut histories = world.query_filtered::<(Entity, &HistoryBuffer), With<Rig>>();
                let mut told: Vec<_> = histories.iter(world).filter_map(|(rig, history)| {
                    let sample = history.sample(ViewTime::new(Tick(tick) - 1, 0x8000)).or_else(|| history.sample(ViewTime::at(Tick(tick))))?;
                    let hitboxes = sample.hitboxes().collect::<Vec<_>>();
                    Some((rig, format!("{:?} {:?} {hitboxes:?}", sample.root(), sample.bounds())))
                }).collect();
                told.sort_unstable_by_key(|(rig, _)| *rig);
                told
            });
            prop_assert_eq!(&told[0], &told[1], "in tick {}", tick);
        }
    }
}
