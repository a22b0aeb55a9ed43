//! What it looks like to be hit: red at the edges, and an arc to where it came from.

use bevy::{math::ops, prelude::*};
use bevy_egui::egui::{Color32, Mesh, Painter, Pos2, Rect, Shape, Stroke, vec2};

use super::{Canvas, Me};
use crate::net::protocol::Damaged;

/// How long a hit is felt, in seconds.
const LIFE: f32 = 1.1;
const BLOOD: Color32 = Color32::from_rgb(190, 24, 18);

/// The hits that are felt.
#[derive(Resource, Default)]
pub(super) struct Wounds(Vec<Wound>);

struct Wound {
    /// Where the attacker was.
    from: Option<Vec3>,
    amount: f32,
    age: f32,
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<Wounds>().add_systems(Update, feel);
}

fn feel(
    mut damages: MessageReader<Damaged>,
    mut wounds: ResMut<Wounds>,
    places: Query<&Transform>,
    me: Me,
    time: Res<Time>,
) {
    for wound in &mut wounds.0 {
        wound.age += time.delta_secs();
    }
    wounds.0.retain(|wound| wound.age < LIFE);
    for damage in damages.read().filter(|damage| Some(damage.victim) == me.entity()) {
        let from = places.get(damage.attacker).ok().map(|attacker| attacker.translation + Vec3::Y);
        wounds.0.push(Wound { from, amount: damage.amount, age: 0.0 });
    }
}

pub(super) fn draw(mut canvas: Canvas, wounds: Res<Wounds>) -> Result {
    let (painter, screen) = canvas.painter()?;
    let pain: f32 = wounds.0.iter().map(|wound| wound.amount / 40.0 * (1.0 - wound.age / LIFE)).sum();
    if pain > 0.0 {
        vignette(&painter, screen, BLOOD.gamma_multiply(0.75 * pain.min(1.0)));
    }
    for wound in &wounds.0 {
        let Some(direction) = wound.from.map(|from| canvas.direction_to(from)) else { continue };
        let color = BLOOD.gamma_multiply(1.0 - wound.age / LIFE);
        arc(&painter, screen.center(), ops::atan2(direction.x, -direction.z), color);
    }
    Ok(())
}

/// A frame that fades towards the middle.
fn vignette(painter: &Painter, screen: Rect, color: Color32) {
    let inner = screen.shrink2(screen.size() * 0.16);
    let mut mesh = Mesh::default();
    let corners = |rect: Rect| [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    for (outside, inside) in corners(screen).into_iter().zip(corners(inner)) {
        mesh.colored_vertex(outside, color);
        mesh.colored_vertex(inside, Color32::TRANSPARENT);
    }
    for side in 0..4 {
        let [a, b, c, d] = [2 * side, 2 * side + 1, (2 * side + 2) % 8, (2 * side + 3) % 8];
        mesh.add_triangle(a, b, c);
        mesh.add_triangle(b, c, d);
    }
    painter.add(Shape::mesh(mesh));
}

/// `angle` is clockwise from up, in radians.
fn arc(painter: &Painter, middle: Pos2, angle: f32, color: Color32) {
    const RADIUS: f32 = 90.0;
    const HALF_WIDTH: f32 = 0.28;
    let point = |step: i32| {
        let (sin, cos) = ops::sin_cos(angle + HALF_WIDTH * step as f32 / 5.0);
        middle + vec2(sin, -cos) * RADIUS
    };
    painter.line((-5..=5).map(point).collect(), Stroke::new(5.0, color));
}
