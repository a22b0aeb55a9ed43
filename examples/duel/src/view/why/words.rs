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

/// What becomes of a shot that hits nobody.
pub const fn fate(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::Missed => "missed",
        RejectReason::Blocked => "blocked",
        _ => "refused",
    }
}

/// Why nothing was hit, or why a claim was not believed.
pub const fn reason(reason: RejectReason) -> &'static str {
    use RejectReason::*;
    match reason {
        Missed => "the ray met nobody where they were at the view time",
        Blocked => "a wall, a door or a lift stood in the way at the view time",
        OriginNotFinite | DirectionNotFinite | DirectionZero | RangeInvalid => "the shot is no ray",
        ShooterUnknown => "the shooter is not there",
        ShooterNotControlled => "the shooter is somebody else",
        ShooterDead => "the shooter was dead already",
        CommandTickTooOld | TooLate => "the shot came too late",
        CommandTickAhead | ViewTimeAhead => "the shot is from the future",
        ViewTimeTooOld => "what the screen showed is too long ago",
        ViewTimeImplausible => "what the screen showed does not fit the line",
        ViewTimeBackwards => "the screen seems to run backwards",
        ViewTimeTooFast => "the screen seems to run too fast",
        TooManyWaiting | TooManyShots => "too many shots at once",
        CeaseFire => "nobody may shoot now",
        MuzzleTooFar => "the shot does not begin at the shooter's eyes",
        MuzzleBlocked => "the muzzle is in a wall",
        TurnedTooFast => "nobody turns that fast",
        FiredTooFast => "the weapon does not fire that fast",
        TooManyPellets | OutsideSpread => "the weapon does not spread like that",
        OutOfAmmunition => "the magazine is empty",
        Reloading => "the magazine is being changed",
        SnapshotNotSent | SnapshotsDisordered | SnapshotOfAnotherRig => "the screen cannot be made of these snapshots",
        SnapshotsTooFarApart => "the snapshots on the screen lie too far apart",
        SnapshotsDeviate => "the screen was too far from the truth",
        ViewFrozen => "the screen stood still for too long",
        RigNotPredicted => "the screen cannot have predicted this figure",
        Game(_) => "a rule of the game",
        _ => "for another reason",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_words() {
        for each in RejectReason::ALL {
            assert_ne!(reason(each), "for another reason", "{each:?}");
        }
    }
}
