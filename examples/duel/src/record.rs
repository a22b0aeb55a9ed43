//! A scripted duel that nobody plays, as pictures.

mod film;

use core::time::Duration;
use std::path::PathBuf;

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
};
use bevy_hindsight::{DisplayedShots, ShotTraced};
use lightyear::prelude::Controlled;

use crate::{
    game::{bot::Bot, controls::Controls, weapon::Weapon},
    net::{
        client::{Eye, opponents::Opponents, session::Session},
        protocol::{Player, TICK_RATE},
    },
    view::{Panels, Screen},
};
use film::{Film, save};

/// How close the scripted bot fights, in metres: on the pictures there should be something to see.
const DISTANCE: core::ops::Range<f32> = 4.0..8.0;
/// How long the script waits for a moment that is worth a picture before it takes any.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between two pictures of the film.
const FRAME: Duration = Duration::from_millis(100);
/// How long the film is.
const FILM: Duration = Duration::from_secs(6);

/// The state of the script.
#[derive(Resource)]
pub struct Script {
    folder: PathBuf,
    scene: Scene,
    /// Since when the scene is on.
    since: Duration,
    /// The last picture of the film.
    last_frame: Duration,
    film: Film,
    has_hit: bool,
    was_hit: bool,
}

/// What the script shows, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scene {
    Arriving,
    Duel,
    Ghosts,
    Film,
    /// A hit that can be explained.
    Waiting,
    Why,
    Network,
    Victim,
    Over,
}

impl Scene {
    const fn next(self) -> Self {
        match self {
            Self::Arriving => Self::Duel,
            Self::Duel => Self::Ghosts,
            Self::Ghosts => Self::Film,
            Self::Film => Self::Waiting,
            Self::Waiting => Self::Why,
            Self::Why => Self::Network,
            Self::Network => Self::Victim,
            Self::Victim | Self::Over => Self::Over,
        }
    }

    /// The picture that is taken at its end.
    const fn picture(self) -> Option<&'static str> {
        match self {
            Self::Duel => Some("duel.png"),
            Self::Ghosts => Some("ghosts.png"),
            Self::Why => Some("why.png"),
            Self::Network => Some("network.png"),
            Self::Victim => Some("victim.png"),
            Self::Arriving | Self::Film | Self::Waiting | Self::Over => None,
        }
    }

    /// How long it lasts at least.
    const fn length(self) -> Duration {
        Duration::from_millis(match self {
            Self::Arriving => 1_000,
            Self::Duel => 5_000,
            Self::Ghosts | Self::Victim => 1_500,
            Self::Film => 6_000,
            Self::Why => 2_600,
            Self::Network => 4_000,
            Self::Waiting => 0,
            Self::Over => 500,
        })
    }

    fn panels(self) -> Panels {
        Panels {
            ghosts: matches!(self, Self::Ghosts | Self::Film),
            why: self == Self::Why,
            network: self == Self::Network,
            victim: self == Self::Victim,
            scoreboard: false,
        }
    }
}

impl Script {
    /// A script that writes into this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            scene: Scene::Arriving,
            since: Duration::ZERO,
            last_frame: Duration::ZERO,
            film: Film::default(),
            has_hit: false,
            was_hit: false,
        }
    }

    /// Whether this moment is worth the scene's picture.
    fn is_worth_it(&self, in_sight: bool) -> bool {
        match self.scene {
            Scene::Arriving | Scene::Duel => in_sight,
            Scene::Ghosts => self.has_hit && in_sight,
            Scene::Waiting => self.has_hit,
            Scene::Victim => self.was_hit,
            Scene::Film | Scene::Why | Scene::Network | Scene::Over => true,
        }
    }
}

/// The plugin that plays it; in `PostUpdate`, when all panels have heard of the shots of the frame.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, fight_closely).add_systems(PostUpdate, (note_hits, shoot_film, direct).chain());
}

fn fight_closely(mut bot: ResMut<Bot>, session: Res<Session>) {
    *bot = Bot::new(session.seed(), session.name(), TICK_RATE).at_distance(DISTANCE).armed_with(Weapon::Rifle);
}

