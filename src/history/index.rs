//! Which histories a question must look at.

use bevy::{math::bounding::Aabb3d, prelude::*};

use super::tree::BoxTree;

/// A box for each of some histories, which holds all that is remembered there; in a tree.
///
/// The boxes are put in anew in each tick. As long as they come in the same order, the tree is only refitted.
#[derive(Debug, Default)]
pub(crate) struct BoxIndex {
    entities: Vec<Entity>,
    boxes: Vec<Aabb3d>,
    tree: BoxTree,
    /// How many have been put in so far.
    put: usize,
    /// How often the tree has been refitted; `None` if it must be built.
    refits: Option<u32>,
}

impl BoxIndex {
    /// Puts in the next history; returns its number, and whether another one had that the last time.
    pub(crate) fn put(&mut self, entity: Entity, bounds: Aabb3d) -> (usize, bool) {
        let number = self.put;
        let is_new = self.entities.get(number) != Some(&entity);
        if is_new {
            self.cut();
            self.entities.push(entity);
            self.boxes.push(bounds);
        } else {
            self.boxes[number] = bounds;
        }
        self.put += 1;
        (number, is_new)
    }

    /// All have been put in.
    pub(crate) fn finish(&mut self) {
        if self.put < self.entities.len() {
            self.cut();
        }
        self.put = 0;
        self.refits = self.refits.filter(|refits| *refits < BoxTree::MOST_REFITS).map(|refits| refits + 1);
        if self.refits.is_some() {
            let boxes = &self.boxes;
            self.tree.refit(|number| Some(boxes[number as usize]));
        } else {
            self.tree.build(&self.boxes, 0..self.boxes.len() as u32);
            self.refits = Some(0);
        }
    }

    /// From here on, others come than the last time.
    fn cut(&mut self) {
        self.entities.truncate(self.put);
        self.boxes.truncate(self.put);
        self.refits = None;
    }

    /// Whose history has this number.
    pub(crate) fn entity(&self, number: usize) -> Entity {
        self.entities[number]
    }

    pub(crate) fn tree(&self) -> &BoxTree {
        &self.tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: &BoxIndex) -> Vec<u32> {
        let mut found = Vec::new();
        index.visit_box(Aabb3d::new(Vec3::ZERO, Vec3::splat(10.0)), |number| {
            found.push(index.entity(number).index_u32());
        });
        found.sort_unstable();
        found
    }

    #[test]
    fn those_who_come_and_go_and_move_are_followed() {
        let mut index = BoxIndex::default();
        let mut fill = |entries: &[(u32, f32)]| {
            for (number, x) in entries {
                let entity = Entity::from_raw_u32(*number).expect("it is small");
                index.put(entity, Aabb3d::new(Vec3::X * *x, Vec3::ONE));
            }
            index.finish();
            found(&index)
        };
        assert_eq!(fill(&[(1, 0.0), (2, 50.0), (3, 5.0)]), [1, 3]);
        assert_eq!(fill(&[(1, 50.0), (2, 5.0), (3, 5.0)]), [2, 3], "they have moved");
        assert_eq!(fill(&[(1, 0.0), (4, 1.0), (3, 5.0)]), [1, 3, 4], "one is another");
        assert_eq!(fill(&[(1, 0.0)]), [1], "two have gone");
        assert!(fill(&[]).is_empty());
        assert_eq!(fill(&[(9, 2.0), (1, 0.0)]), [1, 9]);
    }
}
