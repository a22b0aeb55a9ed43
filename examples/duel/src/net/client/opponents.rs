//! Who and what this client's screen shows.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_hindsight::DisplayParameters;
use lightyear::prelude::Controlled;

use crate::{
    game::{
        arena::{Arena, Solid},
        figure,
    },
    net::protocol::{Health, MoverNumber, Player},
};

/// The figures of others, and the doors and lifts, as they are drawn.
#[derive(SystemParam)]
pub struct Opponents<'w, 's> {
    figures: Query<
        'w,
        's,
        (&'static Transform, &'static DisplayParameters, &'static Health, Has<Player>),
        Without<Controlled>,
    >,
    movers: Query<'w, 's, (&'static MoverNumber, &'static Transform), Without<Health>>,
    arena: Res<'w, Arena>,
}

impl Opponents<'_, '_> {
    /// The living player nearest to a place: its feet, and its chest.
    pub fn nearest(&self, to: Vec3) -> Option<(Vec3, Vec3)> {
        let players = self.figures.iter().filter(|(_, _, health, is_player)| *is_player && health.is_alive());
        let nearest = players.min_by(|a, b| {
            let distance = |feet: &Transform| feet.translation.distance_squared(to);
            distance(a.0).total_cmp(&distance(b.0))
        });
        nearest.map(|(feet, parameters, ..)| (feet.translation, figure::chest(feet, parameters)))
    }

    /// Whether there is a player at all, dead or alive.
    pub fn are_here(&self) -> bool {
        self.figures.iter().any(|(.., is_player)| is_player)
    }

    /// Whether nothing stands between two points.
    pub fn is_clear(&self, from: Vec3, to: Vec3) -> bool {
        match Dir3::new_and_length(to - from) {
            Ok((direction, distance)) => self.cast_at_walls(Ray3d::new(from, direction), distance).is_none(),
            Err(_) => true,
        }
    }

    /// Whether a ray hits somebody's drawn figure before anything else that is drawn.
    pub fn is_hit(&self, ray: Ray3d, range: f32) -> bool {
        let living = self.figures.iter().filter(|(_, _, health, _)| health.is_alive());
        let hits = living.filter_map(|(feet, parameters, ..)| figure::cast_ray(feet, parameters, ray, range));
        // In a tie the bullet stays in the wall, as on the server.
        hits.min_by(f32::total_cmp).is_some_and(|distance| self.cast_at_walls(ray, distance).is_none())
    }

    /// Where a ray ends in something that is no figure.
    fn cast_at_walls(&self, ray: Ray3d, range: f32) -> Option<f32> {
        let movers = self.movers.iter().filter_map(|(number, transform)| {
            let mover = self.arena.movers.get(number.0 as usize)?;
            let solid = Solid { center: transform.translation, half_extents: mover.half_extents };
            solid.cast_ray(ray, range)
        });
        self.arena.cast_ray(ray, range).into_iter().chain(movers).min_by(f32::total_cmp)
    }
}
