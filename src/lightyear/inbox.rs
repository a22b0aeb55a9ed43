//! Where a client's shots wait for their tick.

use core::time::Duration;

use bevy::prelude::*;

use super::ShotRequest;
use crate::{shot::RejectReason, time::Tick};

/// The shots of one connection that the server has received and not yet judged.
#[derive(Component)]
pub(super) struct Inbox<W: Send + Sync + 'static> {
    waiting: Vec<ShotRequest<W>>,
    /// Without what the game sent along, which may be large.
    refused: Vec<(ShotRequest<()>, RejectReason)>,
    seen: SequenceWindow,
    /// How many ticks shots have lately waited, smoothed; `None` before the first one.
    wait: Option<f32>,
}

/// What leaves an [`Inbox`].
pub(super) enum Released<W> {
    /// It is to be judged now.
    Due(ShotRequest<W>),
    Refused(ShotRequest<()>, RejectReason),
}

/// Limits of an [`Inbox`], in ticks.
#[derive(Clone, Copy)]
pub(super) struct InboxLimits {
    pub(super) late: u32,
    pub(super) ahead: u32,
    pub(super) waiting: usize,
    pub(super) per_tick: usize,
}

impl<W: Send + Sync + 'static> Default for Inbox<W> {
    fn default() -> Self {
        Self { waiting: Vec::new(), refused: Vec::new(), seen: SequenceWindow::default(), wait: None }
    }
}

impl<W: Send + Sync + 'static> Inbox<W> {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.refused.is_empty()
    }

    /// Takes a shot in, unless one with its sequence number has been taken in before.
    pub(super) fn receive(&mut self, shot: ShotRequest<W>, now: Tick, limits: InboxLimits) {
        if !self.seen.insert(shot.sequence) {
            debug!("shot {} came again, or far too late to tell; dropped", shot.sequence);
        } else if shot.command_tick.since(now) > limits.ahead as i32 {
            self.refuse(shot, RejectReason::CommandTickAhead);
        } else if self.waiting.len() >= limits.waiting {
            self.refuse(shot, RejectReason::TooManyWaiting);
        } else {
            self.note_wait(shot.command_tick.since(now));
            self.waiting.push(shot);
        }
    }

    /// How long shots wait from their arrival until their tick has come.
    pub(super) fn wait(&self, timestep: Duration) -> Duration {
        timestep.mul_f32(self.wait.unwrap_or_default())
    }

    /// Of a shot that comes too late its packet was lost, and it tells nothing of how far ahead the client is.
    fn note_wait(&mut self, ticks: i32) {
        const SMOOTHING: f32 = 0.125;
        if ticks >= 0 {
            let wait = self.wait.get_or_insert(ticks as f32);
            *wait += (ticks as f32 - *wait) * SMOOTHING;
        }
    }

    fn refuse(&mut self, shot: ShotRequest<W>, reason: RejectReason) {
        // No honest client comes near this, and a flood must not fill the memory while the game is paused.
        const MOST: usize = 1_024;
        if self.refused.len() < MOST {
            self.refused.push((shot.with_weapon(()).0, reason));
        } else {
            debug!("shot {} dropped without an answer: {reason:?}", shot.sequence);
        }
    }

    /// Hands out all shots whose tick has come, in the order of their ticks and numbers, and all that are refused.
    pub(super) fn release(&mut self, now: Tick, limits: InboxLimits, mut to: impl FnMut(Released<W>)) {
        for (shot, reason) in self.refused.drain(..) {
            to(Released::Refused(shot, reason));
        }
        self.waiting.sort_unstable_by_key(|shot| (shot.command_tick.since(now), shot.sequence));
        let due = self.waiting.partition_point(|shot| shot.command_tick.since(now) <= 0);
        for (number, shot) in self.waiting.drain(..due).enumerate() {
            let reason = if now.since(shot.command_tick) > limits.late as i32 {
                RejectReason::TooLate
            } else if number >= limits.per_tick {
                RejectReason::TooManyShots
            } else {
                to(Released::Due(shot));
                continue;
            };
            to(Released::Refused(shot.with_weapon(()).0, reason));
        }
    }
}

/// Which of the last 1,024 sequence numbers have been seen.
///
/// Older ones count as seen: between them and a repetition there is no telling any more. Lightyear may deliver what was
/// sent in one frame in any order, so the window is far wider than what an honest client has under way.
struct SequenceWindow {
    newest: Option<u32>,
    /// The bit of a number is found by its remainder.
    seen: [u64; Self::SIZE as usize / 64],
}

