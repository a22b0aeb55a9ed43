//! The camera: the eyes of one's own figure.

use bevy::{
    camera::RenderTarget,
    core_pipeline::tonemapping::Tonemapping,
    prelude::*,
    render::{render_resource::TextureFormat, view::Msaa},
};
use bevy_egui::{EguiGlobalSettings, PrimaryEguiContext};
use lightyear::prelude::Controlled;

use super::{Panels, ViewSettings};
use crate::{
    game::{arena::Arena, controls::Controls},
    net::{
        client::{Eye, place_eye},
        protocol::Player,
    },
};

/// The height of the picture, as an angle in radians: 87° from left to right in a picture of 16:9.
const FIELD_OF_VIEW: f32 = 0.98;

/// Nothing nearer is seen, in metres: the ghosts of one's own head are around the eyes, and walls never are.
const NEAR: f32 = 0.2;

/// What is drawn on.
#[derive(Resource, Clone, Debug, Default)]
pub struct Screen {
    /// The picture, if there is no window.
    pub image: Option<Handle<Image>>,
}

/// The camera of the person.
#[derive(Component)]
pub struct ViewCamera;

/// A camera that stands where it should be.
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct CameraSystems;

/// The plugin of the camera.
pub fn plugin(app: &mut App) {
    app.init_resource::<Screen>()
        .add_systems(PreStartup, spawn_camera)
        .configure_sets(Update, CameraSystems.after(place_eye))
        .add_systems(Update, follow_eye.in_set(CameraSystems).run_if(|panels: Res<Panels>| !panels.why));
}

fn spawn_camera(
    settings: Res<ViewSettings>,
    arena: Res<Arena>,
    mut egui: ResMut<EguiGlobalSettings>,
    mut screen: ResMut<Screen>,
    mut images: ResMut<Assets<Image>>,
    mut commands: Commands,
) {
    egui.auto_create_primary_context = false;
    let mut camera = commands.spawn((
        ViewCamera,
        Camera3d::default(),
        PrimaryEguiContext,
        Projection::Perspective(PerspectiveProjection { fov: FIELD_OF_VIEW, near: NEAR, far: 500.0, ..default() }),
        Msaa::Off,
        Tonemapping::None,
        overview(&arena),
        Visibility::default(),
    ));
    if settings.offscreen {
        let image = Image::new_target_texture(settings.size.x, settings.size.y, TextureFormat::Rgba8UnormSrgb, None);
        let image = images.add(image);
        camera.insert(RenderTarget::Image(image.clone().into()));
        screen.image = Some(image);
    }
}

/// From above a corner, for those who have no eyes yet.
fn overview(arena: &Arena) -> Transform {
    let corner = Vec3::new(0.75, 0.5, 0.75) * arena.half_size;
    Transform::from_translation(corner).looking_at(Vec3::Y, Vec3::Y)
}

fn follow_eye(
    mut camera: Single<&mut Transform, With<ViewCamera>>,
    own: Query<(), (With<Player>, With<Controlled>)>,
    controls: Res<Controls>,
    eye: Res<Eye>,
    arena: Res<Arena>,
) {
    **camera = if own.is_empty() {
        overview(&arena)
    } else {
        Transform::from_translation(eye.place).with_rotation(controls.input().rotation())
    };
}
