//! Variants of one program: bundles by the command, others by the registry that `optimize` uses,
//! in a process of its own, as cargo changes the environment of this one.

use crate::context::Context;
use anyhow::{Context as _, Result, bail, ensure};
use model::Command;
use model::bundle::BundleManifest;
use optimize::Program;
use os::cache::evict;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The first argument that asks this program for a variant.
pub const COMMAND: &str = "make-variant";
/// Name of the original among the variants.
pub const ORIGINAL: &str = "original";

/// One variant.
pub struct Made {
    pub name: &'static str,
    pub program: PathBuf,
    /// Original files that no launch of it maps.
    pub replaced: Vec<PathBuf>,
}

/// A program, as it is and as variants.
pub struct Subject {
    /// As it was named.
    pub name: String,
    pub original: Made,
    pub made: Vec<Made>,
    folder: PathBuf,
}

impl Subject {
    /// Builds the variants of these names.
    ///
    /// # Errors
    /// There is no such program, or it is declined.
    pub fn make(context: &Context, name: &str, wanted: &[&'static str]) -> Result<Subject> {
        let path = match name.contains('/') {
            true => PathBuf::from(name),
            false => testkit::find(name).with_context(|| format!("there is no {name}"))?,
        };
        let label = name.replace('/', "-");
        let folder = context.scratch.join(format!("variants{label}"));
        let mut made = Vec::new();
        for name in wanted {
            let place = folder.join(name.replace(' ', "-"));
            made.push(make(context, name, &path, &place)?);
        }
        let original = Made { name: ORIGINAL, program: path, replaced: Vec::new() };
        Ok(Subject { name: name.to_owned(), original, made, folder })
    }

    /// The original first.
    pub fn all(&self) -> impl Iterator<Item = &Made> {
        std::iter::once(&self.original).chain(&self.made)
    }

    /// Evicts the files that bundles replace from the page cache; two launches read them again.
    ///
    /// # Errors
    /// A launch fails.
    pub fn read_originals_again(&self, arguments: &[&str]) -> Result<()> {
        let mut files: Vec<&Path> =
            self.made.iter().flat_map(|made| &made.replaced).map(PathBuf::as_path).collect();
        files.sort_unstable();
        files.dedup();
        let evicted = evict(&files);
        ensure!(evicted.failed.is_empty(), "not evicted: {:?}", evicted.failed);
        for _ in 0..2 {
            let mut command = std::process::Command::new(&self.original.program);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            ensure!(command.status()?.success(), "{command:?} failed");
        }
        Ok(())
    }

    /// Makes room.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(self) -> Result<()> {
        Ok(std::fs::remove_dir_all(&self.folder)?)
    }
}

/// Makes one in a folder that is made too.
///
/// # Errors
/// It is declined.
pub fn make(context: &Context, name: &'static str, program: &Path, place: &Path) -> Result<Made> {
    std::fs::create_dir_all(place)?;
    let (path, folder) = (program.display().to_string(), place.display().to_string());
    if name.starts_with("bundle") {
        let kind: Vec<&str> = name.split(' ').collect();
        let words = [&kind[..], &["--json", "--out", &folder, &path]].concat();
        let manifest: BundleManifest = context.headstart.json(&words)?;
        let merged = manifest.modules.into_iter().filter(|module| module.outside.is_none());
        let replaced = merged.map(|module| PathBuf::from(module.path)).collect();
        return Ok(Made { name, program: place.join("run"), replaced });
    }
    let own = context.own_program(&context.headstart)?;
    let run: PathBuf = own.json(&[COMMAND, name, &path, &folder])?;
    Ok(Made { name, program: run, replaced: Vec::new() })
}

/// `NAME PROGRAM FOLDER`: makes a variant of the registry and prints the path to start, as JSON.
///
/// # Errors
/// There is none of this name, or it is declined.
pub fn run(words: &[&str]) -> Result<bool> {
    let [name, path, folder] = words else { bail!("{COMMAND} NAME PROGRAM FOLDER") };
    let path = PathBuf::from(path);
    let command = os::program::resolve(&[&path])?;
    let program = Program { file: path.canonicalize()?, path, command, told: None };
    let all = optimize::registry::ALL;
    let optimization = all.into_iter().find(|optimization| optimization.name == *name);
    let optimization = optimization.with_context(|| format!("there is no '{name}'"))?;
    match (optimization.build)(&program, Path::new(folder)) {
        Ok(built) => println!("{}", serde_json::to_string(&built.run)?),
        Err(declined) => bail!("{name} of {}: {declined}", program.path.display()),
    }
    Ok(true)
}

impl Made {
    /// The command with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let program = self.program.clone().into_os_string();
        let argv = std::iter::once(program).chain(arguments.iter().map(Into::into));
        let environment = vec![(testkit::workspace::SET_BY_CARGO.to_owned(), None)];
        Command {
            argv: argv.collect(),
            program: self.program.clone(),
            directory: None,
            environment,
        }
    }

    /// The same as one line for a shell.
    pub fn line(&self, arguments: &[&str]) -> String {
        let program = format!("'{}'", self.program.display());
        std::iter::once(program.as_str())
            .chain(arguments.iter().copied())
            .collect::<Vec<_>>()
            .join(" ")
    }
}
