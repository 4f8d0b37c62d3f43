//! What launches read, recorded and read ahead: recordings and their files, plans, replaying, and
//! Windows' own prefetch files.

#[cfg(target_os = "linux")]
pub mod class;
#[cfg(target_os = "linux")]
pub mod export;
#[cfg(target_os = "linux")]
mod identity;
#[cfg(target_os = "linux")]
pub mod launchers;
#[cfg(target_os = "linux")]
pub mod merge;
#[cfg(target_os = "linux")]
mod pages;
pub mod pf;
#[cfg(target_os = "linux")]
pub mod plan;
#[cfg(target_os = "linux")]
pub mod record;
#[cfg(target_os = "linux")]
pub mod recording;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
pub mod store;

#[cfg(target_os = "linux")]
pub use identity::{FileState, state};
