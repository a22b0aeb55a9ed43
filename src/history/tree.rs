//! Boxes in a tree, eight to a node: a look at a few of them tells what a ray cannot meet.

mod beam;
mod frustum;
mod walk;

use arrayvec::ArrayVec;
use bevy::{
    math::{Vec3A, Vec4, bounding::Aabb3d},
    prelude::*,
};

use beam::BeamProbe;
use frustum::FrustumProbe;

pub(crate) use beam::Beam;
pub(crate) use frustum::Frustum;

/// How deep a tree may be: its builder sees to it, and a walk needs no more room than follows from it.
const DEEPEST: usize = 13;
/// At each level of a walk, seven children wait while the eighth is looked at.
const WAITING: usize = 7 * DEEPEST + 8;
/// What stands before the number of a child that is a box, and no node.
const BOX: u32 = 1 << 31;
const NONE: u32 = u32::MAX;
/// Beyond any world, and its square is still a number.
const EDGE: f32 = 1e15;

/// Boxes in a tree, by their numbers.
///
/// What it leaves out is not met; what it shows need not be. Its shape follows from the boxes with which it was built. When they
/// move, it stays right as long as it is refitted, and only grows slower the further they get from where they were.
#[derive(Debug, Default)]
pub(crate) struct BoxTree {
    /// Children come after their parents.
    nodes: Vec<Node>,
    /// The numbers of all boxes in the order of the tree, kept for its memory.
    order: Vec<u32>,
    /// What holds all of them; nothing yet.
    bounds: Option<Aabb3d>,
}

/// Eight boxes side by side, four to a register.
#[derive(Clone, Debug)]
struct Node {
    /// The three coordinates of the least corners, and then of the greatest ones. What is free is [`BoxTree::EMPTY`].
    planes: [[Vec4; 2]; 6],
    children: [u32; 8],
}

impl BoxTree {
    /// What nothing meets.
    pub(crate) const EMPTY: Aabb3d = Aabb3d { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };
    /// After so many refits, a tree of what moves should be built anew: those who walk drift apart slowly.
    pub(crate) const MOST_REFITS: u32 = 64;

    /// Forgets all, and takes in the boxes of these numbers.
    pub(crate) fn build(&mut self, box_of: impl Fn(u32) -> Aabb3d, numbers: impl IntoIterator<Item = u32>) {
        self.nodes.clear();
        self.order.clear();
        self.order.extend(numbers);
        if !self.order.is_empty() {
            let mut order = core::mem::take(&mut self.order);
            self.build_node(&|number| tame(box_of(number)), &mut order, 0);
            self.order = order;
        }
        self.bounds = self.nodes.first().map(Node::bounds);
    }

    /// Takes in the boxes of another tree, in the same order.
    pub(crate) fn copy_order(&mut self, other: &Self) {
        self.nodes.clone_from(&other.nodes);
        self.order.clone_from(&other.order);
        self.bounds = other.bounds;
    }

    /// Follows boxes that have moved; drops those of which there is none any more.
    pub(crate) fn refit(&mut self, box_of: impl Fn(u32) -> Option<Aabb3d>) {
        for index in (0..self.nodes.len()).rev() {
            for lane in 0..8 {
                let bounds = match self.nodes[index].children[lane] {
                    NONE => continue,
                    child if child & BOX != 0 => match box_of(child & !BOX) {
                        Some(bounds) => tame(bounds),
                        None => {
                            self.nodes[index].children[lane] = NONE;
                            Self::EMPTY
                        }
                    },
                    child => self.nodes[child as usize].bounds(),
                };
                self.nodes[index].set(lane, bounds);
            }
        }
        self.bounds = self.nodes.first().map(Node::bounds);
    }

