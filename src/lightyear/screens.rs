//! What the screen showed for each shot, for those who want to see it.

use bevy::prelude::*;
use lightyear::prelude::Controlled;

use super::{Displayed, ShotData, fire::Outbox, predict::DrawnRecord};
use crate::{
    shot::{DisplayedShot, DisplayedShots, ShotId, ShotTracing},
    time::ViewTime,
    trace::{RewoundFilter, RewoundQuery},
};

/// Keeps what the frame that was drawn last has shown of the shots that were fired since it was kept before.
pub(super) fn keep_screens<W: ShotData>(
    outbox: Res<Outbox<W>>,
    query: RewoundQuery,
    drawn: Res<DrawnRecord>,
    displayed: Res<Displayed>,
    controlled: Query<(), With<Controlled>>,
    tracing: Res<ShotTracing>,
    mut shots: ResMut<DisplayedShots>,
) {
    let at = ViewTime::at(drawn.tick(*displayed));
    let is_of_others = |rig| !controlled.contains(rig);
    for request in &outbox.waiting {
        let is_new = |latest: &DisplayedShot| request.sequence.wrapping_sub(latest.shot.sequence) as i32 > 0;
        let Ok(direction) = Dir3::new(request.direction) else { continue };
        if !shots.latest().is_none_or(is_new) {
            continue;
        }
        let ray = Ray3d::new(request.origin, direction);
        let filter = RewoundFilter::new().rigs(&is_of_others);
        let filter = request.shooter.map_or(filter, |shooter| filter.fired_by(shooter));
        let (hitboxes, occluders) = query.shown_around(at, ray, request.range, &filter, &tracing);
        let (shot, view_time, range) = (ShotId::local(request.sequence), request.view_time, request.range);
        shots.keep(DisplayedShot { shot, view_time, ray, range, hitboxes, occluders }, tracing.max_displayed);
    }
}
