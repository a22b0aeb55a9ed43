//! The duel in real windows, on a display of its own.
//!
//! Needs Xvfb, xdotool, `import` of `ImageMagick` and a Vulkan driver; on Debian
//! `xvfb xdotool imagemagick libvulkan1 mesa-vulkan-drivers libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0`. The tests are
//! therefore ignored unless they are asked for: `cargo test -p duel --test desktop -- --ignored`.

mod closing;
mod machine;
mod person;
mod soak;