    fn build_node(&mut self, box_of: &impl Fn(u32) -> Aabb3d, numbers: &mut [u32], depth: usize) -> u32 {
        // Uneven parts fit the boxes better, even ones make sure that the tree does not grow too deep.
        let even = numbers.len() > 1 << (3 * (DEEPEST - 1 - depth)).min(30);
        let mut ends = [0; 9];
        let mut bounds = [BoxTree::EMPTY; 8];
        (ends[1], bounds[0]) = (numbers.len(), merge_all(box_of, numbers));
        let mut parts = 1;
        while parts < 8 {
            let len = |part: usize| ends[part + 1] - ends[part];
            let size = |part: usize| if even { len(part) as f32 } else { surface(bounds[part]) };
            let largest = (0..parts).filter(|part| len(*part) > 1).max_by(|a, b| size(*a).total_cmp(&size(*b)));
            let Some(part) = largest else { break };
            let (from, to) = (ends[part], ends[part + 1]);
            let middle = from + split(box_of, &mut numbers[from..to], even);
            ends.copy_within(part + 1..=parts, part + 2);
            bounds.copy_within(part..parts, part + 1);
            ends[part + 1] = middle;
            bounds[part] = merge_all(box_of, &numbers[from..middle]);
            bounds[part + 1] = merge_all(box_of, &numbers[middle..to]);
            parts += 1;
        }
        let index = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        for part in 0..parts {
            let numbers = &mut numbers[ends[part]..ends[part + 1]];
            let child =
                if let [number] = numbers { BOX | *number } else { self.build_node(box_of, numbers, depth + 1) };
            self.nodes[index].children[part] = child;
            self.nodes[index].set(part, bounds[part]);
        }
        index as u32
    }
}

// Looking for boxes.
impl BoxTree {
    /// Shows the boxes within a beam, nearer ones sooner, as far as `visit` says that it is still worth it; returns how far that is in
    /// the end.
    ///
    /// All callers share one piece of code, so that this is found in the caches of the processor: hence `dyn`.
    #[inline(never)]
    pub(crate) fn visit_beam(&self, beam: Beam, visit: &mut dyn FnMut(u32) -> f32) -> f32 {
        let Some(bounds) = self.bounds else { return beam.range };
        if beam.slope > 0.0 {
            self.walk(&BeamProbe::<true>::new(beam, bounds), beam.range, visit)
        } else {
            self.walk(&BeamProbe::<false>::new(beam, bounds), beam.range, visit)
        }
    }

    /// The same for what is shared by several rays, without what lies in boxes that are not `near`: that is asked of those within.
    #[inline(never)]
    pub(crate) fn visit_frustum(
        &self,
        frustum: &Frustum,
        range: f32,
        margin: f32,
        near: &dyn Fn(Aabb3d) -> bool,
        visit: &mut dyn FnMut(u32) -> f32,
    ) -> f32 {
        let Some(bounds) = self.bounds else { return range };
        self.walk(&FrustumProbe::new(frustum, range, margin, bounds, near), range, visit)
    }

    /// Shows the boxes that meet another one.
    pub(crate) fn visit_box(&self, met: Aabb3d, mut visit: impl FnMut(u32)) {
        let mut waiting = ArrayVec::<u32, WAITING>::new();
        waiting.extend(self.bounds.map(|_| 0));
        while let Some(node) = waiting.pop() {
            let node = &self.nodes[node as usize];
            for half in 0..2 {
                let meets = |axis: usize| {
                    let above = node.planes[axis][half].cmple(Vec4::splat(met.max[axis]));
                    above & node.planes[axis + 3][half].cmpge(Vec4::splat(met.min[axis]))
                };
                for lane in lanes((meets(0) & meets(1) & meets(2)).bitmask()) {
                    match node.children[4 * half + lane] {
                        // All that is free lies within a box without end.
                        NONE => {}
                        child if child & BOX != 0 => visit(child & !BOX),
                        child => waiting.push(child),
                    }
                }
            }
        }
    }
}

impl Node {
    const EMPTY: Self = Self {
        planes: {
            let (least, greatest) = ([Vec4::INFINITY; 2], [Vec4::NEG_INFINITY; 2]);
            [least, least, least, greatest, greatest, greatest]
        },
        children: [NONE; 8],
    };

    fn set(&mut self, lane: usize, bounds: Aabb3d) {
        for axis in 0..3 {
            self.planes[axis][lane / 4][lane % 4] = bounds.min[axis];
            self.planes[axis + 3][lane / 4][lane % 4] = bounds.max[axis];
        }
    }

    #[inline]
    fn get(&self, lane: usize) -> Aabb3d {
        let plane = |axis: usize| self.planes[axis][lane / 4][lane % 4];
        Aabb3d { min: Vec3A::new(plane(0), plane(1), plane(2)), max: Vec3A::new(plane(3), plane(4), plane(5)) }
    }