/// A hit of the last moment: its ghosts are still bright.
fn note_hits(
    mut traced: MessageReader<ShotTraced>,
    shown: Option<Res<DisplayedShots>>,
    own: Query<Entity, (With<Player>, With<Controlled>)>,
    mut script: ResMut<Script>,
) {
    let Ok(me) = own.single() else { return };
    let traced: Vec<&ShotTraced> = traced.read().collect();
    let is_shown = |shot: &&&ShotTraced| shown.as_ref().is_some_and(|shown| shown.get(shot.shot).is_some());
    let own_hits = traced.iter().filter(|shot| shot.shooter == me && shot.hit().is_some()).filter(is_shown);
    script.has_hit = own_hits.count() > 0;
    script.was_hit = traced.iter().any(|shot| shot.victim() == Some(me));
}

fn shoot_film(mut script: ResMut<Script>, time: Res<Time<Real>>, screen: Res<Screen>, mut commands: Commands) {
    if script.scene != Scene::Film || time.elapsed().saturating_sub(script.last_frame) < FRAME {
        return;
    }
    script.last_frame = time.elapsed();
    if let Some(image) = &screen.image {
        commands
            .spawn(Screenshot::image(image.clone()))
            .observe(|shot: On<ScreenshotCaptured>, mut script: ResMut<Script>| script.film.add(&shot.image));
    }
}

fn direct(
    mut script: ResMut<Script>,
    mut panels: ResMut<Panels>,
    time: Res<Time<Real>>,
    opponents: Opponents,
    eye: Res<Eye>,
    controls: Res<Controls>,
    screen: Res<Screen>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    panels.set_if_neq(script.scene.panels());
    let now = time.elapsed();
    let lasted = now.saturating_sub(script.since);
    let in_sight = is_in_sight(&opponents, eye.place, controls.input().direction());
    let is_time = lasted >= script.scene.length() && (script.is_worth_it(in_sight) || lasted > PATIENCE);
    if !is_time {
        return;
    }
    if let (Some(name), Some(image)) = (script.scene.picture(), &screen.image) {
        let path = script.folder.join(name);
        commands
            .spawn(Screenshot::image(image.clone()))
            .observe(move |shot: On<ScreenshotCaptured>| save(&shot.image, &path));
    }
    if script.scene == Scene::Over {
        // Takes a while: nothing may be played any more.
        let path = script.folder.join("duel.gif");
        script.film.save(&path, FILM);
        exit.write(AppExit::Success);
    }
    script.scene = script.scene.next();
    script.since = now;
    // At once, as long as what was waited for is the latest.
    panels.set_if_neq(script.scene.panels());
}

/// Whether an opponent is to be seen near the middle of the picture.
fn is_in_sight(opponents: &Opponents, eye: Vec3, view: Dir3) -> bool {
    /// The cosine of the largest angle to the middle: 20°.
    const NEAR_THE_MIDDLE: f32 = 0.94;
    /// In metres: not a face that fills the picture, nor somebody at the horizon.
    const DISTANCES: core::ops::Range<f32> = 2.5..12.0;
    opponents.nearest(eye).is_some_and(|(_, chest)| {
        let is_in_view = Dir3::new(chest - eye).is_ok_and(|way| way.dot(*view) > NEAR_THE_MIDDLE);
        is_in_view && DISTANCES.contains(&eye.distance(chest)) && opponents.is_clear(eye, chest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_is_played_once_and_then_it_is_over() {
        let mut scene = Scene::Arriving;
        let mut pictures = Vec::new();
        for _ in 0..10 {
            pictures.extend(scene.picture());
            scene = scene.next();
        }
        assert_eq!(scene, Scene::Over);
        assert_eq!(pictures, ["duel.png", "ghosts.png", "why.png", "network.png", "victim.png"]);
    }

    #[test]
    fn ghosts_are_taken_when_there_are_some() {
        let mut script = Script::new(PathBuf::new());
        script.scene = Scene::Ghosts;
        assert!(!script.is_worth_it(true));
        script.has_hit = true;
        assert!(script.is_worth_it(true) && !script.is_worth_it(false));
    }
}
