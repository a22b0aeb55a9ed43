//! What hits do: damage, death and a new life.

use core::time::Duration;

use bevy::prelude::*;
use bevy_hindsight::{CurrentTick, HitConfirmed, Life, Tick, Zone, lightyear::ShotReceived};
use lightyear::prelude::{ControlledBy, MessageSender, input::native::ActionState, server::ClientOf};

use super::{arsenal::Arsenal, movement::MoveSystems, shots::FiredWith};
use crate::{
    game::{
        arena::Arena,
        character::{Body, PlayerInput},
        weapon::Weapon,
    },
    net::protocol::{Damaged, FULL_HEALTH, GameChannel, Health, Killed, Loadout, Player, Score, TICK},
};

/// How long the dead stay dead.
pub const RESPAWN_TIME: Duration = Duration::from_millis(2500);

/// How far from everybody else a new life begins, if there is such a place, in metres.
const SAFE_DISTANCE: f32 = 12.0;

/// Since when a character is dead.
#[derive(Component)]
struct DeadSince(Tick);

/// On a character whose player has not done anything yet, and takes no damage: whoever still looks for the keys is not to be shot
/// by the bot.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Newcomer;

/// The plugin of damage.
pub fn plugin(app: &mut App) {
    app.add_observer(hurt).add_systems(FixedUpdate, (respawn, end_protection).before(MoveSystems));
}

fn end_protection(
    newcomers: Query<(Entity, &ActionState<PlayerInput>), With<Newcomer>>,
    mut shots: MessageReader<ShotReceived<Weapon>>,
    mut commands: Commands,
) {
    let shooters: Vec<Entity> = shots.read().map(|shot| shot.shooter).collect();
    for (newcomer, input) in &newcomers {
        if input.0.walk != Vec2::ZERO || input.0.jump || shooters.contains(&newcomer) {
            commands.entity(newcomer).remove::<Newcomer>();
        }
    }
}

fn hurt(
    hit: On<HitConfirmed>,
    fired_with: Res<FiredWith>,
    tick: Res<CurrentTick>,
    mut figures: Query<(&mut Health, &mut Life, Option<&Player>, Option<&ControlledBy>), Without<Newcomer>>,
    mut scores: Query<(&mut Score, &Player)>,
    owners: Query<&ControlledBy>,
    mut damaged: Query<&mut MessageSender<Damaged>, With<ClientOf>>,
    mut killed: Query<&mut MessageSender<Killed>, With<ClientOf>>,
    mut commands: Commands,
) {
    let (Some(victim), Some(weapon)) = (hit.living_target(), fired_with.get(hit.shot)) else { return };
    let Ok((mut health, mut life, player, owner)) = figures.get_mut(victim) else { return };
    if !health.is_alive() {
        return;
    }
    let amount = weapon.damage(hit.by, hit.hit.zone, hit.hit.distance);
    let news = Damaged { victim, attacker: hit.shooter, by: hit.by, zone: hit.hit.zone, point: hit.hit.point, amount };
    let attackers = owners.get(hit.shooter).ok().map(|owner| owner.owner);
    for link in [attackers, owner.map(|owner| owner.owner)].into_iter().flatten() {
        if let Ok(mut link) = damaged.get_mut(link) {
            link.send::<GameChannel>(news);
        }
    }
    // The target on its rail is made of better stuff.
    let Some(victim_name) = player.map(|player| player.name.clone()) else { return };
    health.0 = (health.0 - amount).max(0.0);
    if health.is_alive() {
        return;
    }
    life.end();
    commands.entity(victim).insert(DeadSince(tick.0));
    if let Ok((mut score, _)) = scores.get_mut(victim) {
        score.deaths += 1;
    }
    let mut killer = String::new();
    if let Ok((mut score, player)) = scores.get_mut(hit.shooter) {
        // Who stands in the blast of their own rocket has killed nobody.
        score.kills += u32::from(hit.shooter != victim);
        killer.clone_from(&player.name);
    }
    let news = Killed { killer, victim: victim_name, weapon, headshot: hit.hit.zone == Zone::Head };
    for mut link in &mut killed {
        link.send::<GameChannel>(news.clone());
    }
}

fn respawn(
    mut dead: Query<(Entity, &DeadSince, &mut Transform, &mut Body, &mut Health, &mut Life, &mut Loadout)>,
    living: Query<(&Transform, &Health), (With<Player>, Without<DeadSince>)>,
    arena: Res<Arena>,
    tick: Res<CurrentTick>,
    mut commands: Commands,
) {
    // In this tick.
    let mut begun = Vec::new();
    for (entity, since, mut transform, mut body, mut health, mut life, mut loadout) in &mut dead {
        let ticks = u32::try_from(tick.0.since(since.0)).unwrap_or_default();
        if TICK * ticks < RESPAWN_TIME {
            continue;
        }
        let others = living.iter().map(|(other, _)| other.translation).chain(begun.iter().copied());
        let at = respawn_point(&arena.spawn_points, others);
        begun.push(at);
        *transform = Transform::from_translation(at).with_rotation(Quat::from_rotation_y(arena.yaw_at(at)));
        (*body, *health) = (Body::default(), Health(FULL_HEALTH));
        life.begin();
        let weapon = loadout.weapon;
        loadout.set_if_neq(Loadout { weapon, ..Loadout::default() });
        commands.entity(entity).remove::<DeadSince>().insert((Arsenal::default(), weapon.fire_control()));
    }
}

/// Near enough to be back soon, and far enough to be safe.
fn respawn_point(points: &[Vec3], living: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    let nearest = |at: &Vec3| living.clone().map(|other| other.distance(*at)).fold(f32::INFINITY, f32::min);
    let safe = points.iter().filter(|at| nearest(at) >= SAFE_DISTANCE);
    let by_distance = |a: &&Vec3, b: &&Vec3| nearest(a).total_cmp(&nearest(b));
    let chosen = safe.min_by(by_distance).or_else(|| points.iter().max_by(by_distance));
    chosen.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_respawns_next_to_an_opponent_or_at_the_end_of_the_world() {
        let points = [Vec3::X * 2.0, Vec3::X * 14.0, Vec3::X * 40.0];
        assert_eq!(respawn_point(&points, [Vec3::ZERO].into_iter()), points[1]);
        assert_eq!(respawn_point(&points, [Vec3::ZERO, Vec3::X * 14.0].into_iter()), points[2]);
        assert_eq!(respawn_point(&points, points.into_iter()), points[2], "nowhere is safe");
    }
}
