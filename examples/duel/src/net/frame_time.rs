//! How long the systems of a frame take.

use core::time::Duration;
use std::time::Instant;

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};

/// The time from the first to the last system of the frames since it was last [taken](FrameTime::take): all of the game and the
/// library, without what the renderer does on its own.
#[derive(Resource, Default)]
pub struct FrameTime {
    began: Option<Instant>,
    sum: Duration,
    longest: Duration,
    frames: u32,
}

impl FrameTime {
    /// The mean and the longest time of a frame, in milliseconds; begins anew.
    pub fn take(&mut self) -> (f64, f64) {
        let Self { sum, longest, frames, .. } = core::mem::take(self);
        (1e3 * sum.as_secs_f64() / f64::from(frames.max(1)), 1e3 * longest.as_secs_f64())
    }

    fn end(&mut self) {
        if let Some(began) = self.began.take() {
            let time = began.elapsed();
            (self.sum, self.longest, self.frames) = (self.sum + time, self.longest.max(time), self.frames + 1);
        }
    }
}

/// Runs before everything else.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
struct FrameBegins;

/// Runs after everything else.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
struct FrameEnds;

/// The plugin that measures it.
pub fn plugin(app: &mut App) {
    app.init_resource::<FrameTime>().init_schedule(FrameBegins).init_schedule(FrameEnds);
    app.add_systems(FrameBegins, |mut time: ResMut<FrameTime>| time.began = Some(Instant::now()));
    app.add_systems(FrameEnds, |mut time: ResMut<FrameTime>| time.end());
    let mut order = app.world_mut().resource_mut::<bevy::app::MainScheduleOrder>();
    order.insert_before(First, FrameBegins);
    order.insert_after(Last, FrameEnds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_measured_and_the_count_begins_anew() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin));
        app.add_systems(Update, || std::thread::sleep(Duration::from_millis(5)));
        app.update();
        app.update();
        let (mean, longest) = app.world_mut().resource_mut::<FrameTime>().take();
        assert!(mean >= 5.0 && longest >= mean, "{mean} {longest}");
        assert_eq!(app.world_mut().resource_mut::<FrameTime>().take(), (0.0, 0.0));
    }
}