    /// What holds all of its boxes.
    fn bounds(&self) -> Aabb3d {
        let least = |axis: usize| self.planes[axis][0].min(self.planes[axis][1]).min_element();
        let greatest = |axis: usize| self.planes[axis][0].max(self.planes[axis][1]).max_element();
        Aabb3d { min: Vec3A::new(least(0), least(1), least(2)), max: Vec3A::new(greatest(3), greatest(4), greatest(5)) }
    }
}

/// By how much boxes must grow for rays of this range: rounding in `f32` grows with the distance, and this is more than it can be.
#[inline]
fn rounding(origin: Vec3, range: f32, bounds: Aabb3d) -> f32 {
    let farthest = (bounds.min - Vec3A::from(origin)).abs().max((bounds.max - Vec3A::from(origin)).abs());
    1e-3 + 2e-5 * farthest.length().min(range) + 1e-6 * origin.abs().max_element()
}

/// What holds for X, Y and Z. (The compiler leaves `map` of arrays out of line, and calls it.)
#[inline(always)]
pub(super) fn each_axis<T>(of: impl Fn(usize) -> T) -> [T; 3] {
    [of(0), of(1), of(2)]
}

/// The numbers of the bits that are set.
pub(super) fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(lane as usize)
    })
}

/// The box without numbers that are none: those count as all there are. An empty box stays empty.
fn tame(Aabb3d { min, max }: Aabb3d) -> Aabb3d {
    let edge = Vec3A::splat(EDGE);
    // What is not a number is neither more nor less than another.
    Aabb3d { min: Vec3A::select(min.cmpge(-edge), min, -edge), max: Vec3A::select(max.cmple(edge), max, edge) }
}

fn merge(a: Aabb3d, b: Aabb3d) -> Aabb3d {
    Aabb3d { min: a.min.min(b.min), max: a.max.max(b.max) }
}

fn merge_all(box_of: &impl Fn(u32) -> Aabb3d, numbers: &[u32]) -> Aabb3d {
    numbers.iter().fold(BoxTree::EMPTY, |so_far, number| merge(so_far, box_of(*number)))
}

/// Half the surface of a box: a ray at random meets it in proportion to that.
fn surface(bounds: Aabb3d) -> f32 {
    let size = (bounds.max - bounds.min).max(Vec3A::ZERO);
    size.x * size.y + size.y * size.z + size.z * size.x
}

/// Twice the middle of a box.
fn middle(bounds: Aabb3d) -> Vec3A {
    let middle = bounds.min + bounds.max;
    if middle.is_finite() { middle } else { Vec3A::ZERO }
}

/// Divides numbers of boxes into two parts that meet as few rays as they can, or into even ones; returns the length of the first,
/// which is neither nothing nor all.
fn split(box_of: &impl Fn(u32) -> Aabb3d, numbers: &mut [u32], even: bool) -> usize {
    const BINS: usize = 12;
    let middle_of = |number: u32| middle(box_of(number));
    let middles = numbers.iter().fold(BoxTree::EMPTY, |Aabb3d { min, max }, number| {
        let middle = middle_of(*number);
        Aabb3d { min: min.min(middle), max: max.max(middle) }
    });
    let size = middles.max - middles.min;
    let axis = Vec3::from(size).max_position();
    let half = numbers.len() / 2;
    if even || size[axis] <= 0.0 {
        numbers.select_nth_unstable_by(half, |a, b| middle_of(*a)[axis].total_cmp(&middle_of(*b)[axis]).then(a.cmp(b)));
        return half;
    }
    // A cast rounds down, and no bin lies beyond the last one.
    let bin_of = |number: u32| {
        let part = (middle_of(number)[axis] - middles.min[axis]) / size[axis];
        ((part * BINS as f32) as usize).min(BINS - 1)
    };
    let mut bins = [(BoxTree::EMPTY, 0_usize); BINS];
    for number in numbers.iter() {
        let (bounds, count) = &mut bins[bin_of(*number)];
        (*bounds, *count) = (merge(*bounds, box_of(*number)), *count + 1);
    }
    let cost = |bins: &[(Aabb3d, usize)]| {
        let (bounds, count) = bins
            .iter()
            .fold((BoxTree::EMPTY, 0), |(so_far, sum), (bounds, count)| (merge(so_far, *bounds), sum + count));
        surface(bounds) * count as f32
    };
    let total = |end: usize| cost(&bins[..end]) + cost(&bins[end..]);
    let end = (1..BINS).min_by(|a, b| total(*a).total_cmp(&total(*b))).unwrap_or(1);
    // The least and the greatest middle lie in the first and the last bin: neither part is empty.
    let mut first = 0;
    for index in 0..numbers.len() {
        if bin_of(numbers[index]) < end {
            numbers.swap(index, first);
            first += 1;
        }
    }
    if first == 0 || first == numbers.len() { half } else { first }
}

