//! The arena: boxes that stand still and some that move, read from a file that server and clients share.

mod motion;
mod solid;

use std::{env, fs, path::PathBuf};

use bevy::{math::ops, prelude::*};
use serde::Deserialize;

pub use motion::Path;
pub use solid::Solid;

use crate::error::DuelError;

/// The file, below the folder of assets.
const FILE: &str = "arena.ron";
const WALL_THICKNESS: f32 = 0.5;
const FLOOR_THICKNESS: f32 = 1.0;

/// All that is not a character.
#[derive(Resource, Clone, PartialEq, Debug)]
pub struct Arena {
    /// Half the edge length of the square floor, in metres.
    pub half_size: f32,
    /// What stands still: the floor first, then the outer walls, then the rest.
    pub blocks: Vec<Block>,
    /// What moves; a [`Mover`] is known by its place in this list.
    pub movers: Vec<Mover>,
    /// Where the feet of a character may begin.
    pub spawn_points: Vec<Vec3>,
}

/// A box that stands still. It stops bullets and characters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// The room it takes.
    pub solid: Solid,
    /// What it is made of.
    pub look: Look,
}

/// What a block is made of, for whoever draws it.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Look {
    /// The ground.
    Floor,
    /// Outer walls.
    Wall,
    /// Walls of houses.
    Plaster,
    /// Platforms and steps.
    Concrete,
    /// Cover.
    Crate,
}

/// A box that moves to and fro, or the target on its rail.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mover {
    /// What it is for.
    pub kind: MoverKind,
    /// Half its edge lengths, in metres.
    pub half_extents: Vec3,
    /// Where its middle is at which time; of a target, its feet.
    pub path: Path,
}

/// What a mover is for.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoverKind {
    /// Slides shut, and open again.
    Door,
    /// Takes characters up.
    Lift,
    /// A figure to shoot at.
    Target,
}

impl Mover {
    /// The room it takes in a tick; none if it is a target.
    pub fn solid(&self, seconds: f64) -> Option<Solid> {
        let is_solid = self.kind != MoverKind::Target;
        is_solid.then(|| Solid { center: self.path.at(seconds), half_extents: self.half_extents })
    }
}

