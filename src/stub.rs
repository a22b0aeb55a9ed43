use crate::shape::Shape;
use bevy::prelude::*;
impl Shape {
    pub fn cross_ray(self, pose: Isometry3d, ray: Ray3d, range: f32) -> Option<(f32, f32)> {
        self.cast_ray(pose, ray, range).map(|d| (d, d))
    }
    pub fn cast_shape(
        self,
        pose: Isometry3d,
        moving: Shape,
        from: Isometry3d,
        direction: Dir3,
        range: f32,
    ) -> Option<f32> {
        let _ = (pose, moving, from, direction, range);
        None
    }
    pub fn overlaps(self, pose: Isometry3d, other: Shape, other_pose: Isometry3d) -> bool {
        let _ = (pose, other, other_pose);
        false
    }
    pub fn closest_point(self, pose: Isometry3d, point: Vec3) -> Vec3 {
        let _ = pose;
        point
    }
    pub fn closest_points(self, pose: Isometry3d, other: Shape, other_pose: Isometry3d) -> Option<(Vec3, Vec3)> {
        let _ = (pose, other, other_pose);
        None
    }
}
