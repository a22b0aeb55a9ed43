//! Pictures on the disk.

use core::time::Duration;
use std::{fs::File, io::BufWriter, path::Path};

use bevy::{image::Image, log::error};
use image::{
    Delay, DynamicImage, Frame, ImageResult, RgbaImage,
    codecs::gif::{GifEncoder, Repeat},
    imageops::{FilterType, resize},
};

/// The width of a film, in pixels; its height follows.
const WIDTH: u32 = 480;

/// Writes a picture as PNG; folders that are missing are made.
pub fn save(picture: &Image, path: &Path) {
    let save = || {
        let picture = readable(picture)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        picture.to_rgb8().save(path)
    };
    if let Err(error) = save() {
        error!("cannot write {}: {error}", path.display());
    }
}

fn readable(picture: &Image) -> ImageResult<DynamicImage> {
    picture
        .clone()
        .try_into_dynamic()
        .map_err(|error| image::ImageError::IoError(std::io::Error::other(error.to_string())))
}

/// Small pictures in a row.
#[derive(Default)]
pub struct Film(Vec<RgbaImage>);

impl Film {
    /// Adds a picture.
    pub fn add(&mut self, picture: &Image) {
        match readable(picture) {
            Ok(picture) => {
                let height = picture.height() * WIDTH / picture.width().max(1);
                self.0.push(resize(&picture.to_rgba8(), WIDTH, height, FilterType::Triangle));
            }
            Err(error) => error!("a picture is lost: {error}"),
        }
    }

    /// Writes the pictures as a GIF that takes so long and then begins anew; nothing if there are none.
    pub fn save(&mut self, path: &Path, length: Duration) {
        let pictures = core::mem::take(&mut self.0);
        let Some(count) = u32::try_from(pictures.len()).ok().filter(|count| *count > 0) else { return };
        let delay = Delay::from_saturating_duration(length / count);
        let write = || {
            let mut encoder = GifEncoder::new_with_speed(BufWriter::new(File::create(path)?), 10);
            encoder.set_repeat(Repeat::Infinite)?;
            encoder.encode_frames(pictures.into_iter().map(|picture| Frame::from_parts(picture, 0, 0, delay)))
        };
        if let Err(error) = write() {
            error!("cannot write {}: {error}", path.display());
        }
    }
}
