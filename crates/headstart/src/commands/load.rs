//! `headstart load`: how long libraries take to load, one after the other.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as host;
#[cfg(target_os = "linux")]
pub use linux::{compare, linux_names, object, recorded};
#[cfg(windows)]
use windows as host;

use crate::args::seconds;
use crate::exit::{self, FileError};
use crate::input;
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
#[cfg(not(windows))]
use clap::ArgGroup;
use lab::libraries::{self, DllListRequest};
use model::LibraryLoadReport;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Load libraries one after the other and show how long each takes
///
/// LIST is a text file with the name or path of a library on each line, as LoadDlls has it.
#[cfg_attr(
    not(windows),
    doc = "Each is loaded by dlopen (RTLD_NOW) in a process that does nothing else. Names are files of the \
           current folder, or else searched for as programs' libraries are."
)]
#[cfg_attr(
    windows,
    doc = "Each is loaded by LoadLibrary in a process that does nothing else. Names are searched for as \
           Windows does: in its own folders, the current folder and those of PATH."
)]
/// A library that fails, crashes, exits or hangs is reported, and the others are loaded all the same.
#[cfg_attr(
    not(windows),
    doc = "\n\nA list of DLLs is loaded by LoadLibrary under Wine, in a prefix that is removed afterwards. \
           Names are searched for as Windows does (system32, the current folder, WINEPATH); a path may be \
           one of Linux (/opt/app/a.dll) or of Windows (C:\\windows\\system32\\user32.dll)."
)]
#[derive(Debug, clap::Args)]
#[cfg_attr(not(windows), command(group = ArgGroup::new("what").required(true).multiple(false)))]
#[cfg_attr(windows, command(override_usage = "headstart.exe load [OPTIONS] <LIST>"))]
pub struct Arguments {
    /// The list; comments begin with # or ;
    #[arg(value_name = "LIST")]
    #[cfg_attr(not(windows), arg(group = "what"))]
    #[cfg_attr(windows, arg(required_unless_present = "sample"))]
    list: Option<PathBuf>,
    /// Evict the files from the page cache first; the list is loaded once before, untimed, to find
    /// them
    #[arg(long, hide = cfg!(windows))]
    cold: bool,
    /// Read the files ahead before loading: whole files, those of needed libraries included
    #[arg(long, hide = cfg!(windows))]
    prefetch: bool,
    /// Read the files ahead while loading, by several threads. The loads themselves stay one after
    /// the other: the loader has one lock for all of a process
    #[arg(long, hide = cfg!(windows))]
    parallel: bool,
    /// Load the list cold with and without reading ahead, in interleaved rounds, and show LoadDlls'
    /// published figures beside
    #[arg(long, conflicts_with_all = ["cold", "prefetch", "parallel", "strict"], hide = cfg!(windows))]
    compare: bool,
    /// Rounds of --compare
    #[arg(short, long, value_name = "N", default_value_t = 10, requires = "compare")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..), hide = cfg!(windows))]
    runs: u32,
    /// Give a library up that takes longer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    timeout: Duration,
    /// Exit with code 1 unless all libraries were loaded
    #[arg(long)]
    strict: bool,
    /// Write a list of common libraries of this system instead: those of ld.so.cache that most
    /// others need, from as many packages as possible, that load without error or side effects
    #[arg(long, hide = cfg!(windows))]
    #[cfg_attr(not(windows), arg(group = "what"))]
    #[arg(conflicts_with_all = ["cold", "prefetch", "parallel", "compare", "strict", "json", "timeout"])]
    sample: bool,
    /// Number of libraries in the list of --sample
    #[arg(long, value_name = "N", default_value_t = 100, requires = "sample")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000), hide = cfg!(windows))]
    count: u32,
    /// Write the list of --sample to this file
    #[arg(long, value_name = "FILE", requires = "sample", hide = cfg!(windows))]
    out: Option<PathBuf>,
    /// Print one JSON object. For DLLs, it lists everything that came with each one, and when
    #[arg(long)]
    json: bool,
}

/// Loads everything and prints what it took; or writes a list.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    host::run(arguments)
}

impl Arguments {
    /// An option that there is for libraries of Linux alone.
    fn option_of_linux(&self) -> Option<&'static str> {
        let asked = [
            (self.cold, "--cold"),
            (self.prefetch, "--prefetch"),
            (self.parallel, "--parallel"),
            (self.compare, "--compare"),
            (self.sample, "--sample"),
        ];
        asked.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, option)| option)
    }
}

/// Loads DLLs and prints what it took. `before` and `during`: what is to be waited for.
fn dlls(
    arguments: &Arguments,
    list: &Path,
    names: Vec<OsString>,
    [before, during]: [&str; 2],
) -> Result<ExitCode> {
    let request =
        DllListRequest { list: list.display().to_string(), names, timeout: arguments.timeout };
    let line = StatusLine::new();
    line.show(0.0, before.to_owned());
    let report = libraries::load_dlls(&request, &mut |share| line.show(share, during.to_owned()));
    line.clear();
    show(arguments, &report?)
}

fn show(arguments: &Arguments, report: &LibraryLoadReport) -> Result<ExitCode> {
    output::print_either(arguments.json, report, |style| {
        report::library_loads::view(report, style)
    })?;
    let good = !arguments.strict || report.failed() == 0;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) })
}

/// The names of a list.
fn names(list: &Path) -> Result<Vec<OsString>> {
    if output::is_named_pipe(list) {
        return Err(FileError {
            path: list.display().to_string(),
            source: std::io::Error::other("it is a named pipe, which waits for somebody to write"),
            remedy: "give a file",
        }
        .into());
    }
    let bytes = input::read_at_most(list, libraries::LARGEST_LIST_BYTES as u64 + 1)?;
    let names = libraries::library_names(&bytes).map_err(|error| FileError {
        path: list.display().to_string(),
        remedy: error.remedy,
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(names)
}
