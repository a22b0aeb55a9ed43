//! Several rays from one point against boxes, as one.

use bevy::{
    math::{Vec4, bounding::Aabb3d},
    prelude::*,
};

use super::{Node, rounding, walk::Probe};

/// What lies between several rays from one point: a pyramid along the axis that they go along most. Boxes count as met that lie above
/// and beside it at different places, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frustum {
    origin: Vec3,
    /// That axis, and 1 or -1 for the way along it.
    ahead: usize,
    sign: f32,
    /// For each of the next two axes: how far any ray gets along it for each metre ahead, at least and at most.
    slopes: [(f32, f32); 2],
    /// The metres along any ray for each metre ahead, at least.
    stretch: f32,
}

impl Frustum {
    /// Rays must get ahead by at least so much of their way.
    const LEAST_AHEAD: f32 = 0.25;

    /// `None` if the rays do not all go the same way.
    pub(crate) fn new(origin: Vec3, directions: impl Iterator<Item = Dir3> + Clone) -> Option<Self> {
        let sum: Vec3 = directions.clone().map(Vec3::from).sum();
        let ahead = sum.abs().max_position();
        let sign = 1_f32.copysign(sum[ahead]);
        let slope_along = |axis: usize| {
            let slopes = directions.clone().map(|direction| direction[axis] / (sign * direction[ahead]));
            slopes.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), slope| (least.min(slope), most.max(slope)))
        };
        let (least, most) = directions.clone().fold((f32::INFINITY, 0.0_f32), |(least, most), direction| {
            let along = sign * direction[ahead];
            (least.min(along), most.max(along))
        });
        let slopes = [1, 2].map(|step| slope_along((ahead + step) % 3));
        (least >= Self::LEAST_AHEAD).then(|| Self { origin, ahead, sign, slopes, stretch: most.recip() })
    }
}

/// A frustum on its way through a tree.
pub(super) struct FrustumProbe<'a> {
    /// The planes that are met first and last along the axis, and from where they are measured.
    near: (usize, Vec4),
    far: (usize, Vec4),
    sign: Vec4,
    stretch: Vec4,
    sides: [Side; 2],
    is_near: &'a dyn Fn(Aabb3d) -> bool,
}

/// The two flanks along an axis.
struct Side {
    axis: usize,
    least: Vec4,
    most: Vec4,
    /// From where the lesser and the greater plane of a box are measured.
    low_at: Vec4,
    high_at: Vec4,
}

impl<'a> FrustumProbe<'a> {
    pub(super) fn new(
        frustum: &Frustum,
        range: f32,
        margin: f32,
        bounds: Aabb3d,
        is_near: &'a dyn Fn(Aabb3d) -> bool,
    ) -> Self {
        let Frustum { origin, sign, slopes, stretch, .. } = *frustum;
        // So that the compiler knows, too.
        let ahead = frustum.ahead % 3;
        let margin = margin + rounding(origin, range, bounds);
        let (first, last) = if sign > 0.0 { (ahead, ahead + 3) } else { (ahead + 3, ahead) };
        Self {
            near: (first, Vec4::splat(origin[ahead] + sign * margin)),
            far: (last, Vec4::splat(origin[ahead] - sign * margin)),
            sign: Vec4::splat(sign),
            stretch: Vec4::splat(stretch),
            sides: [1, 2].map(|step| {
                let (axis, (least, most)) = ((ahead + step) % 3, slopes[step - 1]);
                Side {
                    axis,
                    least: Vec4::splat(least),
                    most: Vec4::splat(most),
                    low_at: Vec4::splat(origin[axis] + margin),
                    high_at: Vec4::splat(origin[axis] - margin),
                }
            }),
            is_near,
        }
    }
}

