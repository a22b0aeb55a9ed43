//! The scripted duel makes pictures on which the past can be seen.
//!
//! Needs a Vulkan driver, also one in software, and is therefore ignored without `--include-ignored`.

use std::{collections::HashSet, env, fs, path::PathBuf, process::Command};

use image::RgbImage;

/// A folder for one test, which is removed with this value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How many pixels are of a ghost's colour, or a faded one: mostly of these channels, and hardly of the others.
fn ghostly(picture: &RgbImage, strong: [bool; 3]) -> usize {
    let is_ghostly = |pixel: &image::Rgb<u8>| {
        let lowest = pixel.0.iter().zip(strong).filter(|(_, strong)| *strong).map(|(value, _)| *value).min();
        let highest = pixel.0.iter().zip(strong).filter(|(_, strong)| !*strong).map(|(value, _)| *value).max();
        lowest.is_some_and(|lowest| highest.is_some_and(|highest| lowest > 150 && lowest > highest.saturating_add(110)))
    };
    picture.pixels().filter(|pixel| is_ghostly(pixel)).count()
}

#[test]
#[ignore = "needs a Vulkan driver, and a minute"]
fn the_script_shows_the_duel_the_ghosts_and_the_panels() {
    let folder = Folder(env::temp_dir().join(format!("duel-pictures-{}", std::process::id())));
    let run = Command::new(env!("CARGO_BIN_EXE_duel")).arg("--record").arg(&folder.0).status().unwrap();
    assert!(run.success(), "{run}");
    for name in ["duel", "ghosts", "why", "network", "victim"] {
        let picture = image::open(folder.0.join(format!("{name}.png"))).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (1280, 720), "{name}");
        let colours: HashSet<_> = picture.pixels().map(|pixel| pixel.0).collect();
        assert!(colours.len() > 200, "{name} is blank: {} colours", colours.len());
        if matches!(name, "ghosts" | "why") {
            let [green, red] = [[false, true, false], [true, false, false]].map(|strong| ghostly(&picture, strong));
            let [blue, yellow] = [[false, false, true], [true, true, false]].map(|strong| ghostly(&picture, strong));
            let found = format!("{name}: green {green}, red {red}, blue {blue}, yellow {yellow} pixels");
            assert!(green > 50 && yellow > 20, "{found}");
            // Where the server tested is where the screen showed it, so that one covers the other.
            assert!(red + blue > 50, "{found}");
        }
    }
    let film = fs::metadata(folder.0.join("duel.gif")).unwrap();
    assert!(film.len() > 50_000, "the film has {} bytes", film.len());
}
