//! The borders between the layers of the library, read from its `use` lines.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A source file, relative to `src/`, and what it uses: other crates, and modules of this one as `crate::module`.
struct Source {
    file: String,
    uses: Vec<String>,
}

fn sources() -> Vec<Source> {
    fn list(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder should be readable") {
            let path = entry.expect("the entry should be readable").path();
            if path.is_dir() {
                list(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    list(&src, &mut files);
    let read = |path: PathBuf| Source {
        uses: uses_of(&fs::read_to_string(&path).expect("the source should be readable")),
        file: path.strip_prefix(&src).expect("it lies there").to_string_lossy().replace('\\', "/"),
    };
    files.into_iter().map(read).collect()
}

/// The first words of all paths that a source uses.
fn uses_of(source: &str) -> Vec<String> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut uses = Vec::new();
    for statement in code.split(';').filter_map(|statement| statement.split_once("use ").map(|(_, paths)| paths)) {
        let path = statement.trim().trim_start_matches("::");
        let root = path.split("::").next().unwrap_or(path);
        match path.strip_prefix("crate::") {
            Some(inner) => uses.extend(first_level(inner).map(|module| format!("crate::{module}"))),
            None => uses.push(root.to_string()),
        }
    }
    uses
}

/// `{a::{b, c}, d}` has `a` and `d` at its first level; `a::b` has `a`.
fn first_level(paths: &str) -> impl Iterator<Item = String> {
    let mut depth = 0;
    let inner = paths.strip_prefix('{').unwrap_or(paths);
    let entries = inner.split(move |letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    entries.map(|entry| entry.trim().split("::").next().unwrap_or_default().trim_end_matches('}').to_string())
}

fn assert_only_under(folder: &str, crates: &[&str]) {
    let users: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.uses.iter().any(|used| crates.contains(&used.as_str())))
        .map(|source| source.file)
        .collect();
    assert!(!users.is_empty(), "somebody should use {crates:?}");
    for user in users {
        assert!(user.starts_with(folder), "`{user}` uses {crates:?}, which belong under `{folder}`");
    }
}

#[test]
fn rapier_is_named_only_under_trace() {
    assert_only_under("trace", &["bevy_rapier3d", "rapier3d", "parry3d"]);
}

#[test]
fn lightyear_is_named_only_under_lightyear() {
    assert_only_under("lightyear", &["lightyear"]);
}

#[test]
fn no_layer_knows_the_ones_above_it() {
    let layers: [&[&str]; 5] = [
        &["time", "pose", "shape", "policy", "weapon"],
        // Settings have no layer of their own; they name nothing but numbers.
        &["history", "hitbox", "config"],
        &["shot", "trace"],
        &["plugin", "schedule"],
        &["lightyear", "gizmos", "test_app"],
    ];
    let layer_of = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    let mut borders = 0;
    for source in sources().iter().filter(|source| source.file != "lib.rs") {
        let module = source.file.split(['/', '.']).next().unwrap_or_default();
        let own = layer_of(module).unwrap_or_else(|| panic!("`{module}` should have a layer"));
        for used in source.uses.iter().filter_map(|used| used.strip_prefix("crate::")) {
            // Names of types, re-exported at the root, have no layer.
            let Some(layer) = layer_of(used) else { continue };
            borders += 1;
            assert!(layer <= own, "`{}` uses `{used}` of a layer above it", source.file);
        }
    }
    assert!(borders > 20, "the `use` lines should be found");
}
