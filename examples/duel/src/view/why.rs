//! F4: one own shot, frozen, in slow motion and from all sides, with what its verdict rests on.

mod evidence;
mod figures;
mod orbit;
mod replay;
mod shots;
pub mod words;

use bevy::prelude::*;
use bevy_egui::EguiPrimaryContextPass;

use super::{Panels, camera::CameraSystems, hud::HudSystems, keys::KeySystems};

/// The plugin of the slow motion.
pub fn plugin(app: &mut App) {
    let is_open = |panels: Res<Panels>| panels.why;
    app.init_resource::<shots::OwnShots>()
        .init_resource::<figures::GhostLooks>()
        .init_resource::<orbit::Orbit>()
        .init_resource::<replay::SlowMotion>()
        .add_plugins(replay::plugin)
        .add_systems(PreUpdate, shots::choose.after(KeySystems).run_if(is_open))
        .add_systems(Update, shots::remember.run_if(not(is_open)))
        .add_systems(Update, (orbit::turn, orbit::follow).chain().in_set(CameraSystems).run_if(is_open))
        .add_systems(Update, (replay::run, figures::animate, replay::draw).chain().after(CameraSystems).run_if(is_open))
        .add_systems(
            Update,
            figures::place.run_if(resource_changed::<Panels>.or_else(resource_changed::<shots::OwnShots>)),
        )
        .add_systems(EguiPrimaryContextPass, evidence::draw.in_set(HudSystems).run_if(is_open));
}
