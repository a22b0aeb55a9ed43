//! The light look of all that is solid: a small material of the game's own, since the standard one is ten times slower where a
//! processor has to draw.

use bevy::{
    asset::{embedded_asset, embedded_path},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};

use super::palette;

/// How much of the haze is there after a metre.
const HAZE_DENSITY: f32 = 0.006;

/// What something looks like.
#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
pub struct LookMaterial {
    #[uniform(0)]
    color: LinearRgba,
    /// Its colour, and its density as alpha.
    #[uniform(0)]
    haze: LinearRgba,
    /// Of lines each metre, of edges, of the rim, of light of its own.
    #[uniform(0)]
    strength: Vec4,
}

impl LookMaterial {
    fn new(color: Color, strength: Vec4) -> Self {
        let haze = palette::SKY.to_linear().with_alpha(HAZE_DENSITY);
        Self { color: color.to_linear(), haze, strength }
    }

    /// Walls and boxes: with edges, and with a line each metre, so that movement can be seen.
    pub fn block(color: Color, lines: f32) -> Self {
        Self::new(color, Vec4::new(lines, 0.45, 0.0, 0.0))
    }

    /// Bodies: with a bright rim, so that they stand out.
    pub fn body(color: Color) -> Self {
        Self::new(color, Vec4::new(0.0, 0.0, 0.8, 0.0))
    }

    /// What shines. It is seen through where its colour is.
    pub fn glow(color: Color) -> Self {
        Self::new(color, Vec4::new(0.0, 0.0, 0.4, 1.0))
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
    app.add_plugins(MaterialPlugin::<LookMaterial>::default()).insert_resource(ClearColor(palette::SKY));
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