#[cfg(test)]
pub(super) mod tests {
    use bevy::math::{bounding::IntersectsVolume, ops};
    use proptest::prelude::*;

    use super::*;

    pub(super) fn boxes() -> impl Strategy<Value = Vec<Aabb3d>> {
        let places = prop::array::uniform3(prop_oneof![-50.0_f32..50.0, Just(0.0)]);
        let sizes = prop::array::uniform3(prop_oneof![4 => 0.0_f32..2.0, 1 => 0.0_f32..60.0]);
        let one = (places, sizes).prop_map(|(place, size)| Aabb3d::new(Vec3::from(place), Vec3::from(size)));
        prop::collection::vec(one, 0..300)
    }

    fn beams() -> impl Strategy<Value = Beam> {
        let origin = prop::array::uniform3(-60.0_f32..60.0);
        let direction = prop::array::uniform3(prop_oneof![4 => -1.0_f32..1.0, 1 => Just(0.0), 1 => Just(-0.0)]);
        (origin, direction, 0.0_f32..150.0, 0.0_f32..2.0, prop_oneof![Just(0.0), 0.0_f32..0.5]).prop_map(
            |(origin, direction, range, margin, slope)| {
                let direction = Dir3::new(direction.into()).unwrap_or(Dir3::X);
                Beam { ray: Ray3d::new(origin.into(), direction), range, margin, slope }
            },
        )
    }

    /// Walks along the beam, and tells whether the point of the box that is nearest then lies in it.
    fn meets(beam: &Beam, bounds: Aabb3d) -> bool {
        let Beam { ray, range, margin, slope } = *beam;
        (0..=1_000).any(|step| {
            let walker = Vec3A::from(ray.get_point(range * step as f32 / 1_000.0));
            let nearest = walker.clamp(bounds.min, bounds.max);
            let along = (nearest - Vec3A::from(ray.origin)).dot(Vec3A::from(*ray.direction)).clamp(0.0, range);
            nearest.distance(ray.get_point(along).into()) <= margin + slope * along
        })
    }

    fn visited(tree: &BoxTree, beam: Beam) -> Vec<u32> {
        let mut found = Vec::new();
        tree.visit_beam(beam, &mut |number| {
            found.push(number);
            f32::INFINITY
        });
        found
    }

    fn check(tree: &BoxTree, boxes: &[Aabb3d], beam: Beam) -> Result<(), TestCaseError> {
        let found = visited(tree, beam);
        for (number, bounds) in boxes.iter().enumerate() {
            prop_assert!(!meets(&beam, *bounds) || found.contains(&(number as u32)), "{number} of {found:?}");
            prop_assert!(found.iter().filter(|found| **found == number as u32).count() <= 1, "shown twice");
        }
        let room = Aabb3d::new(beam.ray.origin, Vec3::splat(10.0));
        let mut met = Vec::new();
        tree.visit_box(room, |number| met.push(number as usize));
        met.sort_unstable();
        let expected: Vec<_> = (0..boxes.len()).filter(|number| room.intersects(&boxes[*number])).collect();
        prop_assert_eq!(met, expected);
        Ok(())
    }

    proptest! {
        #[test]
        fn nothing_that_a_beam_meets_is_left_out(before in boxes(), moves in boxes(), beam in beams()) {
            let mut tree = BoxTree::default();
            tree.build(|number| before[number as usize], 0..before.len() as u32);
            check(&tree, &before, beam)?;
            let after: Vec<_> = before.iter().zip(moves.iter().cycle()).map(|(_, moved)| *moved).collect();
            if after.len() == before.len() {
                tree.refit(|number| Some(after[number as usize]));
                check(&tree, &after, beam)?;
            }
        }
    }

