//! Verdicts in words.

use bevy_hindsight::{CheckPolicy, HitBy, RejectReason, ViewSource, Zone};

/// How it was found what the shooter's screen showed.
pub const fn source(source: ViewSource) -> &'static str {
    match source {
        ViewSource::AsDisplayed => "as displayed: the snapshots on the screen",
        ViewSource::Reported => "reported: the instant that the client named",
        ViewSource::Estimated => "estimated: what the server measured of the line",
        ViewSource::Textbook => "textbook: now - RTT/2 - interpolation",
        ViewSource::None => "none: the present",
        _ => "in another way",
    }
}

/// What was done to a claim that is too much.
pub const fn policy(policy: CheckPolicy) -> &'static str {
    match policy {
        CheckPolicy::Reject => "refused",
        CheckPolicy::Clamp => "moved to the limit",
        CheckPolicy::UseEstimate => "the server's estimate was used",
        _ => "changed",
    }
}

/// How somebody was hit.
pub const fn hit_by(by: HitBy) -> &'static str {
    match by {
        HitBy::Bullet => "bullet",
        HitBy::Swing => "blow",
        HitBy::Beam => "beam",
        HitBy::Projectile => "rocket",
        HitBy::Blast => "blast",
        _ => "shot",
    }
}

/// Where on the body.
pub const fn zone(zone: Zone) -> &'static str {
    match zone {
        Zone::Head => "head",
        Zone::Neck => "neck",
        Zone::Torso => "torso",
        Zone::Pelvis => "hips",
        Zone::Arm => "arm",
        Zone::Hand => "hand",
        Zone::Leg => "leg",
        Zone::Foot => "foot",
        _ => "body",
    }
}

/// Why nothing was hit.
pub const fn reason(reason: RejectReason) -> &'static str {
    use RejectReason::*;
    match reason {
        Missed => "missed: the ray met nobody where they were at the view time",
        Blocked => "blocked: a wall, a door or a lift stood in the way at the view time",
        OriginNotFinite | DirectionNotFinite | DirectionZero | RangeInvalid => "refused: the shot is no ray",
        ShooterUnknown => "refused: the shooter is not there",
        ShooterNotControlled => "refused: the shooter is somebody else",
        ShooterDead => "refused: the shooter was dead already",
        CommandTickTooOld | TooLate => "refused: the shot came too late",
        CommandTickAhead | ViewTimeAhead => "refused: the shot is from the future",
        ViewTimeTooOld => "refused: what the screen showed is too long ago",
        ViewTimeImplausible => "refused: what the screen showed does not fit the line",
        ViewTimeBackwards => "refused: the screen seems to run backwards",
        ViewTimeTooFast => "refused: the screen seems to run too fast",
        TooManyWaiting | TooManyShots => "refused: too many shots at once",
        CeaseFire => "refused: nobody may shoot now",
        MuzzleTooFar => "refused: the shot does not begin at the shooter's eyes",
        MuzzleBlocked => "refused: the muzzle is in a wall",
        TurnedTooFast => "refused: nobody turns that fast",
        FiredTooFast => "refused: the weapon does not fire that fast",
        TooManyPellets | OutsideSpread => "refused: the weapon does not spread like that",
        OutOfAmmunition => "refused: the magazine is empty",
        Reloading => "refused: the magazine is being changed",
        SnapshotNotSent | SnapshotsDisordered | SnapshotOfAnotherRig => {
            "refused: the screen cannot be made of these snapshots"
        }
        SnapshotsTooFarApart => "refused: the snapshots on the screen lie too far apart",
        SnapshotsDeviate => "refused: the screen was too far from the truth",
        ViewFrozen => "refused: the screen stood still for too long",
        RigNotPredicted => "refused: the screen cannot have predicted this figure",
        Game(_) => "refused by a rule of the game",
        _ => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_words() {
        for each in RejectReason::ALL {
            assert!(reason(each).len() > "refused".len(), "{each:?}");
        }
    }
}
