//! `headstart bundle`: a program and its libraries as one file.

mod script;
mod toolchain;

use crate::args::{check, disk, toolchain};
use crate::exit::{self, Usage, WithCode};
use crate::output;
use crate::phrases::VIEW_WORDS;
use anyhow::{Context, Result};
use bundle::{
    BundleAdvice, BundleError, BundleOptions, BundleRecording, BundleWarning, PagesAhead,
};
use model::bundle::BundleCheck;
use model::toolchain::Toolchain;
use model::{Disk, Recording};
use prefetch::recording::{self, MOST_BYTES};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The word for a recording that is made now.
const AUTO: &str = "auto";

/// Merge a program and its libraries into one file that starts faster
///
/// The merged file is DIR/run; the program itself is not changed. At each start, DIR/run checks
/// whether the program and its libraries have changed, and if so starts the original. By default, a
/// bundle is for the machine on which it was made; --check makes it for other uses.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: a path, or a name to look up in PATH
    #[arg(required_unless_present = "toolchain")]
    program: Option<OsString>,
    /// Arguments of the launch that --prefetch auto or --populate records, or from which --learn learns
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
    /// Folder for the bundle; created if missing, and a bundle in it is replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Make bundles of the programs that a compiler starts for each file, in a folder for PATH; PROGRAM is
    /// the compiler [default: the first in PATH]
    #[arg(long, value_name = "COMPILER", value_parser = toolchain())]
    #[arg(conflicts_with_all = ["outside", "sealed", "include", "learn", "prefetch", "populate"])]
    toolchain: Option<Toolchain>,
    /// Load at fixed addresses, chosen at random now: faster still, but without address-space
    /// layout randomization (ASLR)
    #[arg(long)]
    fixed: bool,
    /// Map constants together with the code next to them: faster still, but constants become
    /// executable, which helps an attacker who can divert the program
    #[arg(long)]
    join: bool,
    /// Do not merge this library: a name such as libfoo, a path, or a folder; may be repeated
    #[arg(long, value_name = "LIBRARY")]
    outside: Vec<OsString>,
    /// What DIR/run looks at when it is started, to tell whether it is still what the program would be
    #[arg(long, value_name = "WHAT", value_parser = check(), default_value = "host")]
    check: BundleCheck,
    /// Folder whose files never change under the same name, and so are not looked at; with --check
    /// immutable; may be repeated
    #[arg(long, value_name = "FOLDER")]
    immutable: Vec<PathBuf>,
    /// The same as --check sealed
    #[arg(long, conflicts_with = "check")]
    sealed: bool,
    /// Merge this plug-in, which the program opens while it runs, with the libraries that only plug-ins
    /// need, in files in DIR; with --sealed, carry it there unmerged, with what it needs; may be repeated
    #[arg(long, value_name = "FILE")]
    include: Vec<PathBuf>,
    /// Launch the program twice, with the arguments that follow it, and merge the plug-ins that it
    /// opens; with --sealed, carry them
    #[arg(long)]
    learn: bool,
    /// Read ahead what a start needs where the file is not in memory, as a recording tells it (a file
    /// of headstart record). With `auto` a cold launch of the bundle is recorded now, with the
    /// arguments behind the program; that needs root
    #[arg(long, value_name = "RECORD|auto")]
    prefetch: Option<OsString>,
    /// The disk that is read from then [default: as an exact recording shows, else flash]
    #[arg(long, value_name = "DISK", value_parser = disk(), requires = "prefetch")]
    disk: Option<Disk>,
    /// Launch the bundle twice with the arguments after the program. At every later start, the kernel maps
    /// the pages that the second launch used, all at once: slightly faster, but pages that the launch
    /// wrote to take private memory at every start. Needs Linux 6.15 or later
    #[arg(long)]
    populate: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Makes the bundle and says what it is.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(toolchain) = arguments.toolchain {
        return toolchain::run(arguments, toolchain);
    }
    let named: Vec<OsString> = arguments.program.iter().cloned().collect();
    let mut command = os::program::resolve(&named)?;
    command.argv.extend(arguments.arguments.iter().cloned());
    let program = os::program::lasting_path(&command.program)
        .with_context(|| format!("{}: its folder cannot be found", command.program.display()))?;
    let unread = |source| BundleError::Io { path: arguments.out.clone(), source };
    let folder = std::path::absolute(&arguments.out).map_err(unread)?;
    let outside = arguments.outside.iter().map(model::text::text).collect();
    let options = BundleOptions {
        fixed: arguments.fixed,
        join: arguments.join,
        outside,
        disk: arguments.disk,
        check: arguments.check(),
        immutable: arguments.immutable()?,
        include: arguments.included()?,
        ..BundleOptions::default()
    };
    if optimize::is_script(&program) {
        os::interrupt::install();
        script::refuse(&program, &command, &folder)?;
    }
    let is_auto = arguments.prefetch.as_ref().is_some_and(|record| record == AUTO);
    let recorded = BundleRecording { read_ahead: is_auto, populate: arguments.populate };
    let records = recorded != BundleRecording::default();
    if !arguments.arguments.is_empty() && !records && !arguments.learn {
        let text = "arguments of the program are only for a launch that is recorded: use --prefetch \
                    auto, --populate or --learn, or omit them";
        return Err(Usage(text.to_owned()).into());
    }
    let learnt = if arguments.learn { Some(bundle::learn(&command)?) } else { None };
    let options = BundleOptions { learnt, ..options };
    if records {
        // What is made beside a bundle goes again.
        os::interrupt::install();
    }
    let mut made = in_folder(&folder, || {
        let read_ahead = match &arguments.prefetch {
            Some(record) if !is_auto => {
                let recording = recording(Path::new(record))?;
                Some(PagesAhead::of_recording(&recording, &program, &folder)?)
            }
            _ => None,
        };
        let options = BundleOptions { read_ahead, ..options };
        Ok(match records {
            true => bundle::make_recorded(&program, &command, &folder, (&options, recorded))?,
            false => bundle::make(&program, &folder, &options)?,
        })
    })?;
    made.manifest.warnings = made.warnings.iter().map(advised).collect();
    output::print_either(arguments.json, &made.manifest, |style| {
        let run = made.run.display().to_string();
        report::bundle::made(&run, &made.manifest, &made.figures, &VIEW_WORDS, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn check(&self) -> BundleCheck {
        if self.sealed { BundleCheck::Sealed } else { self.check }
    }

    /// The files of --include, which are there.
    fn included(&self) -> Result<BTreeSet<PathBuf>> {
        let may_include = matches!(self.check(), BundleCheck::Host | BundleCheck::Sealed);
        if !may_include && (self.learn || !self.include.is_empty()) {
            let text = "--include and --learn are for bundles with --check host, which is the default, or with \
                        --sealed: use one of them, or omit --include and --learn";
            return Err(Usage(text.to_owned()).into());
        }
        let file = |path: &PathBuf| {
            let absolute = std::path::absolute(path).and_then(|path| path.metadata().map(|_| path));
            absolute.map_err(|source| BundleError::Io { path: path.clone(), source }.into())
        };
        self.include.iter().map(file).collect()
    }

    /// The folders of --immutable, as the paths of files are told.
    fn immutable(&self) -> Result<Vec<PathBuf>> {
        if !self.immutable.is_empty() && self.check() != BundleCheck::Immutable {
            let text = "--immutable is for bundles with --check immutable: add that, or omit it";
            return Err(Usage(text.to_owned()).into());
        }
        let folder = |path: &PathBuf| {
            path.canonicalize().with_context(|| format!("{}: it cannot be found", path.display()))
        };
        self.immutable.iter().map(folder).collect()
    }
}

/// The recording in a file.
fn recording(path: &Path) -> Result<Recording> {
    let wrong = |found: String| {
        let text = format!("{}: {found}", path.display());
        anyhow::Error::from(WithCode { code: exit::FILES, text })
    };
    let unread = |error: std::io::Error| wrong(files::reasons::unread(path, &error));
    let data = path.metadata().map_err(unread)?;
    if !data.is_file() || data.len() > MOST_BYTES {
        return Err(wrong("it is no recording: a folder, a device, or too large".to_owned()));
    }
    let bytes = std::fs::read(path).map_err(unread)?;
    recording::read(&bytes).map_err(|problem| wrong(problem.to_string()))
}

/// A warning with what helps.
fn advised(warning: &BundleWarning) -> String {
    let text = &warning.text;
    match &warning.advice {
        Some(BundleAdvice::KeepOutside(library)) => {
            format!("{text} To be sure, keep the library apart: --outside {library}")
        }
        Some(BundleAdvice::Learn) => format!(
            "{text} To carry the plug-ins, name a launch that opens them: --learn -- COMMAND"
        ),
        _ => text.clone(),
    }
}

/// Does `work` in a folder, which is made for it, and goes again where the work fails.
fn in_folder<T>(folder: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    let path = || folder.to_owned();
    let done = match std::fs::create_dir_all(folder) {
        Err(source) => Err(BundleError::Write { path: path(), source }.into()),
        Ok(()) if os::program::is_on_noexec(folder) => {
            let text = format!(
                "{} is on a file system that is mounted with noexec; nothing was changed: name a \
                 folder with --out where programs can be started",
                folder.display()
            );
            Err(WithCode { code: exit::FILES, text }.into())
        }
        Ok(()) => work(),
    };
    if done.is_err() {
        // Those that others have put something into stay.
        new.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    done
}
