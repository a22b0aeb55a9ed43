//! One shot, in lines.

use bevy::{gizmos::gizmos::GizmoBuffer, prelude::*};

use super::LagCompensationGizmos;
use crate::{
    shape::Shape,
    shot::{DisplayedShot, ShotTraced, TracedHitbox, TracedOccluder},
};

impl LagCompensationGizmos {
    /// Draws one shot in these colours, for one frame, with this alpha (0 to 1): for a view that freezes a shot and goes round
    /// it.
    ///
    /// The gizmos may be of any group: those of this one only draw while its `GizmoConfig` is enabled. `displayed` is what the
    /// screen showed for the shot, if that is known: [`DisplayedShots::get`](crate::DisplayedShots::get).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_hindsight::{DisplayedShots, LagCompensationGizmos, ShotTraced};
    ///
    /// #[derive(Resource)]
    /// struct Frozen(ShotTraced);
    ///
    /// fn why(mut gizmos: Gizmos, frozen: Res<Frozen>, displayed: Res<DisplayedShots>) {
    ///     let Frozen(shot) = &*frozen;
    ///     LagCompensationGizmos::default().draw_shot(shot, displayed.get(shot.shot), 1.0, &mut gizmos);
    /// }
    /// # bevy::ecs::system::assert_is_system(why);
    /// ```
    pub fn draw_shot<C: GizmoConfigGroup, D: Send + Sync + 'static>(
        &self,
        shot: &ShotTraced,
        displayed: Option<&DisplayedShot>,
        alpha: f32,
        gizmos: &mut GizmoBuffer<C, D>,
    ) {
        let mut pen = Pen { gizmos, alpha };
        if let Some(color) = self.live {
            pen.hitboxes(&shot.hitboxes, |hitbox| hitbox.live, color);
            pen.occluders(self.shown(&shot.occluders), |occluder| occluder.live, color);
        }
        if let Some(color) = self.rewound {
            pen.hitboxes(&shot.hitboxes, |hitbox| Some(hitbox.pose), color);
            pen.occluders(self.shown(&shot.occluders), |occluder| Some(occluder.pose), color);
        }
        if let (Some(color), Some(displayed)) = (self.displayed, displayed) {
            pen.hitboxes(&displayed.hitboxes, |hitbox| Some(hitbox.pose), color);
            pen.occluders(self.shown(&displayed.occluders), |occluder| Some(occluder.pose), color);
        }
        if let Some(color) = self.ray {
            pen.line(shot.origin, shot.end(), color);
        }
        if let (Some(color), Some(cover)) = (self.cover, shot.cover) {
            pen.line(cover.point, cover.blocker.point, color);
        }
    }

    fn shown<'a>(&self, occluders: &'a [TracedOccluder]) -> &'a [TracedOccluder] {
        if self.occluders { occluders } else { &[] }
    }
}

/// Draws with the alpha of one shot.
pub(super) struct Pen<'a, C: GizmoConfigGroup, D: Send + Sync + 'static> {
    pub(super) gizmos: &'a mut GizmoBuffer<C, D>,
    pub(super) alpha: f32,
}

impl<C: GizmoConfigGroup, D: Send + Sync + 'static> Pen<'_, C, D> {
    fn hitboxes(
        &mut self,
        hitboxes: &[TracedHitbox],
        pose: impl Fn(&TracedHitbox) -> Option<Isometry3d>,
        color: Color,
    ) {
        for (hitbox, pose) in hitboxes.iter().filter_map(|hitbox| Some((hitbox, pose(hitbox)?))) {
            self.shape(hitbox.shape, pose, color);
        }
    }

    fn occluders(
        &mut self,
        occluders: &[TracedOccluder],
        pose: impl Fn(&TracedOccluder) -> Option<Isometry3d>,
        color: Color,
    ) {
        for (occluder, pose) in occluders.iter().filter_map(|occluder| Some((occluder, pose(occluder)?))) {
            self.shape(occluder.shape, pose, color);
        }
    }

    pub(super) fn shape(&mut self, shape: Shape, pose: Isometry3d, color: Color) {
        let color = self.faded(color);
        match shape {
            Shape::Capsule { half_height, radius } => {
                self.gizmos.primitive_3d(&Capsule3d { radius, half_length: half_height }, pose, color);
            }
            Shape::Ball { radius } => {
                self.gizmos.primitive_3d(&Sphere { radius }, pose, color);
            }
            Shape::Cuboid { half_extents } => {
                self.gizmos.primitive_3d(&Cuboid { half_size: half_extents }, pose, color);
            }
        }
    }

    /// A line with a cross at its end. A shot that was refused may have named numbers that are none.
    fn line(&mut self, from: Vec3, to: Vec3, color: Color) {
        /// Metres from the middle of the cross to its tips.
        const CROSS: f32 = 0.05;
        if from.is_finite() && to.is_finite() {
            let color = self.faded(color);
            self.gizmos.line(from, to, color);
            self.gizmos.cross(Isometry3d::from_translation(to), CROSS, color);
        }
    }

    fn faded(&self, color: Color) -> Color {
        color.with_alpha(color.alpha() * self.alpha)
    }
}
