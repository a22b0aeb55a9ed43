// The light look of the duel: a sky from above, a sun, lines on what is flat, and haze. Some twenty instructions, so that it runs
// on a processor without a graphics card, too.

#import bevy_pbr::{forward_io::VertexOutput, mesh_view_bindings::view}

struct Look {
    color: vec4<f32>,
    haze: vec4<f32>,
    // Of a line each metre, of the edges of faces, of the rim of round things; and how much shines by itself.
    strength: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var<uniform> look: Look;

const SUN: vec3<f32> = vec3(0.42, 0.80, 0.43);

// How much of a line of `width` pixels covers this one, where `at` is 0 on the line and changes by 1 in a metre.
fn line(at: vec2<f32>, width: f32) -> f32 {
    let size = max(fwidth(at), vec2(1e-5));
    let pixels = abs(fract(at - 0.5) - 0.5) / size;
    // Far away the lines would run together.
    let fade = 1.0 - smoothstep(0.15, 0.5, max(size.x, size.y));
    return (1.0 - smoothstep(width - 0.5, width + 0.5, min(pixels.x, pixels.y))) * fade;
}

@fragment
fn fragment(in: VertexOutput) -> @location(0) vec4<f32> {
    let normal = normalize(in.world_normal);
    let place = in.world_position.xyz;
    let to_eye = view.world_position - place;
    let distance = length(to_eye);

    let sky = 0.5 + 0.5 * normal.y;
    let sun = max(dot(normal, SUN), 0.0);
    let light = vec3(0.30, 0.32, 0.36) + vec3(0.22, 0.24, 0.27) * sky + vec3(0.56, 0.52, 0.44) * sun;
    var color = look.color.rgb * mix(light, vec3(1.0), look.strength.w);

    var along = place.xz;
    if abs(normal.x) > 0.7 {
        along = place.zy;
    } else if abs(normal.z) > 0.7 {
        along = place.xy;
    }
    color *= 1.0 - look.strength.x * line(along, 0.6);

    let to_edge = min(in.uv, 1.0 - in.uv) / max(fwidth(in.uv), vec2(1e-5));
    color *= 1.0 - look.strength.y * (1.0 - smoothstep(0.7, 1.9, min(to_edge.x, to_edge.y)));

    let rim = 1.0 - max(dot(normal, to_eye / max(distance, 1e-4)), 0.0);
    color += (look.color.rgb * 0.5 + 0.1) * look.strength.z * rim * rim * rim;

    color = mix(color, look.haze.rgb, 1.0 - exp(-distance * look.haze.a));
    return vec4(color, look.color.a);
}
