//! The comparison: each ray of a client is judged once more, by the present.

use bevy::prelude::*;
use bevy_hindsight::{
    CurrentTick, LagCompensationSystems, RewoundFilter, RewoundQuery, ShotEvent, ViewTime, lightyear::ShotReceived,
};
use lightyear::prelude::{MessageSender, server::ClientOf};

use crate::{
    game::weapon::Weapon,
    net::protocol::{GameChannel, UncompensatedVerdict},
};

/// The plugin that does it.
pub fn plugin(app: &mut App) {
    app.add_systems(FixedPostUpdate, judge_by_the_present.after(LagCompensationSystems::ReportVerdicts));
}

fn judge_by_the_present(
    mut received: MessageReader<ShotReceived<Weapon>>,
    mut shots: MessageReader<ShotEvent>,
    query: RewoundQuery,
    tick: Res<CurrentTick>,
    mut links: Query<&mut MessageSender<UncompensatedVerdict>, With<ClientOf>>,
) {
    let shots: Vec<&ShotEvent> = shots.read().collect();
    for ShotReceived { shot, link, shooter, weapon, .. } in received.read().filter(|shot| shot.weapon.is_hitscan()) {
        let Some(event) = shots.iter().find(|event| event.id == *shot) else { continue };
        let (Ok(aim), Ok(mut link)) = (Dir3::new(event.direction), links.get_mut(*link)) else { continue };
        let sequence = shot.sequence;
        let filter = RewoundFilter::new().fired_by(*shooter);
        let mut judge = |part, direction| {
            let range = event.range.min(weapon.range());
            let met = query.cast_ray(ViewTime::at(tick.0), Ray3d::new(event.origin, direction), range, &filter);
            link.send::<GameChannel>(UncompensatedVerdict { sequence, part, confirmed: met.victim().is_some() });
        };
        match weapon.pellets() {
            Some(pattern) => {
                for (part, direction) in (0..).zip(pattern.seeded(sequence).directions(aim)) {
                    judge(part, direction);
                }
            }
            None => judge(0, aim),
        }
    }
}
