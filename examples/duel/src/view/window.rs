//! The app with a window, or with a picture that nobody sees.

use core::{panic::AssertUnwindSafe, time::Duration};
use std::{env, panic, panic::catch_unwind};

use bevy::{
    app::ScheduleRunnerPlugin,
    prelude::*,
    render::RenderPlugin,
    tasks::block_on,
    window::{ExitCondition, WindowPosition, WindowResolution},
    winit::{WinitPlugin, WinitSettings},
};

use crate::net::log_plugin;

/// How often a picture is drawn that nobody sees.
const OFFSCREEN_RATE: f64 = 60.0;

/// What the app draws on.
#[derive(Resource, Clone, PartialEq, Debug)]
pub struct ViewSettings {
    /// What the window is called.
    pub title: String,
    /// Where its upper left corner is, in pixels of the screen; `None` where the desktop likes.
    pub position: Option<IVec2>,
    /// Its width and height, in pixels.
    pub size: UVec2,
    /// Whether there is no window: it draws on an image, [`Screen::image`](super::Screen::image).
    pub offscreen: bool,
}

/// Why nothing can be drawn.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum NoScreen {
    /// There is no desktop to open a window on.
    #[error("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")]
    Display,
    /// There is no driver for drawing.
    #[error("no graphics driver was found: install Vulkan (on Debian: libvulkan1 mesa-vulkan-drivers). {0}")]
    Driver(String),
    /// The desktop is there, but no window can be opened.
    #[error(
        "no window can be opened (on Debian, install: libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0). {0}"
    )]
    Window(String),
}

/// Whether there is a desktop that a window can be opened on.
pub fn display_available() -> bool {
    let is_set = |variable| env::var_os(variable).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET")
}

/// An app that draws, and complains on standard error only. It must be made on the main thread.
///
/// # Errors
///
/// If there is no display, no driver, or a library for windows is missing.
pub fn windowed_app(settings: &ViewSettings) -> Result<App, NoScreen> {
    if !settings.offscreen && !display_available() {
        return Err(NoScreen::Display);
    }
    find_driver()?;
    let mut app = App::new();
    app.insert_resource(settings.clone());
    let render = RenderPlugin { synchronous_pipeline_compilation: settings.offscreen, ..default() };
    let plugins = DefaultPlugins.set(log_plugin()).set(render).set(if settings.offscreen {
        no_window()
    } else {
        one_window(settings)
    });
    if settings.offscreen {
        app.add_plugins(plugins.disable::<WinitPlugin>())
            .add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_secs_f64(1.0 / OFFSCREEN_RATE)));
        return Ok(app);
    }
    // Winit has no other way to say that a library is missing.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let added = catch_unwind(AssertUnwindSafe(|| _ = app.add_plugins(plugins)));
    panic::set_hook(hook);
    added.map_err(|reason| {
        let text = reason.downcast_ref::<String>().cloned();
        NoScreen::Window(text.or_else(|| reason.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    })?;
    // A window in the background is still a player.
    app.insert_resource(WinitSettings::continuous());
    Ok(app)
}

fn one_window(settings: &ViewSettings) -> WindowPlugin {
    let ViewSettings { title, position, size, .. } = settings;
    let window = Window {
        title: title.clone(),
        position: position.map_or(WindowPosition::Automatic, WindowPosition::At),
        resolution: WindowResolution::new(size.x, size.y),
        ..default()
    };
    WindowPlugin { primary_window: Some(window), ..default() }
}

fn no_window() -> WindowPlugin {
    WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() }
}

/// Bevy ends in a panic if there is none.
fn find_driver() -> Result<(), NoScreen> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let found = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    found.map(drop).map_err(|error| NoScreen::Driver(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_install() {
        assert!(NoScreen::Driver(String::new()).to_string().contains("mesa-vulkan-drivers"));
        assert!(NoScreen::Window(String::new()).to_string().contains("libxkbcommon-x11-0"));
    }

    #[test]
    fn the_window_is_as_it_was_asked_for() {
        let settings = ViewSettings {
            title: "red".into(),
            position: Some(IVec2::new(640, 0)),
            size: UVec2::new(320, 200),
            offscreen: false,
        };
        let window = one_window(&settings).primary_window.unwrap();
        assert_eq!((window.title.as_str(), window.position), ("red", WindowPosition::At(IVec2::new(640, 0))));
        assert_eq!((window.resolution.width(), window.resolution.height()), (320.0, 200.0));
    }
}
