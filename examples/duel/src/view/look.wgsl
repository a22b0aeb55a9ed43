// The light look of the duel: a sun, a sky, lines on what is flat, and haze. Made so that it runs on a processor without a
// graphics card, too: one pipeline for each kind of surface, no textures, and no roots or powers where others will do.

#import bevy_pbr::{forward_io::VertexOutput, mesh_view_bindings::view}

struct Look {
    color: vec4<f32>,
    // The colour of the sky at the horizon, and how dense the haze is.
    haze: vec4<f32>,
    // Of lines each metre, of squares of two metres, of the rim of round things, of light of its own.
    strength: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var<uniform> look: Look;

const SUN: vec3<f32> = vec3(0.48, 0.78, 0.40);
// How dark edges are.
const EDGES: f32 = 0.45;

// How light a surface is that faces `normal`. Walls are darker where they stand on the ground.
fn light(normal: vec3<f32>, height: f32) -> vec3<f32> {
    let corner = min(0.72 + 0.2 * height + abs(normal.y), 1.0);
    let sky = (vec3(0.36, 0.395, 0.47) + vec3(0.10, 0.115, 0.14) * normal.y) * corner;
    return sky + vec3(0.62, 0.57, 0.47) * max(dot(normal, SUN), 0.0);
}

// How much of a line of a pixel's width covers this one. `pixels` tells how far away the line is, along both axes.
fn line(pixels: vec2<f32>) -> f32 {
    return saturate(1.6 - min(pixels.x, pixels.y));
}

@fragment
fn fragment(in: VertexOutput) -> @location(0) vec4<f32> {
#ifdef SKY
    // The sphere is seen from within, and so upside down.
    let up = saturate(2.0 * in.uv.y - 1.0);
    return vec4(mix(look.haze.rgb, look.color.rgb, up * (2.0 - up)), 1.0);
#else
    let place = in.world_position.xyz;
    let to_eye = view.world_position - place;
    let squared_distance = dot(to_eye, to_eye);
#ifdef ROUND
    let normal = normalize(in.world_normal);
    var color = look.color.rgb * mix(light(normal, place.y), vec3(1.0), look.strength.w);
    let rim = 1.0 - max(dot(normal, to_eye) * inverseSqrt(squared_distance), 0.0);
    color += (look.color.rgb * 0.5 + 0.1) * look.strength.z * rim * rim * rim;
#else
    let normal = in.world_normal;
    var color = look.color.rgb * light(normal, place.y);
    // Along the two axes of the face.
    let along = select(select(place.xy, place.zy, abs(normal.x) > 0.7), place.xz, abs(normal.y) > 0.7);
    let size = fwidth(along) + 1e-5;
    // Far away the lines would run together.
    let near = saturate(1.3 - 2.6 * max(size.x, size.y));
    let square = floor(along.x * 0.5) + floor(along.y * 0.5);
    color *= 1.0 - look.strength.y * near * 2.0 * fract(square * 0.5);
    color *= 1.0 - look.strength.x * near * line(abs(fract(along - 0.5) - 0.5) / size);
    let to_edge = min(in.uv, 1.0 - in.uv) / (fwidth(in.uv) + 1e-5);
    color *= 1.0 - EDGES * line(to_edge - 0.4);
#endif
    let haze = squared_distance * look.haze.a;
    return vec4(mix(color, look.haze.rgb, haze / (1.0 + haze)), look.color.a);
#endif
}
