//! Experiments that the build for this host does not have: typed all the same, each says where it is.

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

/// Arguments of any kind, which nobody looks at.
#[derive(Debug, Args)]
pub struct AnyWords {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

impl LinuxExperiment {
    /// That it is not here.
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
