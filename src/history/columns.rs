//! The `Transform`s of all hitboxes as they lie in the tables of the ECS.

use arrayvec::ArrayVec;
use bevy::{
    ecs::{entity::Entities, storage::TableId, system::SystemParam},
    math::Vec4,
    prelude::*,
};

use crate::{hitbox::Hitbox, pose::Pose};

/// Which tables hold hitboxes.
///
/// To look up entities one by one takes longer than all else that is done with them. Who knows in which row of which table an entity
/// was has nothing to do but to see that it is there still.
#[derive(SystemParam)]
pub(crate) struct Tables<'w, 's> {
    hitboxes: Query<'w, 's, (Entity, &'static Transform), With<Hitbox>>,
    entities: &'w Entities,
    /// Tables by their numbers. Those that come when no number is free have none, and their hitboxes are looked up.
    known: Local<'s, ArrayVec<TableId, MOST>>,
}

/// As many tables are looked at.
const MOST: usize = 32;

/// The rows of tables, by the number of the table.
pub(super) struct Columns<'a> {
    columns: ArrayVec<(&'a [Entity], &'a [Transform]), MOST>,
    entities: &'a Entities,
    known: &'a [TableId],
}

/// Where an entity is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Row {
    table: u32,
    row: u32,
}

/// Four transforms side by side.
pub(super) struct TransformGroup {
    pub(super) pose: Pose<Vec4>,
    /// The fourth number of each is nothing.
    pub(super) scales: [Vec4; 4],
}

impl Tables<'_, '_> {
    /// As they are now. If the ECS does not keep enabled entities in tables of their own, there is nothing to be seen.
    pub(super) fn columns(&mut self) -> Columns<'_> {
        let Self { hitboxes, entities, known } = self;
        let mut columns = ArrayVec::<_, MOST>::new();
        columns.extend(known.iter().map(|_| (&[][..], &[][..])));
        // First those that have a number: others may take the numbers of those of which nothing is left.
        for is_new in [false, true] {
            for (owners, transforms) in hitboxes.contiguous_iter().into_iter().flatten() {
                let Some((table, _)) = owners.first().and_then(|first| table_of(entities, *first)) else { continue };
                let number = known.iter().position(|known| *known == table);
                match number {
                    Some(number) => columns[number] = (owners, transforms),
                    None if !is_new => {}
                    None if known.try_push(table).is_ok() => columns.push((owners, transforms)),
                    None => {
                        if let Some(free) = columns.iter().position(|(owners, _)| owners.is_empty()) {
                            (known[free], columns[free]) = (table, (owners, transforms));
                        }
                    }
                }
            }
        }
        Columns { columns, entities, known }
    }
}

fn table_of(entities: &Entities, entity: Entity) -> Option<(TableId, u32)> {
    let location = entities.get(entity).ok()??;
    Some((location.table_id, location.table_row.index_u32()))
}

impl Columns<'_> {
    /// Where to look for an entity; [`Row::NOWHERE`] if it cannot be found here.
    pub(super) fn find(&self, entity: Entity) -> Row {
        let found = table_of(self.entities, entity).and_then(|(table, row)| {
            let number = self.known.iter().position(|known| *known == table)?;
            Some(Row { table: number as u32, row })
        });
        found.unwrap_or(Row::NOWHERE)
    }

    /// The transform of an entity, if that is where it was. No number of a table is trusted, as it may be another's by now.
    #[inline]
    pub(super) fn get(&self, row: Row, entity: Entity) -> Option<&Transform> {
        let (owners, transforms) = self.columns.get(row.table as usize)?;
        let (owner, transform) = (owners.get(row.row as usize)?, transforms.get(row.row as usize)?);
        (*owner == entity).then_some(transform)
    }

    /// Those of four, if all are where they were.
    #[inline]
    pub(super) fn get_four(&self, group: &[(Entity, Row); 4]) -> Option<TransformGroup> {
        let [a, b, c, d] = group;
        let get = |(entity, row): &(Entity, Row)| self.get(*row, *entity);
        let (a, b, c, d) = (get(a)?, get(b)?, get(c)?, get(d)?);
        let place = |transform: &Transform| transform.translation.extend(0.0);
        let rotation = |transform: &Transform| Vec4::from(transform.rotation);
        let scale = |transform: &Transform| transform.scale.extend(0.0);
        Some(TransformGroup {
            pose: Pose::of(
                [place(a), place(b), place(c), place(d)],
                [rotation(a), rotation(b), rotation(c), rotation(d)],
            ),
            scales: [scale(a), scale(b), scale(c), scale(d)],
        })
    }
}

