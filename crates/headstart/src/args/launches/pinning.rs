//! Which CPU launches run on.

use clap::Args;

/// Where the scheduler may put a launch.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to launch")]
pub struct PinArgs {
    #[cfg_attr(not(windows), doc = "Pin launches to this CPU [default: the quietest]")]
    #[cfg_attr(
        windows,
        doc = "Pin launches to this CPU [default: the last one that headstart may use]"
    )]
    #[arg(long, value_name = "N", conflicts_with = "no_pin")]
    cpu: Option<u32>,
    /// Let the scheduler choose the CPU
    #[arg(long)]
    no_pin: bool,
}

impl PinArgs {
    /// The CPU to pin to; none where the scheduler chooses.
    pub fn cpu(&self) -> Option<u32> {
        let quiet = || Some(os::host::quiet_cpu());
        if self.no_pin { None } else { self.cpu.or_else(quiet) }
    }
}
