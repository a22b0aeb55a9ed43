//! Every frame of every client: counted, and, if wanted, written down.

use core::{ops::Range, time::Duration};
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use bevy::prelude::*;
use bevy_hindsight::lightyear::ViewState;
use serde_json::json;

use crate::{
    digest::Digest,
    error::LabError,
    scene::Role,
    screen::{self, Screen},
};

/// A folder for the frames of one run, with a file of JSON lines for each client.
#[derive(Clone, Debug)]
pub struct FrameFiles(PathBuf);

impl FrameFiles {
    /// Makes the folder.
    pub fn create(folder: &Path) -> Result<Self, LabError> {
        std::fs::create_dir_all(folder).map_err(|source| LabError::CannotWrite { path: folder.into(), source })?;
        Ok(Self(folder.into()))
    }

    /// The file of a client.
    pub fn of_client(&self, id: u64) -> PathBuf {
        self.0.join(format!("client_{id}.jsonl"))
    }
}

/// What the frames of a client come to.
#[derive(Resource)]
pub struct FrameLog {
    /// Frames drawn while shots were fired.
    pub drawn: u32,
    /// Those of them in which a target stood still for want of a newer snapshot.
    pub starved: u32,
    /// Of all that was shown.
    pub digest: Digest,
    file: Option<BufWriter<File>>,
    counting: Range<Duration>,
}

/// Notes each frame of a client from now on.
pub fn plugin(file: Option<PathBuf>, counting: Range<Duration>) -> impl Fn(&mut App) {
    move |app: &mut App| {
        let file = file.as_ref().and_then(|path| match File::create(path) {
            Ok(file) => Some(BufWriter::new(file)),
            Err(error) => {
                error!("no frames will be written to {}: {error}", path.display());
                None
            }
        });
        let counting = counting.clone();
        app.insert_resource(FrameLog { drawn: 0, starved: 0, digest: Digest::default(), file, counting })
            .add_systems(Update, log_frame.after(screen::draw));
    }
}

fn log_frame(
    screen: Res<Screen>,
    time: Res<Time<Real>>,
    targets: Query<&ViewState, With<Role>>,
    mut log: ResMut<FrameLog>,
) {
    let Some(view) = screen.view.filter(|_| log.counting.contains(&time.elapsed())) else { return };
    let starved = targets.iter().any(|state| *state == ViewState::Frozen);
    log.drawn += 1;
    log.starved += u32::from(starved);
    log.digest.write(u64::from(view.tick.0) << 16 | u64::from(view.fraction));
    for target in &screen.targets {
        log.digest.write(target.role as u64);
        log.digest.write_pose(target.root);
        for part in &target.parts {
            log.digest.write_pose(part.pose);
        }
    }
    for (_, pose) in &screen.barriers {
        log.digest.write_pose(*pose);
    }
    let number = log.drawn;
    if let Some(file) = &mut log.file {
        let targets: Vec<_> = screen
            .targets
            .iter()
            .map(|target| {
                let parts: Vec<_> = target.parts.iter().map(|part| placed(part.pose)).collect();
                json!({ "target": format!("{:?}", target.role), "root": placed(target.root), "hitboxes": parts })
            })
            .collect();
        let barriers: Vec<_> = screen
            .barriers
            .iter()
            .map(|(barrier, pose)| json!({ "barrier": format!("{barrier:?}"), "pose": placed(*pose) }))
            .collect();
        let frame = json!({
            "frame": number,
            "view_time": view.tick.0 as f64 + f64::from(view.fraction_f32()),
            "starved": starved,
            "targets": targets,
            "barriers": barriers,
        });
        if let Err(error) = writeln!(file, "{frame}") {
            error_once!("frames are missing: {error}");
        }
    }
}

/// Position and rotation, as a list of seven numbers.
fn placed(pose: Isometry3d) -> Vec<f32> {
    pose.translation.to_array().into_iter().chain(pose.rotation.to_array()).collect()
}
