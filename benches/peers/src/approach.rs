//! What is compared.

pub mod hindsight;
pub mod kernel;
pub mod lightyear;
pub mod query_world;
mod rapier;
pub mod textbook;
pub mod world_per_tick;

use crate::{
    answer::Answer,
    clock::Took,
    oracle::Blend,
    scene::{Figure, Scene, Shots},
};

/// A way to find what the rays of shots meet in the past.
pub trait Approach {
    /// The ticks 1 to [`NOW`](crate::scene::NOW), one after the other: moves what lives, and remembers it. Returns the time of
    /// remembering alone; `None` for those that keep no history of their own.
    fn record(&mut self, scene: &Scene, tick: usize) -> Option<Took>;

    /// Answers for all rays of the shots, after the last tick. Returns the time of finding the answers; putting them into the
    /// scene's words comes after that.
    fn trace(&mut self, scene: &Scene, shots: &Shots, answers: &mut Vec<Answer>) -> Took;

    /// The memory that it takes to remember one rig for a second, in bytes.
    fn bytes_per_rig_second(&self, scene: &Scene) -> f64;
}

/// What is compared, in the order of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// [`hindsight::ByMessages`].
    Messages,
    /// [`hindsight::ByQuery`] with [`Question::First`](hindsight::Question::First).
    Query,
    /// [`hindsight::ByQuery`] with [`Question::FirstAlone`](hindsight::Question::FirstAlone).
    Alone,
    /// [`hindsight::ByQuery`] with [`Question::WithEvidence`](hindsight::Question::WithEvidence).
    Evidence,
    /// [`kernel::Kernel`].
    Kernel,
    /// [`query_world::QueryWorld`].
    QueryWorld,
    /// [`textbook::Textbook`] with `set_aabb`.
    TextbookSetAabb,
    /// [`textbook::Textbook`] with `update`.
    TextbookUpdate,
    /// [`world_per_tick::WorldPerTick`].
    WorldPerTick,
    /// [`lightyear::LightyearAvian`] with one collider for each rig.
    LightyearCapsule,
    /// [`lightyear::LightyearAvian`] with 19.
    LightyearBody,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Messages,
        Self::Query,
        Self::Alone,
        Self::Evidence,
        Self::Kernel,
        Self::QueryWorld,
        Self::TextbookSetAabb,
        Self::TextbookUpdate,
        Self::WorldPerTick,
        Self::LightyearCapsule,
        Self::LightyearBody,
    ];

    /// Its name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "bevy_hindsight, messages",
            Self::Query => "bevy_hindsight, RewoundQuery",
            Self::Alone => "bevy_hindsight, pellet by pellet",
            Self::Evidence => "bevy_hindsight, cast_ray",
            Self::Kernel => "bare kernel",
            Self::QueryWorld => "query world per shot",
            Self::TextbookSetAabb => "textbook, set_aabb",
            Self::TextbookUpdate => "textbook, update",
            Self::WorldPerTick => "world per tick",
            Self::LightyearCapsule => "lightyear_avian3d, 1 collider",
            Self::LightyearBody => "lightyear_avian3d, 19 colliders",
        }
    }

    /// What the rigs of its scene consist of.
    pub const fn figure(self) -> Figure {
        match self {
            Self::LightyearCapsule => Figure::Capsule,
            _ => Figure::Body,
        }
    }

    /// What it takes for the pose between two ticks.
    pub const fn blend(self) -> Blend {
        match self {
            Self::Messages | Self::Query | Self::Alone | Self::Evidence => Blend::OfTheRig,
            _ => Blend::World,
        }
    }

    /// The most rays of a tick that it is given: more take too long to be repeated, and cost the same each.
    pub const fn most_rays(self) -> usize {
        match self {
            Self::TextbookSetAabb => 64,
            Self::TextbookUpdate => 8,
            _ => usize::MAX,
        }
    }

    /// Prepares it for a scene.
    pub fn build(self, scene: &Scene) -> Box<dyn Approach> {
        match self {
            Self::Messages => Box::new(hindsight::ByMessages::new(scene)),
            Self::Query => Box::new(hindsight::ByQuery::new(scene, hindsight::Question::First)),
            Self::Alone => Box::new(hindsight::ByQuery::new(scene, hindsight::Question::FirstAlone)),
            Self::Evidence => Box::new(hindsight::ByQuery::new(scene, hindsight::Question::WithEvidence)),
            Self::Kernel => Box::new(kernel::Kernel::new(scene)),
            Self::QueryWorld => Box::new(query_world::QueryWorld::new(scene)),
            Self::TextbookSetAabb => Box::new(textbook::Textbook::new(scene, textbook::Refresh::Boxes)),
            Self::TextbookUpdate => Box::new(textbook::Textbook::new(scene, textbook::Refresh::Tree)),
            Self::WorldPerTick => Box::new(world_per_tick::WorldPerTick::new(scene)),
            Self::LightyearCapsule | Self::LightyearBody => Box::new(lightyear::LightyearAvian::new(scene)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        oracle,
        scene::{NOW, Setup},
    };

    /// The part of the answers that is wrong.
    fn wrong(kind: Kind, crowded: bool) -> f64 {
        let scene = Scene::new(Setup { rigs: 24, crowded, figure: kind.figure() }, 5);
        let shots = Shots::new(&scene, 300, 9).up_to(kind.most_rays());
        let mut approach = kind.build(&scene);
        for tick in 1..=NOW {
            approach.record(&scene, tick);
        }
        let mut answers = Vec::new();
        approach.trace(&scene, &shots, &mut answers);
        assert_eq!(answers.len(), shots.rays.len());
        let truths = oracle::trace(&scene, &shots, kind.blend());
        let tally = oracle::judge(&scene, &shots, kind.blend(), &truths, &answers);
        tally.wrong() as f64 / tally.judged as f64
    }

    #[test]
    fn this_crate_and_the_kernel_are_never_wrong() {
        for kind in [Kind::Messages, Kind::Query, Kind::Alone, Kind::Evidence, Kind::Kernel] {
            for crowded in [false, true] {
                assert_eq!(wrong(kind, crowded), 0.0, "{kind:?}");
            }
        }
    }

    /// They play the same scene: what is left are the faults that they are known for.
    #[test]
    fn the_others_are_mostly_right() {
        for kind in Kind::ALL {
            let wrong = wrong(kind, false);
            assert!(wrong < 0.3, "{kind:?}: {wrong}");
        }
    }
}
