//! The light look of all that is solid: a small material of the game's own, since the standard one is ten times slower where a
//! processor has to draw.

use bevy::{
    asset::{embedded_asset, embedded_path},
    prelude::*,
    render::render_resource::{AsBindGroup, ShaderType},
    shader::ShaderRef,
};

use super::palette;

/// How much of the haze is there after a metre.
const HAZE_DENSITY: f32 = 0.006;
/// How far away the sky is, in metres.
const SKY_DISTANCE: f32 = 300.0;

/// What something looks like.
#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
pub struct LookMaterial {
    #[uniform(0)]
    color: LinearRgba,
    /// Its colour, and its density as alpha.
    #[uniform(0)]
    haze: LinearRgba,
    #[uniform(0)]
    strength: Strength,
    /// How much it shines by itself; 1 if it is the sky.
    #[uniform(0)]
    own: Vec4,
}

/// How strong the parts of a look are, from 0 to 1.
#[derive(ShaderType, Clone, Copy, PartialEq, Debug, Default)]
pub struct Strength {
    /// Lines each metre.
    pub lines: f32,
    /// Squares of two metres.
    pub squares: f32,
    /// The edges of faces.
    pub edges: f32,
    /// The rim of round things.
    pub rim: f32,
}

impl LookMaterial {
    fn new(color: Color, strength: Strength, shine: f32) -> Self {
        let haze = palette::HAZE.to_linear().with_alpha(HAZE_DENSITY);
        Self { color: color.to_linear(), haze, strength, own: Vec4::X * shine }
    }

    /// Walls and boxes, with edges, and with what shows movement.
    pub fn block(color: Color, lines: f32, squares: f32) -> Self {
        Self::new(color, Strength { lines, squares, edges: 0.45, rim: 0.0 }, 0.0)
    }

    /// Bodies, with a bright rim, so that they stand out.
    pub fn body(color: Color) -> Self {
        Self::new(color, Strength { rim: 0.7, ..default() }, 0.0)
    }

    /// What shines. It is seen through as far as its colour is.
    pub fn glow(color: Color) -> Self {
        Self::new(color, Strength { rim: 0.3, ..default() }, 1.0)
    }

    /// What is not there: its colour tells what it is, and a little light its form.
    pub fn ghost(color: Color) -> Self {
        Self::new(color, Strength::default(), 0.7)
    }

    fn sky() -> Self {
        let sky = Self::new(palette::SKY, Strength::default(), 1.0);
        Self { own: Vec4::new(1.0, 1.0, 0.0, 0.0), ..sky }
    }
}

impl Material for LookMaterial {
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Path(bevy::asset::AssetPath::from_path_buf(embedded_path!("look.wgsl")).with_source("embedded"))
    }

    fn alpha_mode(&self) -> AlphaMode {
        if self.color.alpha < 1.0 { AlphaMode::Blend } else { AlphaMode::Opaque }
    }

    fn enable_prepass() -> bool {
        false
    }

    fn enable_shadows() -> bool {
        false
    }
}

/// The plugin of the look.
pub fn plugin(app: &mut App) {
    embedded_asset!(app, "look.wgsl");
    app.add_plugins(MaterialPlugin::<LookMaterial>::default())
        .insert_resource(ClearColor(palette::HAZE))
        .add_systems(Startup, spawn_sky);
}

/// A box around everything, seen from within.
fn spawn_sky(mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<LookMaterial>>, mut commands: Commands) {
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::from_length(-SKY_DISTANCE))),
        MeshMaterial3d(materials.add(LookMaterial::sky())),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_solid_is_blended() {
        assert_eq!(LookMaterial::body(Color::WHITE).alpha_mode(), AlphaMode::Opaque);
        assert_eq!(LookMaterial::glow(Color::WHITE.with_alpha(0.5)).alpha_mode(), AlphaMode::Blend);
    }
}
