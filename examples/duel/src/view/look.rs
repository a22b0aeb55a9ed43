//! The light look of all that is solid: a small material of the game's own, since the standard one is ten times slower where a
//! processor has to draw.

use bevy::{
    asset::{AssetPath, embedded_asset, embedded_path},
    mesh::MeshVertexBufferLayoutRef,
    pbr::{MaterialPipeline, MaterialPipelineKey},
    prelude::*,
    render::render_resource::{AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError},
    shader::ShaderRef,
};

use super::palette;

/// How dense the haze is: half of what is a hundred metres away is lost in it.
const HAZE_DENSITY: f32 = 1e-4;
/// How far away the sky is, in metres.
const SKY_DISTANCE: f32 = 300.0;

/// What something looks like.
#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
#[bind_group_data(Surface)]
pub struct LookMaterial {
    #[uniform(0)]
    color: LinearRgba,
    /// Its colour, and its density as alpha.
    #[uniform(0)]
    haze: LinearRgba,
    /// Of lines each metre, of squares of two metres, of the rim, and of light of its own.
    #[uniform(0)]
    strength: Vec4,
    surface: Surface,
}

/// The kinds of surfaces. Each has a pipeline, so that none pays for what only others have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub enum Surface {
    /// Faces with edges.
    Flat,
    /// Anything else.
    Round,
    /// The sky.
    Sky,
}

impl From<&LookMaterial> for Surface {
    fn from(material: &LookMaterial) -> Self {
        material.surface
    }
}

impl LookMaterial {
    fn new(surface: Surface, color: Color, strength: Vec4) -> Self {
        let haze = palette::HAZE.to_linear().with_alpha(HAZE_DENSITY);
        Self { color: color.to_linear(), haze, strength, surface }
    }

    /// Walls and boxes, with edges, and with what shows movement: lines each metre, and squares of two metres.
    pub fn block(color: Color, lines: f32, squares: f32) -> Self {
        Self::new(Surface::Flat, color, Vec4::new(lines, squares, 0.0, 0.0))
    }

    /// Bodies, with a bright rim, so that they stand out.
    pub fn body(color: Color) -> Self {
        Self::new(Surface::Round, color, Vec4::new(0.0, 0.0, 0.7, 0.0))
    }

    /// What shines. It is seen through as far as its colour is.
    pub fn glow(color: Color) -> Self {
        Self::new(Surface::Round, color, Vec4::new(0.0, 0.0, 0.3, 1.0))
    }

    /// What is not there: its colour tells what it is, and a little light its form.
    pub fn ghost(color: Color) -> Self {
        Self::new(Surface::Round, color, Vec4::new(0.0, 0.0, 0.0, 0.7))
    }
}

impl Material for LookMaterial {
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Path(AssetPath::from_path_buf(embedded_path!("look.wgsl")).with_source("embedded"))
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

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let define = match key.bind_group_data {
            Surface::Flat => return Ok(()),
            Surface::Round => "ROUND",
            Surface::Sky => "SKY",
        };
        if let Some(fragment) = &mut descriptor.fragment {
            fragment.shader_defs.push(define.into());
        }
        Ok(())
    }
}

/// The plugin of the look.
pub fn plugin(app: &mut App) {
    embedded_asset!(app, "look.wgsl");
    app.add_plugins(MaterialPlugin::<LookMaterial>::default())
        .insert_resource(ClearColor(palette::HAZE))
        .add_systems(Startup, spawn_sky);
}

/// A sphere around everything, seen from within.
fn spawn_sky(mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<LookMaterial>>, mut commands: Commands) {
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(-SKY_DISTANCE).mesh().uv(24, 16))),
        MeshMaterial3d(materials.add(LookMaterial::new(Surface::Sky, palette::SKY, Vec4::ZERO))),
        // The poles of Bevy's spheres are on Z.
        Transform::from_rotation(Quat::from_rotation_x(-core::f32::consts::FRAC_PI_2)),
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

    #[test]
    fn only_blocks_pay_for_edges() {
        let surface = |material| Surface::from(&material);
        assert_eq!(surface(LookMaterial::block(Color::WHITE, 0.1, 0.1)), Surface::Flat);
        assert_eq!(surface(LookMaterial::body(Color::WHITE)), Surface::Round);
        assert_eq!(surface(LookMaterial::ghost(Color::WHITE)), Surface::Round);
    }
}
