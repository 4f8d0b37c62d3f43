//! `headstart bundle`, `verify` and `rerandomize` as commands, on small programs built here.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

#[path = "../common/mod.rs"]
mod common;

mod commands;
mod guard;
mod killed;
mod namespace;
mod place;
mod rare;
mod refused;
mod rerandomized;
mod stage;
mod survival;
mod verified;
