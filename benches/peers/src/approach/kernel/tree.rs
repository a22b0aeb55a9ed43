//! A tree of boxes, eight to a node, that a ray is tested against all at once.

use bevy::{
    math::{
        Vec3A,
        bounding::{Aabb3d, BoundingVolume},
    },
    prelude::*,
};
use wide::{CmpLe, f32x8};

/// Boxes of boxes; empty by default.
#[derive(Default)]
pub(super) struct Tree {
    /// Children come after their parents.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    /// The lower ends of the children along X, Y and Z, then the upper ones.
    ends: [[f32x8; 3]; 2],
    children: [u32; 8],
}

/// Marks the number of a box among those of nodes.
const LEAF: u32 = 1 << 31;
const NOTHING: u32 = u32::MAX;
/// More than seven for each of the deepest nodes of any scene here.
const STACK: usize = 128;

/// One by each coordinate, large but finite for 0.
pub(super) fn inverse(direction: Dir3) -> Vec3A {
    Vec3A::from(direction.map(|along| if along.abs() < 1e-12 { 1e12_f32.copysign(along) } else { along.recip() }))
}

impl Tree {
    /// The tree of these boxes, which it knows by their numbers.
    pub(super) fn new(boxes: &[Aabb3d]) -> Self {
        let mut tree = Self::default();
        let mut numbers: Vec<_> = (0..boxes.len() as u32).collect();
        if !numbers.is_empty() {
            tree.build(boxes, &mut numbers);
        }
        tree
    }

    fn build(&mut self, boxes: &[Aabb3d], numbers: &mut [u32]) -> u32 {
        let node = self.nodes.len();
        let nowhere = [[f32x8::splat(f32::INFINITY); 3], [f32x8::splat(f32::NEG_INFINITY); 3]];
        self.nodes.push(Node { ends: nowhere, children: [NOTHING; 8] });
        for (child, part) in eight_parts(boxes, numbers).into_iter().enumerate() {
            self.nodes[node].set(child, bounds(boxes, part));
            let number = if let [leaf] = part { LEAF | *leaf } else { self.build(boxes, part) };
            self.nodes[node].children[child] = number;
        }
        node as u32
    }

    /// Follows boxes that have moved, without changing what lies below what.
    pub(super) fn refit(&mut self, boxes: &[Aabb3d]) {
        for node in (0..self.nodes.len()).rev() {
            for child in 0..8 {
                let bounds = match self.nodes[node].children[child] {
                    NOTHING => continue,
                    leaf if leaf & LEAF != 0 => boxes[(leaf & !LEAF) as usize],
                    inner => self.nodes[inner as usize].bounds(),
                };
                self.nodes[node].set(child, bounds);
            }
        }
    }

    /// Shows the boxes that a ray enters within its reach, nearer ones mostly first. Each answers with the reach from there on.
    #[inline(always)]
    pub(super) fn traverse(&self, ray: Ray3d, mut reach: f32, mut visit: impl FnMut(u32, f32) -> f32) {
        if self.nodes.is_empty() {
            return;
        }
        let inverse = inverse(ray.direction).to_array();
        let origins = ray.origin.to_array().map(f32x8::splat);
        let inverses = inverse.map(f32x8::splat);
        // Which end a ray comes to first, along each axis.
        let first = inverse.map(|along| usize::from(along < 0.0));
        let mut stack = [(0.0_f32, 0_u32); STACK];
        let mut open = 1;
        while open > 0 {
            open -= 1;
            let (entry, number) = stack[open];
            if entry > reach {
                continue;
            }
            if number & LEAF != 0 {
                reach = visit(number & !LEAF, reach);
                continue;
            }
            let Node { ends, children } = &self.nodes[number as usize];
            let way = |end: usize, axis: usize| (ends[end][axis] - origins[axis]) * inverses[axis];
            let enter = way(first[0], 0).fast_max(way(first[1], 1)).fast_max(way(first[2], 2)).fast_max(f32x8::ZERO);
            let leave = way(1 - first[0], 0).fast_min(way(1 - first[1], 1)).fast_min(way(1 - first[2], 2));
            let mut entered = enter.cmp_le(leave.fast_min(f32x8::splat(reach))).move_mask() as u32;
            let entries = enter.as_array_ref();
            let bottom = open;
            while entered != 0 {
                let child = entered.trailing_zeros() as usize;
                entered &= entered - 1;
                // The nearest on top.
                let mut place = open;
                while place > bottom && stack[place - 1].0 < entries[child] {
                    stack[place] = stack[place - 1];
                    place -= 1;
                }
                stack[place] = (entries[child], children[child]);
                open += 1;
            }
        }
    }
}

impl Node {
    fn set(&mut self, child: usize, bounds: Aabb3d) {
        for axis in 0..3 {
            self.ends[0][axis].as_array_mut()[child] = bounds.min[axis];
            self.ends[1][axis].as_array_mut()[child] = bounds.max[axis];
        }
    }