/// Why there is no arena.
#[derive(thiserror::Error, Debug)]
pub enum ArenaError {
    /// The file could not be read.
    #[error("cannot read it: {0}")]
    Io(#[from] std::io::Error),
    /// It is not written as it should be.
    #[error("{0}")]
    Syntax(#[from] ron::error::SpannedError),
    /// It cannot be played in.
    #[error("{0}")]
    Nonsense(String),
}

/// The file as it is written.
#[derive(Deserialize)]
struct ArenaFile {
    half_size: f32,
    wall_height: f32,
    boxes: Vec<BoxLine>,
    movers: Vec<MoverLine>,
    spawn_points: Vec<[f32; 3]>,
}

#[derive(Deserialize)]
struct BoxLine {
    center: [f32; 3],
    size: [f32; 3],
    look: Look,
}

#[derive(Deserialize)]
struct MoverLine {
    kind: MoverKind,
    size: [f32; 3],
    from: [f32; 3],
    to: [f32; 3],
    wait: f64,
    travel: f64,
    #[serde(default)]
    begin: f64,
}

impl Arena {
    /// Reads the arena from the folder of assets: that which `BEVY_ASSET_ROOT` names, or `assets` in this package's folder, or
    /// next to the program.
    pub fn load() -> Result<Self, DuelError> {
        let path = asset_folder().join(FILE);
        let read = || Self::parse(&fs::read_to_string(&path)?);
        read().map_err(|source| DuelError::NoArena { path: path.clone(), source: source.into() })
    }

    /// Reads an arena from text.
    pub fn parse(text: &str) -> Result<Self, ArenaError> {
        let file: ArenaFile = ron::from_str(text)?;
        let all_numbers = file.boxes.iter().flat_map(|line| line.center.into_iter().chain(line.size));
        let movers = file.movers.iter().flat_map(|line| line.from.into_iter().chain(line.to).chain(line.size));
        if !all_numbers.chain(movers).chain([file.half_size, file.wall_height]).all(f32::is_finite) {
            return Err(ArenaError::Nonsense("a number is infinite, or none".into()));
        }
        if file.spawn_points.is_empty() {
            return Err(ArenaError::Nonsense("nobody can begin anywhere: `spawn_points` is empty".into()));
        }
        let standing = |center: [f32; 3], size: [f32; 3], look| {
            let half_extents = Vec3::from(size) / 2.0;
            Block { solid: Solid { center: Vec3::from(center) + Vec3::Y * half_extents.y, half_extents }, look }
        };
        let (size, height) = (2.0 * file.half_size, file.wall_height);
        let floor = standing([0.0, -FLOOR_THICKNESS, 0.0], [size, FLOOR_THICKNESS, size], Look::Floor);
        let (aside, length) = (file.half_size + WALL_THICKNESS / 2.0, size + 2.0 * WALL_THICKNESS);
        let walls = [-aside, aside].into_iter().flat_map(|at| {
            [
                standing([0.0, 0.0, at], [length, height, WALL_THICKNESS], Look::Wall),
                standing([at, 0.0, 0.0], [WALL_THICKNESS, height, length], Look::Wall),
            ]
        });
        let boxes = file.boxes.iter().map(|line| standing(line.center, line.size, line.look));
        Ok(Self {
            half_size: file.half_size,
            blocks: core::iter::once(floor).chain(walls).chain(boxes).collect(),
            movers: file.movers.iter().map(MoverLine::read).collect::<Result<_, _>>()?,
            spawn_points: file.spawn_points.into_iter().map(Vec3::from).collect(),
        })
    }

    /// All that takes room at a time, the movers where they then are.
    pub fn solids(&self, seconds: f64) -> impl Iterator<Item = Solid> + Clone {
        let movers = self.movers.iter().filter_map(move |mover| mover.solid(seconds));
        self.blocks.iter().map(|block| block.solid).chain(movers)
    }

    /// The distance at which the ray first meets what stands still, in metres, if that is at most `range`.
    pub fn cast_ray(&self, ray: Ray3d, range: f32) -> Option<f32> {
        self.blocks.iter().filter_map(|block| block.solid.cast_ray(ray, range)).min_by(f32::total_cmp)
    }

    /// The direction in which a character that begins here looks, in radians from -Z: to the middle.
    pub fn yaw_at(&self, spawn_point: Vec3) -> f32 {
        ops::atan2(spawn_point.x, spawn_point.z)
    }
}

impl MoverLine {
    fn read(&self) -> Result<Mover, ArenaError> {
        let path = Path::new(self.from.into(), self.to.into(), self.wait, self.travel, self.begin);
        let path = path.ok_or_else(|| ArenaError::Nonsense("a mover needs a positive `travel` and `wait`".into()))?;
        Ok(Mover { kind: self.kind, half_extents: Vec3::from(self.size) / 2.0, path })
    }
}

/// Where Bevy looks for assets, too.
fn asset_folder() -> PathBuf {
    let root = |variable| env::var_os(variable).map(PathBuf::from);
    let beside_program = || env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let root = root("BEVY_ASSET_ROOT").or_else(|| root("CARGO_MANIFEST_DIR")).or_else(beside_program);
    let folder = root.unwrap_or_default().join("assets");
    if folder.join(FILE).exists() {
        return folder;
    }
    // Started by hand from where it was built.
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::character::{Body, HEIGHT, RADIUS};

    fn arena() -> Arena {
        Arena::load().unwrap()
    }

    #[test]
    fn the_arena_has_all_that_a_duel_needs() {
        let arena = arena();
        let count = |kind| arena.movers.iter().filter(|mover| mover.kind == kind).count();
        assert_eq!((count(MoverKind::Door), count(MoverKind::Lift), count(MoverKind::Target)), (2, 1, 1));
        assert!(arena.blocks.len() > 20 && arena.spawn_points.len() >= 4);
    }

    #[test]
    fn spawn_points_are_free_and_on_the_ground() {
        let arena = arena();
        for at in &arena.spawn_points {
            let (low, high) = (at.y + 0.05, at.y + HEIGHT);
            for solid in arena.solids(0.0) {
                assert!(!solid.is_between(low, high) || solid.push_out(at.xz(), RADIUS).is_none(), "{at} in {solid:?}");
            }
            let ground = arena.solids(0.0).filter_map(|solid| solid.ground_below(*at, RADIUS));
            assert_eq!(ground.fold(f32::MIN, f32::max), at.y, "{at}");
        }
    }

    #[test]
    fn a_character_looks_to_the_middle() {
        let arena = arena();
        for at in &arena.spawn_points {
            let forward = Quat::from_rotation_y(arena.yaw_at(*at)) * Vec3::NEG_Z;
            assert!(forward.dot(-at.with_y(0.0).normalize()) > 0.999, "{at}");
        }
    }

    #[test]
    fn cover_stops_rays_where_it_begins() {
        let ray = Ray3d::new(Vec3::new(1.5, 1.0, 12.0), Dir3::NEG_Z);
        assert!((arena().cast_ray(ray, 100.0).unwrap() - 4.4).abs() < 1e-4);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told() {
        let broken = Arena::parse("(half_size: 1.0, walls: 3)").unwrap_err().to_string();
        assert!(broken.contains("1:"), "{broken}");
        let empty = "(half_size: 9.0, wall_height: 2.0, boxes: [], movers: [], spawn_points: [])";
        assert!(Arena::parse(empty).unwrap_err().to_string().contains("spawn_points"));
        let infinite = "(half_size: inf, wall_height: 2.0, boxes: [], movers: [], spawn_points: [(0.0, 0.0, 0.0)])";
        assert!(Arena::parse(infinite).is_err());
    }

    #[test]
    fn bodies_can_stand_everywhere_that_they_begin() {
        let arena = arena();
        for at in &arena.spawn_points {
            let mut body = (Transform::from_translation(*at), Body::default());
            for tick in 0..64 {
                body.1.step(&mut body.0, &arena, f64::from(tick) / 64.0, default(), 1.0 / 64.0);
            }
            assert!(body.0.translation.distance(*at) < 1e-3, "{at} moved to {}", body.0.translation);
        }
    }
}
