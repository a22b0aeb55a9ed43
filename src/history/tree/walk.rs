//! The way through a tree of boxes, nearer ones first.

use arrayvec::ArrayVec;
use bevy::math::bounding::Aabb3d;

use super::{BOX, BoxTree, NONE, Node, WAITING, lanes};

/// What is held against the boxes of nodes.
pub(super) trait Probe {
    /// Whether boxes are looked at once more, one by one, when it is their turn.
    const LOOKS_TWICE: bool;

    /// One bit for each box of a node that may be met within `reach`, and where each of these is entered, which is not before 0.
    fn meets(&self, node: &Node, reach: f32, entries: &mut [f32; 8]) -> u32;

    /// Whether a box may still be met.
    fn may_meet(&self, bounds: Aabb3d) -> bool;
}

/// What is still to be looked at: a child, or in which lane of which node it is, and where it is entered. Nearer ones are less; of
/// equally near ones, that with the smaller number.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Waiting(u64);

impl BoxTree {
    /// What is known of the probe makes this fast, and so it is not called, but made part of its callers.
    #[inline(always)]
    pub(super) fn walk<P: Probe>(&self, probe: &P, range: f32, visit: &mut dyn FnMut(u32) -> f32) -> f32 {
        let mut reach = range;
        let mut waiting = ArrayVec::<Waiting, WAITING>::new();
        let mut number = 0;
        loop {
            let node = &self.nodes[number as usize];
            let first = waiting.len();
            let mut entries = [0.0; 8];
            for lane in lanes(probe.meets(node, reach, &mut entries)) {
                // The nearest one is taken next, and so comes last.
                let what = if P::LOOKS_TWICE { number << 3 | lane as u32 } else { node.children[lane % 8] };
                let child = Waiting::new(entries[lane % 8], what);
                let mut place = waiting.len();
                waiting.push(child);
                while place > first && waiting[place - 1] < child {
                    waiting[place] = waiting[place - 1];
                    place -= 1;
                }
                waiting[place] = child;
            }
            number = loop {
                let Some(next) = waiting.pop() else { return reach };
                if next.entry() > reach {
                    continue;
                }
                let mut child = next.what();
                if P::LOOKS_TWICE {
                    let (node, lane) = (&self.nodes[child as usize >> 3], child as usize % 8);
                    if !probe.may_meet(node.get(lane)) {
                        continue;
                    }
                    child = node.children[lane];
                }
                if child & BOX == 0 {
                    break child;
                }
                // What is free is met where the numbers of the ray are none.
                if child != NONE {
                    reach = visit(child & !BOX).min(range);
                }
            };
        }
    }
}

impl Waiting {
    /// For an entry that is not less than zero: the bits of such numbers are in the order of the numbers.
    fn new(entry: f32, what: u32) -> Self {
        Self(u64::from(entry.to_bits()) << 32 | u64::from(what))
    }

    fn entry(self) -> f32 {
        f32::from_bits((self.0 >> 32) as u32)
    }

    fn what(self) -> u32 {
        self.0 as u32
    }
}
