//! What is printed and where else it goes.

use super::exports::{ExportArgs, LookArgs};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args};
use std::ffi::OsString;
use std::path::PathBuf;

/// Formats of results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[command(group = ArgGroup::new("format").multiple(false))]
pub struct OutputArgs {
    /// Print one JSON object
    #[arg(long, group = "format")]
    pub json: bool,
    /// Print a table of comma-separated values
    #[arg(long, group = "format")]
    pub csv: bool,
    /// Print a Markdown table
    #[arg(long, group = "format")]
    pub markdown: bool,
    /// Add the lines of Pietrek's LoadTimer: the fastest launch in clock ticks
    #[arg(long)]
    pub ticks: bool,
    /// Write the results to a file too: FILE.json, FILE.csv or FILE.md
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(exportable))]
    pub export: Vec<PathBuf>,
    #[command(flatten)]
    pub look: LookArgs,
    #[command(flatten)]
    pub exports: ExportArgs,
}

fn exportable(name: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "csv" | "md") => Ok(path),
        _ => Err("the name's ending says the format: .json, .csv or .md".to_owned()),
    }
}
