//! Experiments that this build does not have: if one is typed all the same, an error says where it exists.

use crate::verbs;
use clap::{Args, Subcommand};
use std::ffi::OsString;

/// One of them.
#[derive(Debug, Subcommand)]
pub enum LinuxExperiment {
    #[command(hide = true, disable_help_flag = true)]
    Openoffice(AnyWords),
    #[command(hide = true, disable_help_flag = true)]
    Prefetch(AnyWords),
    #[command(hide = true, disable_help_flag = true)]
    Pagein(AnyWords),
    #[command(hide = true, disable_help_flag = true)]
    Probe(AnyWords),
}

/// Arguments of any kind, which are ignored.
#[derive(Debug, Args)]
pub struct AnyWords {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

impl LinuxExperiment {
    /// The error that says that this build does not have it.
    pub fn not_here(&self) -> anyhow::Error {
        let name = match self {
            LinuxExperiment::Openoffice(_) => "openoffice",
            LinuxExperiment::Prefetch(_) => "prefetch",
            LinuxExperiment::Pagein(_) => "pagein",
            LinuxExperiment::Probe(_) => "probe",
        };
        verbs::not_here(&format!("experiment {name}"))
    }
}