impl Row {
    pub(super) const NOWHERE: Self = Self { table: u32::MAX, row: u32::MAX };
}

#[cfg(test)]
mod tests {
    use bevy::ecs::{entity_disabling::Disabled, system::RunSystemOnce};

    use super::*;

    #[derive(Component, Default)]
    struct Mark<const N: usize>;

    /// One hitbox for each set of marks, and so in a table of its own.
    fn hitboxes(world: &mut World) -> Vec<Entity> {
        let spawn = |set: u32| {
            let mut hitbox = world.spawn((Hitbox::ball(0.1), Transform::from_xyz(set as f32, 0.0, 0.0)));
            let marked = |number: u32| set & (1 << number) != 0;
            if marked(0) {
                hitbox.insert(Mark::<0>);
            }
            if marked(1) {
                hitbox.insert(Mark::<1>);
            }
            if marked(2) {
                hitbox.insert(Mark::<2>);
            }
            if marked(3) {
                hitbox.insert(Mark::<3>);
            }
            if marked(4) {
                hitbox.insert(Mark::<4>);
            }
            if marked(5) {
                hitbox.insert(Mark::<5>);
            }
            hitbox.id()
        };
        (0..64).map(spawn).collect()
    }

    #[test]
    fn hitboxes_are_found_in_as_many_tables_as_are_looked_at_and_in_no_wrong_one() {
        let mut world = World::new();
        let entities = hitboxes(&mut world);
        let found = world.run_system_once(move |mut tables: Tables| {
            let columns = tables.columns();
            let place = |entity: &Entity| Some(columns.get(columns.find(*entity), *entity)?.translation.x);
            entities.iter().map(place).collect::<Vec<_>>()
        });
        let found = found.expect("it runs");
        assert_eq!(found.iter().flatten().count(), MOST);
        assert!((0..64).zip(&found).all(|(set, place)| place.is_none_or(|place| place == set as f32)), "{found:?}");
    }

    #[test]
    fn tables_that_are_empty_make_room_for_others() {
        let mut world = World::new();
        let entities = hitboxes(&mut world);
        let count = entities.len();
        let found = world.register_system(|In(entities): In<Vec<Entity>>, mut tables: Tables| {
            let columns = tables.columns();
            let is_right = |entity: &&Entity| columns.get(columns.find(**entity), **entity).is_some();
            entities.iter().filter(is_right).count()
        });
        assert_eq!(world.run_system_with(found, entities.clone()).expect("it runs"), MOST);
        for entity in &entities[..MOST] {
            world.despawn(*entity);
        }
        let rest = entities[MOST..].to_vec();
        assert_eq!(world.run_system_with(found, rest).expect("it runs"), count - MOST);
    }

    #[test]
    fn who_has_moved_to_another_table_or_another_row_is_found_there_and_not_where_it_was() {
        let mut world = World::new();
        let [a, b, c] =
            [1.0, 2.0, 3.0].map(|x| world.spawn((Hitbox::ball(0.1), Transform::from_xyz(x, 0.0, 0.0))).id());
        let find = world.register_system(move |mut tables: Tables| {
            let columns = tables.columns();
            [a, b, c].map(|entity| columns.find(entity))
        });
        let get = world.register_system(move |In(rows): In<[Row; 3]>, mut tables: Tables| {
            let columns = tables.columns();
            let place = |(entity, row)| Some(columns.get(row, entity)?.translation.x);
            [(a, rows[0]), (b, rows[1]), (c, rows[2])].map(place)
        });
        let before = world.run_system(find).expect("it runs");
        assert_eq!(world.run_system_with(get, before).expect("it runs"), [Some(1.0), Some(2.0), Some(3.0)]);
        // The last one of the table takes the row of the one that goes.
        world.entity_mut(a).insert(Mark::<0>);
        assert_eq!(world.run_system_with(get, before).expect("it runs"), [None, Some(2.0), None]);
        let after = world.run_system(find).expect("it runs");
        assert_eq!(world.run_system_with(get, after).expect("it runs"), [Some(1.0), Some(2.0), Some(3.0)]);
        world.entity_mut(b).insert(Disabled);
        world.despawn(c);
        assert_eq!(world.run_system_with(get, after).expect("it runs"), [Some(1.0), None, None]);
    }
}