impl Probe for FrustumProbe<'_> {
    const LOOKS_TWICE: bool = true;

    #[inline(always)]
    fn meets(&self, node: &Node, reach: f32, entries: &mut [f32; 8]) -> u32 {
        let mut met = 0;
        for half in 0..2 {
            let plane = |index: usize| node.planes[index][half];
            // How far ahead the box begins and ends.
            let from = ((plane(self.near.0) - self.near.1) * self.sign).max(Vec4::ZERO);
            let to = (plane(self.far.0) - self.far.1) * self.sign;
            let lies_within = |side: &Side| {
                let low = plane(side.axis) - side.low_at;
                let high = plane(side.axis + 3) - side.high_at;
                // As far to the sides as any ray gets in between.
                let most = (from * side.most).max(to * side.most);
                let least = (from * side.least).min(to * side.least);
                low.cmple(most) & high.cmpge(least)
            };
            let enters = from * self.stretch;
            let is_ahead = to.cmpge(Vec4::ZERO) & enters.cmple(Vec4::splat(reach));
            met |= (is_ahead & lies_within(&self.sides[0]) & lies_within(&self.sides[1])).bitmask() << (4 * half);
            enters.write_to_slice(&mut entries[4 * half..]);
        }
        met
    }

    #[inline]
    fn may_meet(&self, bounds: Aabb3d) -> bool {
        (self.is_near)(bounds)
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec3A;
    use proptest::prelude::*;

    use super::{
        super::{BoxTree, tests::boxes},
        *,
    };

    fn visited(tree: &BoxTree, frustum: &Frustum, range: f32, margin: f32) -> Vec<u32> {
        let mut found = Vec::new();
        tree.visit_frustum(frustum, range, margin, &|_| true, &mut |number| {
            found.push(number);
            f32::INFINITY
        });
        found
    }

    /// Around an axis or some other direction.
    fn directions() -> impl Strategy<Value = Vec<Dir3>> {
        let axes = prop::sample::select(vec![Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z]);
        let any = prop::array::uniform3(-1.0_f32..1.0).prop_map(Vec3::from);
        let aside = prop::array::uniform3(prop_oneof![4 => -0.4_f32..0.4, 1 => Just(0.0)]).prop_map(Vec3::from);
        (prop_oneof![axes, any], prop::collection::vec(aside, 1..20)).prop_map(|(aim, aside)| {
            let direction = |aside: &Vec3| Dir3::new(aim.normalize_or(Vec3::X) + *aside).unwrap_or(Dir3::X);
            aside.iter().map(direction).collect()
        })
    }

    proptest! {
        #[test]
        fn nothing_that_a_ray_of_a_frustum_meets_is_left_out(
            boxes in boxes(),
            origin in prop::array::uniform3(-60.0_f32..60.0),
            directions in directions(),
            range in 0.0_f32..150.0,
            margin in prop_oneof![Just(0.0), 0.0_f32..2.0],
        ) {
            let mut tree = BoxTree::default();
            tree.build(|number| boxes[number as usize], 0..boxes.len() as u32);
            let Some(frustum) = Frustum::new(origin.into(), directions.iter().copied()) else { return Ok(()) };
            let found = visited(&tree, &frustum, range, margin);
            for direction in directions {
                let ray = Ray3d::new(origin.into(), direction);
                for (number, bounds) in boxes.iter().enumerate() {
                    let grown = Aabb3d { min: bounds.min - 0.999 * margin, max: bounds.max + 0.999 * margin };
                    let meets = (0..=1_000).any(|step| {
                        let point = Vec3A::from(ray.get_point(range * step as f32 / 1_000.0));
                        point.clamp(grown.min, grown.max) == point
                    });
                    prop_assert!(!meets || found.contains(&(number as u32)), "{number} of {found:?}, {ray:?}");
                }
            }
        }
    }

    #[test]
    fn rays_that_go_all_ways_have_no_frustum() {
        let origin = Vec3::ZERO;
        assert!(Frustum::new(origin, [Dir3::X, Dir3::NEG_X].into_iter()).is_none());
        assert!(Frustum::new(origin, [Dir3::X, Dir3::Y].into_iter()).is_none());
        assert!(Frustum::new(origin, [Dir3::X].into_iter()).is_some());
    }

    #[test]
    fn a_walk_asks_whether_boxes_are_near_and_ends_where_it_is_not_worth_it() {
        let row: Vec<_> = (0..100).map(|n| Aabb3d::new(Vec3::Z * (3.0 * n as f32 + 5.0), Vec3::splat(0.5))).collect();
        let mut tree = BoxTree::default();
        tree.build(|number| row[number as usize], 0..row.len() as u32);
        let frustum = Frustum::new(Vec3::ZERO, [Dir3::Z].into_iter()).expect("one way");
        let mut found = Vec::new();
        let is_near = |bounds: Aabb3d| bounds.max.z > 10.0;
        tree.visit_frustum(&frustum, 1e3, 0.0, &is_near, &mut |number| {
            found.push(number);
            15.0
        });
        assert_eq!(found, [2, 3]);
    }

    #[test]
    fn numbers_that_are_none_show_boxes_only() {
        for count in [0, 1, 9] {
            let mut tree = BoxTree::default();
            for bounds in [BoxTree::EMPTY, Aabb3d::new(Vec3::ONE, Vec3::ONE)] {
                tree.build(|_| bounds, 0..count);
                for origin in [Vec3::NAN, Vec3::INFINITY, Vec3::ZERO] {
                    for range in [9.0, f32::INFINITY, f32::NAN, -1.0] {
                        let frustum = Frustum::new(origin, [Dir3::X].into_iter()).expect("one way");
                        let found = visited(&tree, &frustum, range, 0.0);
                        assert!(found.iter().all(|number| *number < count), "{origin} {range}");
                    }
                }
            }
        }
    }
}
