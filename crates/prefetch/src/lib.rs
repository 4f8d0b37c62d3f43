//! What launches read, recorded and read ahead: recordings and their files, plans, replaying, and
//! Windows' own prefetch files.

pub mod class;
pub mod export;
mod identity;
pub mod launchers;
pub mod merge;
mod pages;
pub mod pf;
pub mod plan;
pub mod record;
pub mod recording;
#[cfg(test)]
mod sample;
pub mod store;

pub use identity::{FileState, state};
