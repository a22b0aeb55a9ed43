//! Bullets, and what they pass through.

use bevy::prelude::*;

use super::PelletPattern;

/// What arrives at once, along a straight line. By default, one bullet that stays in what it meets first.
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub struct Bullet {
    /// The directions of all pellets of this shot. `None` for one bullet in the direction of the shot; a
    /// [`FireControl`](crate::FireControl) with pellets then sets its own.
    pub pellets: Option<PelletPattern>,
    /// What each bullet can pass through. `None` for nothing.
    pub piercing: Option<Piercing>,
}

impl Bullet {
    /// The same bullet as one of many that fly apart.
    pub const fn with_pellets(self, pellets: PelletPattern) -> Self {
        Self { pellets: Some(pellets), ..self }
    }

    /// The same bullet with the energy to pass through things.
    pub const fn with_piercing(self, piercing: Piercing) -> Self {
        Self { piercing: Some(piercing), ..self }
    }
}

/// How far a bullet goes on through what it meets.
///
/// Everything costs energy, by its [`Resistance`]; the bullet stays in what costs more than it has left. Energy is in units of the
/// game's own: joules, or centimetres of wood. A rig is passed through as one, however many of its hitboxes lie on the way.
///
/// What a closure is to decide, [`RewoundQuery::cast_ray_all`](crate::RewoundQuery::cast_ray_all) is for.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Piercing {
    /// What the bullet has when it leaves the muzzle; at least 0.
    pub energy: f32,
    /// How many rigs and walls it passes through at most, before it stays in the next one. Default: 8.
    pub most: u8,
    /// What rigs cost that have no [`Resistance`] of their own. Default: nothing.
    pub flesh: Resistance,
    /// What walls and occluders cost that have no [`Resistance`] of their own. Default: [`Resistance::IMPENETRABLE`].
    pub wall: Resistance,
}

impl Piercing {
    /// A bullet with this energy, at least 0, that passes through up to eight rigs, and through walls that have a
    /// [`Resistance`].
    pub const fn new(energy: f32) -> Self {
        Self { energy, most: 8, flesh: Resistance::NONE, wall: Resistance::IMPENETRABLE }
    }
}

/// What it costs a bullet to pass through something: on the entity of a [`Rig`](crate::Rig), of an
/// [`Occluder`](crate::Occluder), or of a rapier collider.
///
/// It is read as it is in the tick of the verdict.
///
/// ```
/// use bevy_hindsight::Resistance;
///
/// let door = Resistance::new(5.0, 400.0);
/// assert_eq!(door.cost(0.04), 21.0);
/// assert_eq!(Resistance::IMPENETRABLE.cost(0.001), f32::INFINITY);
/// assert_eq!(Resistance::NONE.cost(f32::INFINITY), f32::INFINITY);
/// ```
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct Resistance {
    /// The cost of passing through, however thin it is.
    pub surface: f32,
    /// The cost of each metre within it.
    pub per_metre: f32,
}

impl Resistance {
    /// What costs nothing.
    pub const NONE: Self = Self::new(0.0, 0.0);
    /// What nothing passes through.
    pub const IMPENETRABLE: Self = Self::new(f32::INFINITY, 0.0);

    /// What costs this much, and this much for each metre.
    pub const fn new(surface: f32, per_metre: f32) -> Self {
        Self { surface, per_metre }
    }

    /// The cost of so many metres of it; infinite for what has no far side.
    pub fn cost(self, thickness: f32) -> f32 {
        if thickness.is_finite() { self.surface + self.per_metre * thickness } else { f32::INFINITY }
    }
}