    fn bounds(&self) -> Aabb3d {
        let [low, high] = &self.ends;
        let fold =
            |lanes: &f32x8, start: f32, f: fn(f32, f32) -> f32| lanes.as_array_ref().iter().copied().fold(start, f);
        Aabb3d {
            min: Vec3A::from_array(core::array::from_fn(|axis| fold(&low[axis], f32::INFINITY, f32::min))),
            max: Vec3A::from_array(core::array::from_fn(|axis| fold(&high[axis], f32::NEG_INFINITY, f32::max))),
        }
    }
}

fn bounds(boxes: &[Aabb3d], numbers: &[u32]) -> Aabb3d {
    let nothing = Aabb3d { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };
    numbers.iter().fold(nothing, |so_far, number| so_far.merge(&boxes[*number as usize]))
}

/// Splits the largest part again and again.
fn eight_parts<'n>(boxes: &[Aabb3d], numbers: &'n mut [u32]) -> Vec<&'n mut [u32]> {
    let mut parts = vec![numbers];
    while parts.len() < 8 {
        let size = |part: &[u32]| if part.len() > 1 { bounds(boxes, part).visible_area() } else { -1.0 };
        let sizes = parts.iter().map(|part| size(part)).enumerate();
        let Some((largest, _)) = sizes.filter(|(_, size)| *size >= 0.0).max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        let part = parts.swap_remove(largest);
        let middle = split(boxes, part);
        let (left, right) = part.split_at_mut(middle);
        parts.extend([left, right]);
    }
    parts
}

/// Sorts boxes along the axis on which they lie widest apart, and finds where the rays that enter either side test the fewest.
fn split(boxes: &[Aabb3d], numbers: &mut [u32]) -> usize {
    let place = |number: &u32| boxes[*number as usize].center();
    let [low, high] = [(Vec3A::INFINITY, Vec3A::min as fn(_, _) -> _), (Vec3A::NEG_INFINITY, Vec3A::max)]
        .map(|(start, f)| numbers.iter().map(place).fold(start, f));
    let axis = (high - low).max_position();
    numbers.sort_unstable_by(|a, b| place(a)[axis].total_cmp(&place(b)[axis]).then(a.cmp(b)));
    let area_from = |numbers: &mut dyn Iterator<Item = &u32>| {
        let nothing = Aabb3d { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };
        let grow = |so_far: &mut Aabb3d, number: &u32| {
            *so_far = so_far.merge(&boxes[*number as usize]);
            Some(so_far.visible_area())
        };
        numbers.scan(nothing, grow).collect::<Vec<_>>()
    };
    let left = area_from(&mut numbers.iter());
    let right = area_from(&mut numbers.iter().rev());
    let count = numbers.len();
    let cost = |middle: &usize| left[middle - 1] * *middle as f32 + right[count - middle - 1] * (count - middle) as f32;
    (1..count).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(shift: f32) -> Vec<Aabb3d> {
        let spread = |n: u32, k: f32| (n as f32 * 0.618_034 * k).fract() * 40.0;
        let place = |n| Vec3::new(spread(n, 1.0) + shift, spread(n, 2.3), spread(n, 3.7));
        (0..200).map(|n| Aabb3d::new(place(n), Vec3::splat(0.5 + spread(n, 5.1) / 20.0))).collect()
    }

    fn visited(tree: &Tree, ray: Ray3d) -> Vec<u32> {
        let mut found = Vec::new();
        tree.traverse(ray, 100.0, |number, reach| {
            found.push(number);
            reach
        });
        found.sort_unstable();
        found
    }

    #[test]
    fn a_ray_meets_the_boxes_that_it_enters_and_no_others() {
        let mut tree = Tree::new(&boxes(0.0));
        for shift in [0.0, 3.0] {
            let boxes = boxes(shift);
            tree.refit(&boxes);
            let mut met = 0;
            for n in 0..50 {
                let direction = Dir3::new(Vec3::new(1.0, 0.02 * n as f32 - 0.5, 0.3)).unwrap();
                let ray = Ray3d::new(Vec3::new(-5.0, 20.0, 10.0), direction);
                let is_entered = |bounds: &Aabb3d| {
                    let inverse = inverse(ray.direction);
                    let [low, high] = [bounds.min, bounds.max].map(|end| (end - Vec3A::from(ray.origin)) * inverse);
                    low.min(high).max_element().max(0.0) <= low.max(high).min_element().min(100.0)
                };
                let expected: Vec<_> = (0..).zip(&boxes).filter(|(_, b)| is_entered(b)).map(|(n, _)| n).collect();
                assert_eq!(visited(&tree, ray), expected);
                met += expected.len();
            }
            assert!(met > 20, "{met}");
        }
    }
}