impl Default for SequenceWindow {
    fn default() -> Self {
        Self { newest: None, seen: [0; _] }
    }
}

impl SequenceWindow {
    const SIZE: u32 = 1_024;

    /// Marks a number as seen; `false` if it was before.
    fn insert(&mut self, sequence: u32) -> bool {
        let newest = *self.newest.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(newest) as i32;
        if ahead > 0 {
            if ahead as u32 >= Self::SIZE {
                self.seen = [0; _];
            } else {
                for back in 0..ahead as u32 {
                    let (word, bit) = Self::place(sequence.wrapping_sub(back));
                    self.seen[word] &= !bit;
                }
            }
            self.newest = Some(sequence);
        } else if ahead.unsigned_abs() >= Self::SIZE {
            return false;
        }
        let (word, bit) = Self::place(sequence);
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }

    fn place(sequence: u32) -> (usize, u64) {
        let index = sequence % Self::SIZE;
        (index as usize / 64, 1 << (index % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ViewTime;

    const LIMITS: InboxLimits = InboxLimits { late: 32, ahead: 64, waiting: 4, per_tick: 3 };

    fn shot(sequence: u32, tick: u32) -> ShotRequest<()> {
        ShotRequest {
            sequence,
            shooter: None,
            command_tick: Tick(tick),
            view_time: Some(ViewTime::at(Tick(tick))),
            epoch: 0,
            origin: Vec3::ZERO,
            direction: Vec3::Z,
            range: 1.0,
            displayed: None,
            weapon: (),
        }
    }

    fn release(inbox: &mut Inbox<()>, now: u32) -> Vec<(u32, Option<RejectReason>)> {
        let mut released = Vec::new();
        inbox.release(Tick(now), LIMITS, |out| {
            released.push(match out {
                Released::Due(shot) => (shot.sequence, None),
                Released::Refused(shot, reason) => (shot.sequence, Some(reason)),
            });
        });
        released
    }

    #[test]
    fn shots_wait_for_their_tick_and_leave_in_its_order() {
        let mut inbox = Inbox::default();
        for shot in [shot(3, 102), shot(1, 101), shot(2, 101)] {
            inbox.receive(shot, Tick(98), LIMITS);
        }
        assert_eq!(release(&mut inbox, 100), []);
        assert_eq!(release(&mut inbox, 101), [(1, None), (2, None)]);
        assert_eq!(release(&mut inbox, 102), [(3, None)]);
    }

    #[test]
    fn late_shots_are_judged_up_to_the_limit() {
        let mut inbox = Inbox::default();
        inbox.receive(shot(1, 68), Tick(100), LIMITS);
        inbox.receive(shot(2, 67), Tick(100), LIMITS);
        assert_eq!(release(&mut inbox, 100), [(2, Some(RejectReason::TooLate)), (1, None)]);
    }

    #[test]
    fn a_repeated_shot_is_answered_once() {
        let mut inbox = Inbox::default();
        for _ in 0..3 {
            inbox.receive(shot(7, 100), Tick(100), LIMITS);
        }
        assert_eq!(release(&mut inbox, 100), [(7, None)]);
        inbox.receive(shot(7, 101), Tick(101), LIMITS);
        assert_eq!(release(&mut inbox, 101), []);
    }

    #[test]
    fn what_is_too_much_or_too_far_ahead_is_refused_at_once() {
        let mut inbox = Inbox::default();
        inbox.receive(shot(1, 165), Tick(100), LIMITS);
        for sequence in 2..=6 {
            inbox.receive(shot(sequence, 110), Tick(100), LIMITS);
        }
        let refused = [(1, Some(RejectReason::CommandTickAhead)), (6, Some(RejectReason::TooManyWaiting))];
        assert_eq!(release(&mut inbox, 100), refused);
        let too_many = Some(RejectReason::TooManyShots);
        assert_eq!(release(&mut inbox, 110), [(2, None), (3, None), (4, None), (5, too_many)]);
    }

    #[test]
    fn sequences_may_come_out_of_order_and_wrap() {
        let mut window = SequenceWindow::default();
        for sequence in [u32::MAX - 1, 3, 0, u32::MAX, 2] {
            assert!(window.insert(sequence), "{sequence}");
            assert!(!window.insert(sequence), "{sequence} again");
        }
        assert!(window.insert(3 + 1_023));
        assert!(!window.insert(2), "1,024 numbers back there is no telling");
        assert!(window.insert(4));
        assert!(window.insert(5_000_000));
        assert!(!window.insert(3 + 1_023));
        assert!(window.insert(5_000_000 - 1_023));
    }
}
