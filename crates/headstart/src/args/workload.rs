//! Sizes of Pietrek's workload.

use clap::Args;

/// The sizes that the column gave its generator.
#[derive(Clone, Copy, Debug, Args)]
pub struct PietrekSize {
    /// Number of libraries
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub dlls: u32,
    /// Exported functions of each library
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub functions: u32,
    /// Globals that hold each function's address: one relocation each
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub globals: u32,
}
