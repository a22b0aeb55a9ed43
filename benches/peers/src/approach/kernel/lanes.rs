//! Eight vectors at once.

use core::ops::{Add, Mul, Sub};

use bevy::prelude::*;
use wide::f32x8;

/// The coordinates of eight vectors.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    pub(super) x: f32x8,
    pub(super) y: f32x8,
    pub(super) z: f32x8,
}

impl Vectors {
    #[inline(always)]
    pub(super) fn splat(vector: Vec3) -> Self {
        let [x, y, z] = vector.to_array().map(f32x8::splat);
        Self { x, y, z }
    }

    #[inline(always)]
    pub(super) fn dot(self, other: Self) -> f32x8 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(super) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// One vector of them.
    pub(super) fn lane(self, lane: usize) -> Vec3 {
        Vec3::new(self.x.to_array()[lane], self.y.to_array()[lane], self.z.to_array()[lane])
    }
}

impl Add for Vectors {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vectors {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Mul<f32x8> for Vectors {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f32x8) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}
