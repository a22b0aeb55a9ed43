//! How time is told.

use core::{ops::AddAssign, time::Duration};
use std::{sync::LazyLock, time::Instant};

use cpu_time::ProcessTime;

/// A start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    work: ProcessTime,
    wall: Instant,
}

/// How long something has taken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Took {
    /// The time that all threads of this program have worked: on one thread and a quiet machine, the time that has passed; on a
    /// shared one, without the time of others.
    pub work: Duration,
    /// The time that has passed.
    pub wall: Duration,
}

/// What reading the clock takes itself: the kernel of the system is asked.
static READING: LazyLock<Duration> = LazyLock::new(|| {
    let mut empty: Vec<_> = (0..1_001).map(|_| Clock::start().work.elapsed()).collect();
    empty.sort_unstable();
    empty[empty.len() / 2]
});

impl Clock {
    /// Now.
    pub fn start() -> Self {
        Self { wall: Instant::now(), work: ProcessTime::now() }
    }

    /// How long ago that was.
    pub fn elapsed(self) -> Took {
        let (work, wall) = (self.work.elapsed(), self.wall.elapsed());
        Took { work: work.saturating_sub(*READING), wall }
    }
}

impl Took {
    /// The work in microseconds.
    pub fn micros(self) -> f64 {
        self.work.as_secs_f64() * 1e6
    }
}

impl AddAssign for Took {
    fn add_assign(&mut self, other: Self) {
        self.work += other.work;
        self.wall += other.wall;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_no_work() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(20));
        let took = clock.elapsed();
        assert!(took.wall >= Duration::from_millis(20) && took.work <= took.wall, "{took:?}");
    }
}