    /// `Transform::forward` is such a direction.
    #[test]
    fn a_ray_along_negative_zeros_meets_what_lies_before_it() {
        let boxes: Vec<_> = (1..40).map(|n| Aabb3d::new(Vec3::NEG_Z * 5.0 * n as f32, Vec3::splat(2.0))).collect();
        let mut tree = BoxTree::default();
        tree.build(|number| boxes[number as usize], 0..boxes.len() as u32);
        let beam = Beam { ray: Ray3d::new(Vec3::ZERO, -Dir3::Z), range: 1e3, margin: 0.0, slope: 0.0 };
        assert_eq!(visited(&tree, beam).len(), boxes.len());
    }

    #[test]
    fn rays_without_numbers_show_boxes_only() {
        for count in [0, 1, 9] {
            let mut tree = BoxTree::default();
            for bounds in [BoxTree::EMPTY, Aabb3d::new(Vec3::ONE, Vec3::ONE)] {
                tree.build(|_| bounds, 0..count);
                for (origin, range) in
                    [(Vec3::NAN, 9.0), (Vec3::INFINITY, 9.0), (Vec3::ZERO, f32::INFINITY), (Vec3::ZERO, f32::NAN)]
                {
                    for slope in [0.0, 0.5] {
                        let beam = Beam { ray: Ray3d::new(origin, Dir3::X), range, margin: 0.0, slope };
                        assert!(visited(&tree, beam).iter().all(|number| *number < count), "{beam:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_walk_ends_where_it_is_not_worth_it_any_more() {
        let row: Vec<_> = (0..100).map(|n| Aabb3d::new(Vec3::Z * (3.0 * n as f32 + 5.0), Vec3::splat(0.5))).collect();
        let mut tree = BoxTree::default();
        tree.build(|number| row[number as usize], 0..row.len() as u32);
        let beam = Beam { ray: Ray3d::new(Vec3::ZERO, Dir3::Z), range: 1e3, margin: 0.0, slope: 0.0 };
        let mut found = Vec::new();
        tree.visit_beam(beam, &mut |number| {
            found.push(number);
            10.0
        });
        assert_eq!(found, [0, 1]);
    }

    #[test]
    fn boxes_without_end_or_number_are_always_met_and_empty_ones_never() {
        let nowhere = Aabb3d { min: Vec3A::NAN, max: Vec3A::NAN };
        let everywhere = Aabb3d { min: Vec3A::NEG_INFINITY, max: Vec3A::INFINITY };
        let mut boxes = vec![nowhere, everywhere, BoxTree::EMPTY];
        boxes.extend((0..30).map(|n| Aabb3d::new(Vec3::X * n as f32, Vec3::splat(0.1))));
        let mut tree = BoxTree::default();
        for rebuild in [true, false] {
            if rebuild {
                tree.build(|number| boxes[number as usize], 0..boxes.len() as u32);
            } else {
                tree.refit(|number| Some(boxes[number as usize]));
            }
            let beam = Beam { ray: Ray3d::new(Vec3::Y * 7.0, Dir3::Z), range: 50.0, margin: 0.0, slope: 0.0 };
            let mut found = visited(&tree, beam);
            found.sort_unstable();
            assert_eq!(found, [0, 1]);
            let mut all = 0;
            tree.visit_box(everywhere, |_| all += 1);
            assert!((32..=33).contains(&all), "all but perhaps the empty one: {all}");
        }
    }

    /// Each box twice as far off and as large as the one before: the best parts are as uneven as can be.
    #[test]
    fn uneven_boxes_do_not_make_a_tree_too_deep() {
        let boxes: Vec<_> = (0..3_000)
            .map(|n| {
                let size = ops::exp2(-((n % 100) as f32));
                Aabb3d::new(Vec3::X * size * 1e9, Vec3::splat(size))
            })
            .collect();
        let mut tree = BoxTree::default();
        tree.build(|number| boxes[number as usize], 0..boxes.len() as u32);
        let beam = Beam { ray: Ray3d::new(Vec3::ZERO, Dir3::X), range: 1e12, margin: 10.0, slope: 0.0 };
        assert_eq!(visited(&tree, beam).len(), 3_000);
    }
}
