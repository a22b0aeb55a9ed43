//! Draws hitboxes and shots, live and rewound.

mod draw;

use alloc::collections::VecDeque;
use core::time::Duration;

use bevy::{
    color::palettes::basic::{BLUE, FUCHSIA, LIME, RED, YELLOW},
    gizmos::GizmoPlugin,
    prelude::*,
};

#[cfg(feature = "lightyear")]
use crate::lightyear::ShotClientSystems;
use crate::{
    history::{HistoryBuffer, Sample},
    hitbox::Rig,
    shot::{DisplayedShots, ShotTraced},
    time::ViewTime,
};
use draw::Pen;

/// Draws the latest [`ShotTraced`] with Bevy's gizmos, on a server or on a client: where everything stood that the shot came
/// near, by the server's memory, by the screen, and now.
///
/// It is off until the [`GizmoConfig`] of [`LagCompensationGizmos`] is enabled, and draws only what is collected: see
/// [`ShotTracing`](crate::ShotTracing) and, for clients, `EvidenceViewer`.
///
/// Add it before or after Bevy's `GizmoPlugin` (part of `DefaultPlugins`); in an app without that it does nothing. It needs no
/// renderer.
///
/// ```
/// use bevy::{asset::AssetPlugin, gizmos::GizmoPlugin, mesh::MeshPlugin, prelude::*, transform::TransformPlugin};
/// use bevy_hindsight::{LagCompensationGizmos, LagCompensationGizmosPlugin, ShotTracing, prelude::*};
///
/// /// On a key of the game's.
/// fn toggle(mut store: ResMut<GizmoConfigStore>) {
///     store.config_mut::<LagCompensationGizmos>().0.enabled ^= true;
/// }
///
/// let mut app = App::new();
/// // `DefaultPlugins`, in a game with a window.
/// app.add_plugins((MinimalPlugins, TransformPlugin, AssetPlugin::default(), MeshPlugin, GizmoPlugin))
///     .add_plugins((LagCompensationPlugin::default(), LagCompensationGizmosPlugin))
///     .insert_resource(ShotTracing { enabled: true, ..default() });
/// # app.add_systems(Update, toggle);
/// # app.finish();
/// # app.update();
/// ```
pub struct LagCompensationGizmosPlugin;

/// The gizmos of [`LagCompensationGizmosPlugin`]: their colours, and what is drawn. Kept in Bevy's [`GizmoConfigStore`], with a
/// [`GizmoConfig`] that is not `enabled` at first.
///
/// A colour of `None` leaves its part out.
#[derive(GizmoConfigGroup, Clone, PartialEq, Debug, Reflect)]
#[reflect(Default)]
pub struct LagCompensationGizmos {
    /// What a shot came near, where it stands in the tick of the verdict. Default: green.
    pub live: Option<Color>,
    /// The same, where the server tested it. Default: red.
    pub rewound: Option<Color>,
    /// The same, where it was on the screen of the client that fired; known on that client only. Default: blue.
    pub displayed: Option<Color>,
    /// The shot itself, with a cross where it ended. Default: yellow.
    pub ray: Option<Color>,
    /// For victims, what stands between them and the shooter by now: see [`ShotTraced::cover`]. Default: fuchsia.
    pub cover: Option<Color>,
    /// Whether moving occluders are drawn like hitboxes. Default: `true`.
    pub occluders: bool,
    /// The hitboxes of all rigs, where they stand in this frame, whether anybody shoots or not. Default: `None`.
    pub all_rigs: Option<Color>,
    /// How long a shot is drawn; it fades evenly. Default: 4 s.
    pub life_time: Duration,
    /// How many shots are drawn, the latest ones. Default: 16. A figure of 19 capsules is 3,300 lines, in each of three colours.
    pub max_shots: usize,
}

impl Default for LagCompensationGizmos {
    fn default() -> Self {
        Self {
            live: Some(LIME.into()),
            rewound: Some(RED.into()),
            displayed: Some(BLUE.into()),
            ray: Some(YELLOW.into()),
            cover: Some(FUCHSIA.into()),
            occluders: true,
            all_rigs: None,
            life_time: Duration::from_secs(4),
            max_shots: 16,
        }
    }
}

impl Plugin for LagCompensationGizmosPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<ShotTraced>().init_resource::<DisplayedShots>().init_resource::<RecentShots>();
        init_group(app);
    }

    fn finish(&self, app: &mut App) {
        init_group(app);
        if !app.is_plugin_added::<GizmoPlugin>() {
            return;
        }
        app.configure_sets(PostUpdate, DrawSystems.after(TransformSystems::Propagate));
        #[cfg(feature = "lightyear")]
        app.configure_sets(PostUpdate, DrawSystems.after(ShotClientSystems::RecordDisplayed));
        app.add_systems(PostUpdate, (remember_shots, draw_shots, draw_rigs).chain().in_set(DrawSystems));
    }
}

/// After everything has been recorded where this frame draws it.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct DrawSystems;

/// Makes room for the gizmos, turned off, unless the game has done so. Without Bevy's plugin they would wait for ever.
fn init_group(app: &mut App) {
    let store = app.world().get_resource::<GizmoConfigStore>();
    let is_known = store.is_some_and(|store| store.get_config::<LagCompensationGizmos>().is_some());
    if app.is_plugin_added::<GizmoPlugin>() && !is_known {
        let off = GizmoConfig { enabled: false, ..default() };
        app.insert_gizmo_config(LagCompensationGizmos::default(), off);
    }
}

/// The shots that are drawn, the earliest first, and since when.
#[derive(Resource, Default)]
struct RecentShots(VecDeque<(Duration, ShotTraced)>);

fn remember_shots(
    mut traced: MessageReader<ShotTraced>,
    mut recent: ResMut<RecentShots>,
    store: Res<GizmoConfigStore>,
    time: Res<Time>,
) {
    let (config, style) = store.config::<LagCompensationGizmos>();
    if !config.enabled {
        traced.clear();
        recent.0.clear();
        return;
    }
    recent.0.extend(traced.read().map(|shot| (time.elapsed(), shot.clone())));
    let surplus = recent.0.len().saturating_sub(style.max_shots);
    recent.0.drain(..surplus);
    recent.0.retain(|(since, _)| time.elapsed().saturating_sub(*since) < style.life_time);
}

fn draw_shots(
    mut gizmos: Gizmos<LagCompensationGizmos>,
    recent: Res<RecentShots>,
    displayed: Res<DisplayedShots>,
    time: Res<Time>,
) {
    let style = gizmos.config_ext;
    for (since, shot) in &recent.0 {
        let age = time.elapsed().saturating_sub(*since).as_secs_f32();
        let alpha = 1.0 - age / style.life_time.as_secs_f32();
        style.draw_shot(shot, displayed.get(shot.shot), alpha, &mut gizmos);
    }
}

fn draw_rigs(mut gizmos: Gizmos<LagCompensationGizmos>, rigs: Query<&HistoryBuffer, With<Rig>>) {
    let Some(color) = gizmos.config_ext.all_rigs.filter(|_| gizmos.config.enabled) else { return };
    let mut pen = Pen { gizmos: &mut gizmos, alpha: 1.0 };
    let latest = rigs.iter().filter_map(|history| history.sample(ViewTime::at(history.newest()?)));
    for rig in latest.filter(Sample::is_alive) {
        for hitbox in rig.hitboxes() {
            pen.shape(hitbox.shape, hitbox.pose, color);
        }
    }
}
