//! What is printed and where else it goes.

use clap::{ArgGroup, Args};
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
    /// Print Pietrek's lines too: the fastest launch in ticks of the clock
    #[arg(long)]
    pub ticks: bool,
    /// Write the results to a file too: FILE.json, FILE.csv or FILE.md
    #[arg(long, value_name = "FILE", value_parser = exportable)]
    pub export: Vec<PathBuf>,
    /// Write the JSON that hyperfine --export-json writes, for scripts made for it
    #[arg(long, value_name = "FILE")]
    pub export_hyperfine: Option<PathBuf>,
}

fn exportable(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "csv" | "md") => Ok(path),
        _ => Err("the name's ending says the format: .json, .csv or .md".to_owned()),
    }
}
