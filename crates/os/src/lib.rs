//! Everything that differs between operating systems, and the only system calls of headstart.
//!
//! The folders `linux` and `windows` have files of the same names for the same things. `unsafe` is
//! allowed here and each block gives its reason.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub mod cpuid;
mod error;
mod functions;
mod launching;
mod outcome;
mod pattern;
pub mod phrases;
mod stdio;
mod timed_loads;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(windows)]
pub use windows::*;

#[cfg(target_os = "linux")]
pub mod wine;

pub use error::{FailureKind, LaunchError};

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("headstart's launching and tracing exist for Linux and Windows only");
