//! Everything that differs between operating systems, and the only system calls of headstart.
//!
//! Linux is the only one so far; its files are in the folder `linux`. `unsafe` is allowed here and
//! each block gives its reason.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "linux")]
pub mod wine;

#[cfg(not(target_os = "linux"))]
compile_error!("headstart's launching and tracing exist for Linux only so far");
