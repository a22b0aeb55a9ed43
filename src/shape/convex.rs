//! How far two convex solids are from each other.
//!
//! The distance is found as Gilbert, Johnson and Keerthi do it (<https://doi.org/10.1109/56.2083>): a simplex within the
//! difference of the two, as near to the origin as it can be, is drawn nearer with each step. Each solid is a core (a point,
//! a segment, a box, a sector) and a radius around it, so that what is round costs no steps.

use bevy::{math::DVec3, prelude::*};

use super::{Shape, axes};

/// The core of a convex solid, and a radius around it.
pub(super) trait Convex {
    /// The furthest point of the core in a direction.
    fn support(&self, direction: DVec3) -> DVec3;
    fn radius(&self) -> f64;
}

/// A shape at its pose.
pub(super) struct Placed {
    center: DVec3,
    /// Half the edges of the core, as vectors.
    edges: [DVec3; 3],
    radius: f64,
}

/// Where two cores are nearest to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// 0 if they overlap.
    pub(super) distance: f64,
    /// The nearest points; the same one, within both, if they overlap.
    pub(super) first: DVec3,
    pub(super) second: DVec3,
}

impl Placed {
    pub(super) fn new(shape: Shape, pose: Isometry3d) -> Self {
        let axes = axes(pose);
        let (edges, radius) = match shape {
            Shape::Capsule { half_height, radius } => {
                ([DVec3::ZERO, axes * DVec3::Y * f64::from(half_height), DVec3::ZERO], radius)
            }
            Shape::Ball { radius } => ([DVec3::ZERO; 3], radius),
            Shape::Cuboid { half_extents } => {
                let half = half_extents.as_dvec3();
                ([axes * DVec3::X * half.x, axes * DVec3::Y * half.y, axes * DVec3::Z * half.z], 0.0)
            }
        };
        Self { center: Vec3::from(pose.translation).as_dvec3(), edges, radius: f64::from(radius) }
    }

    pub(super) fn center(&self) -> DVec3 {
        self.center
    }

    /// Half the axis of a capsule; nothing for a ball.
    pub(super) fn half_axis(&self) -> DVec3 {
        self.edges[1]
    }

    /// The same, moved.
    pub(super) fn moved(&self, by: DVec3) -> Self {
        Self { center: self.center + by, ..*self }
    }
}

impl Convex for Placed {
    fn support(&self, direction: DVec3) -> DVec3 {
        self.edges.iter().fold(self.center, |point, edge| point + *edge * edge.dot(direction).signum())
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// A point of the difference of two cores, and the two points that it comes from.
#[derive(Clone, Copy, Default)]
struct Vertex {
    difference: DVec3,
    first: DVec3,
    second: DVec3,
}

/// Up to four vertices, and the weights with which they make up the nearest point.
#[derive(Clone, Copy, Default)]
struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    len: usize,
}

/// The gap between two cores; `None` if they are not numbers.
pub(super) fn gap(first: &impl Convex, second: &impl Convex) -> Option<Gap> {
    /// The part of the distance that may be left to gain: far below what `f32` can tell.
    const GAIN: f64 = 1e-13;
    const STEPS: usize = 128;
    let vertex = |direction: DVec3| {
        let (first, second) = (first.support(direction), second.support(-direction));
        Vertex { difference: first - second, first, second }
    };
    let mut simplex = Simplex::default();
    simplex.push(vertex(DVec3::X));
    let mut nearest = simplex.nearest();
    for _ in 0..STEPS {
        let distance_squared = nearest.length_squared();
        if !distance_squared.is_finite() {
            return None;
        }
        // Within less than a picometre, or all around the origin.
        if distance_squared <= 1e-24 || simplex.len == 4 {
            let (first, second) = simplex.points();
            return Some(Gap { distance: 0.0, first, second });
        }
        let next = vertex(-nearest);
        let gain = distance_squared - nearest.dot(next.difference);
        let is_known = simplex.vertices[..simplex.len].iter().any(|known| known.difference == next.difference);
        if gain <= GAIN * distance_squared || is_known {
            break;
        }
        simplex.push(next);
        let nearer = simplex.nearest();
        // Rounding has the last word.
        if nearer.length_squared() >= distance_squared && simplex.len < 4 {
            break;
        }
        nearest = nearer;
    }
    let (first, second) = simplex.points();
    Some(Gap { distance: nearest.length(), first, second })
}

impl Simplex {
    fn push(&mut self, vertex: Vertex) {
        self.vertices[self.len] = vertex;
        self.len += 1;
    }

    /// Reduces itself to the part that holds its point nearest to the origin, and returns that.
    ///
    /// All parts are tried: at four vertices there are fifteen, and none of the cases in which faster ways go wrong.
    fn nearest(&mut self) -> DVec3 {
        let mut best = (f64::INFINITY, Self::default(), DVec3::NAN);
        for part in 1_u32..1 << self.len {
            let mut tried = Self::default();
            for (index, vertex) in self.vertices[..self.len].iter().enumerate() {
                if part & (1 << index) != 0 {
                    tried.push(*vertex);
                }
            }
            if let Some(weights) = tried.weights_of_nearest() {
                tried.weights = weights;
                let point = tried.blend(|vertex| vertex.difference);
                let distance = point.length_squared();
                if distance < best.0 {
                    best = (distance, tried, point);
                }
            }
        }
        *self = best.1;
        best.2
    }

    /// The weights of the point of the plane through all vertices that is nearest to the origin, if it lies between them.
    fn weights_of_nearest(&self) -> Option<[f64; 4]> {
        let [a, b, c, d] = self.vertices.map(|vertex| vertex.difference);
        let weights = match self.len {
            1 => [1.0, 0.0, 0.0, 0.0],
            2 => {
                let edge = b - a;
                let t = -a.dot(edge) / edge.length_squared();
                [1.0 - t, t, 0.0, 0.0]
            }
            3 => {
                let normal = (b - a).cross(c - a);
                let area = normal.length_squared();
                // The parts of the triangle that the foot of the origin cuts it into.
                let (u, v) = (b.cross(c).dot(normal) / area, c.cross(a).dot(normal) / area);
                [u, v, 1.0 - u - v, 0.0]
            }
            _ => {
                let volume = (b - a).cross(c - a).dot(d - a);
                let part = |x: DVec3, y: DVec3, z: DVec3| x.dot(y.cross(z)) / volume;
                let (u, v, w) = (part(b, c, d), -part(a, c, d), part(a, b, d));
                [u, v, w, 1.0 - u - v - w]
            }
        };
        // A simplex without extent has weights that are not numbers; a part of it will do.
        weights[..self.len].iter().all(|weight| *weight >= 0.0).then_some(weights)
    }

    fn points(&self) -> (DVec3, DVec3) {
        (self.blend(|vertex| vertex.first), self.blend(|vertex| vertex.second))
    }

    fn blend(&self, of: impl Fn(&Vertex) -> DVec3) -> DVec3 {
        let parts = self.vertices[..self.len].iter().zip(self.weights);
        parts.map(|(vertex, weight)| of(vertex) * weight).sum()
    }
}
