//! What a modified client sends ends in a reason, or in the verdict that an honest client in its place would have had.
//!
//! All of it travels over real sockets. No attack makes the server panic or log above `debug`; see [`attacker::Attacker`].

mod attacker;
mod ear;
mod floods;
mod messages;
mod muzzles;
mod numbers;
mod sequences;
mod shooters;
mod snapshots;
mod views;
mod weapons;
