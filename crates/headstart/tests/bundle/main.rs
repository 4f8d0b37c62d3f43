//! `headstart bundle`, `verify` and `rerandomize` as commands, on small programs built here.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

#[path = "../common/mod.rs"]
mod common;

mod ahead;
mod arguments;
mod carried;
mod checks;
mod commands;
mod executed;
mod explained;
mod handles;
mod harm;
mod killed;
mod launched;
mod loader_cache;
mod namespace;
mod payload;
mod place;
mod populated;
mod preamble;
mod rare;
mod refused;
mod remains;
mod rerandomized;
mod sanitizers;
mod sealed;
mod stage;
mod survival;
mod toolchains;
mod verified;
