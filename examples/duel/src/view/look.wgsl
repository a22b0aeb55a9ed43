// The light look of the duel: a sun, a sky, lines on what is flat, and haze. Some forty instructions, so that it runs on a
// processor without a graphics card, too.

#import bevy_pbr::{forward_io::VertexOutput, mesh_view_bindings::view}

struct Look {
    color: vec4<f32>,
    // The colour of the haze at the horizon, and how dense it is.
    haze: vec4<f32>,
    // Of lines each metre, of squares of two metres, of the edges of faces, of the rim of round things.
    strength: vec4<f32>,
    // How much it shines by itself; whether it is the sky.
    own: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var<uniform> look: Look;

const SUN: vec3<f32> = vec3(0.48, 0.78, 0.40);

// How much of a line of `width` pixels covers this one, where `at` is 0 on the line and changes by 1 in a metre.
fn line(at: vec2<f32>, size: vec2<f32>, width: f32) -> f32 {
    let pixels = abs(fract(at - 0.5) - 0.5) / size;
    return 1.0 - smoothstep(width - 0.5, width + 0.5, min(pixels.x, pixels.y));
}

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let up = max(direction.y, 0.0);
    let sun = max(dot(direction, SUN), 0.0);
    let color = mix(look.haze.rgb, look.color.rgb, 1.0 - exp(-3.5 * up));
    return color + vec3(0.30, 0.24, 0.14) * pow(sun, 24.0);
}

@fragment
fn fragment(in: VertexOutput) -> @location(0) vec4<f32> {
    let place = in.world_position.xyz;
    let to_eye = view.world_position - place;
    let distance = length(to_eye);
    if look.own.y > 0.5 {
        return vec4(sky(-to_eye / distance), 1.0);
    }
    let normal = normalize(in.world_normal);
    let up = 0.5 + 0.5 * normal.y;
    let sun = max(dot(normal, SUN), 0.0);
    // Walls are darker where they stand on the ground.
    let corner = mix(0.72 + 0.28 * smoothstep(0.0, 1.4, place.y), 1.0, abs(normal.y));
    let light = (vec3(0.26, 0.28, 0.33) + vec3(0.20, 0.23, 0.28) * up) * corner + vec3(0.62, 0.57, 0.47) * sun;
    var color = look.color.rgb * mix(light, vec3(1.0), look.own.x);

    var along = place.xz;
    if abs(normal.x) > 0.7 {
        along = place.zy;
    } else if abs(normal.z) > 0.7 {
        along = place.xy;
    }
    let size = max(fwidth(along), vec2(1e-5));
    // Far away the lines would run together.
    let near = 1.0 - smoothstep(0.12, 0.5, max(size.x, size.y));
    let square = abs(floor(along.x * 0.5) + floor(along.y * 0.5)) % 2.0;
    color *= 1.0 - look.strength.y * square * near;
    color *= 1.0 - look.strength.x * line(along, size, 0.6) * near;

    let to_edge = min(in.uv, 1.0 - in.uv) / max(fwidth(in.uv), vec2(1e-5));
    color *= 1.0 - look.strength.z * (1.0 - smoothstep(0.7, 1.9, min(to_edge.x, to_edge.y)));

    let rim = 1.0 - max(dot(normal, to_eye / max(distance, 1e-4)), 0.0);
    color += (look.color.rgb * 0.5 + 0.1) * look.strength.w * rim * rim * rim;

    color = mix(color, look.haze.rgb, 1.0 - exp(-distance * look.haze.a));
    return vec4(color, look.color.a);
}
