//! Listens to what the library logs.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Once;

use bevy::log::{
    tracing::{Event, Level, Subscriber},
    tracing_subscriber::{
        filter::Targets,
        layer::{Context, Layer, SubscriberExt},
        registry,
        util::SubscriberInitExt,
    },
};

static LOUD: AtomicUsize = AtomicUsize::new(0);
static SOFT: AtomicUsize = AtomicUsize::new(0);

/// Counts events.
struct Ear;

impl<S: Subscriber> Layer<S> for Ear {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let counter = if *event.metadata().level() < Level::DEBUG { &LOUD } else { &SOFT };
        counter.fetch_add(1, Relaxed);
    }
}

/// Listens from now on, in the whole process.
///
/// Lightyear's own complaints about what it cannot decode are not counted: a server turns them off.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        registry().with(Ear.with_filter(Targets::new().with_target("bevy_hindsight", Level::DEBUG))).init();
    });
}

/// How many events above `debug` there were so far.
pub fn loud_events() -> usize {
    LOUD.load(Relaxed)
}

/// How many there were at `debug`.
pub fn soft_events() -> usize {
    SOFT.load(Relaxed)
}
