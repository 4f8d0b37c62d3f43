//! Output as hyperfine has it: units, order, colors, and files for scripts made for it.

use crate::args::choice;
use anyhow::Result;
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use model::{Results, TimeUnit};
use report::export::hyperfine::{self, Markup, markup};
use std::path::{Path, PathBuf};

/// How results look.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// Unit of times in tables [default: the one that suits them]
    #[arg(short = 'u', long, value_name = "UNIT", value_parser = unit())]
    time_unit: Option<TimeUnit>,
    /// Order of commands in tables
    #[arg(long, value_name = "HOW", default_value = "auto")]
    sort: Sort,
    /// Colors and progress
    #[arg(long, value_name = "HOW")]
    style: Option<Look>,
}

/// Files in hyperfine's formats.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files for scripts made for hyperfine (- is standard output)")]
pub struct ExportArgs {
    /// Write hyperfine's JSON
    #[arg(long, value_name = "FILE", alias = "export-hyperfine")]
    export_json: Option<PathBuf>,
    /// Write hyperfine's table of comma-separated values
    #[arg(long, value_name = "FILE")]
    export_csv: Option<PathBuf>,
    /// Write hyperfine's Markdown table
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,
    /// Write hyperfine's AsciiDoc table
    #[arg(long, value_name = "FILE")]
    export_asciidoc: Option<PathBuf>,
    /// Write hyperfine's Emacs org-mode table
    #[arg(long, value_name = "FILE")]
    export_orgmode: Option<PathBuf>,
}

fn unit() -> impl TypedValueParser<Value = TimeUnit> {
    choice([
        ("microsecond", TimeUnit::Microsecond),
        ("millisecond", TimeUnit::Millisecond),
        ("second", TimeUnit::Second),
    ])
}

/// The order of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// As they were typed
    Auto,
    /// As they were typed
    Command,
    /// The fastest mean first
    MeanTime,
}

/// What the terminal gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Look {
    /// What the terminal can show
    Auto,
    /// No colors, no progress
    Basic,
    /// Colors even where there is no terminal; progress where there is one
    Full,
    /// Progress without colors
    Nocolor,
    /// Colors without progress
    Color,
    /// Print nothing but errors
    None,
}

impl LookArgs {
    /// What the terminal gets.
    pub fn look(&self) -> Look {
        self.style.unwrap_or(Look::Auto)
    }

    /// The results as tables are to show them.
    pub fn shown(&self, results: &Results) -> Results {
        let mut shown = results.clone();
        shown.unit = self.time_unit;
        if self.sort == Sort::MeanTime {
            let mean = hyperfine::mean_us;
            shown.variants.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
            let place = |name: &str| shown.variants.iter().position(|v| v.name == name);
            shown.effects.sort_by_key(|effect| place(&effect.variant));
        }
        shown
    }
}

impl ExportArgs {
    /// The files that will be written.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let data = [&self.export_json, &self.export_csv];
        let tables = [&self.export_markdown, &self.export_asciidoc, &self.export_orgmode];
        let all = data.into_iter().chain(tables).flatten();
        all.filter(|path| path.to_str() != Some("-"))
    }

    /// Writes what was asked for. `shown` is what tables show of the results.
    pub fn write(
        &self,
        results: &Results,
        shown: &Results,
        write: impl Fn(&Path, &str) -> Result<()>,
    ) -> Result<()> {
        if let Some(path) = &self.export_json {
            write(path, &hyperfine::json(results)?)?;
        }
        if let Some(path) = &self.export_csv {
            write(path, &hyperfine::csv(results))?;
        }
        let tables = [
            (&self.export_markdown, Markup::Markdown),
            (&self.export_asciidoc, Markup::Asciidoc),
            (&self.export_orgmode, Markup::Orgmode),
        ];
        for (path, language) in tables {
            if let Some(path) = path {
                write(path, &markup(shown, language))?;
            }
        }
        Ok(())
    }
}
