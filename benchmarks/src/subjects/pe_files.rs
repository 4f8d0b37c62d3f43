//! Real PE files for the bars, from packages of their registries. They are kept in
//! `$XDG_CACHE_HOME/headstart-check`, never in the repository.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Some PE files that belong together.
#[derive(Clone, Debug)]
pub struct Set {
    /// Package and version.
    pub name: String,
    /// Where they are, with what else the package has.
    pub folder: PathBuf,
    /// All PE files in it, by path.
    pub files: Vec<PathBuf>,
}

/// Python packages with PE files: programs, and DLLs by Microsoft's, GNU's and other linkers.
const WHEELS: [(&str, &str); 8] = [
    ("PyQt5-Qt5", "5.15.2"),
    ("numpy", "2.1.3"),
    ("scipy", "1.14.1"),
    ("pywin32", "312"),
    ("ruff", "0.8.4"),
    ("ninja", "1.11.1.3"),
    ("cmake", "3.31.2"),
    ("ripgrep", "14.1.0"),
];
/// Java's: DLLs for four machines.
const JAR: (&str, &str, &str) = ("org.xerial", "sqlite-jdbc", "3.45.3.0");
/// The second oracle of PE files.
const PEFILE: &str = "pefile==2024.8.26";

/// Wine's own DLLs and programs, and those of every package, which are downloaded the first time.
///
/// # Errors
/// A package cannot be downloaded or unpacked.
pub fn all() -> Result<Vec<Set>> {
    let mut sets: Vec<Set> = wine()?.into_iter().collect();
    for (package, _) in WHEELS {
        sets.push(named(package)?);
    }
    sets.push(jar()?);
    Ok(sets)
}

/// Wine's own files for x86-64; `None` where it is not installed.
///
/// # Errors
/// Their folder cannot be read.
pub fn wine() -> Result<Option<Set>> {
    testkit::pe::libraries().map(|folder| set("Wine".to_owned(), folder)).transpose()
}

/// The files of one of [`WHEELS`], by its name.
///
/// # Errors
/// There is no such package here, or it cannot be downloaded or unpacked.
pub fn named(package: &str) -> Result<Set> {
    let known = WHEELS.iter().find(|(name, _)| *name == package);
    let (name, version) = known.with_context(|| format!("no package {package} is known"))?;
    wheel(name, version)
}

/// A Python that has pefile.
///
/// # Errors
/// It cannot be made.
pub fn python() -> Result<PathBuf> {
    let folder = cache()?.join("venv");
    let python = folder.join("bin/python");
    if !folder.join("complete").is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PEFILE]))?;
        File::create(folder.join("complete"))?;
    }
    Ok(python)
}

/// The folder for what is made or downloaded once.
///
/// # Errors
/// It cannot be made.
pub fn cache() -> Result<PathBuf> {
    let folder = std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty());
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let folder = folder.map(PathBuf::from).or_else(home).context("HOME is not set")?;
    let folder = folder.join("headstart-check");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

fn wheel(package: &str, version: &str) -> Result<Set> {
    let name = format!("{package}-{version}");
    let folder = unpacked(&name, |into| {
        let mut pip = Command::new(python()?);
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
        pip.args(["--platform", "win_amd64", "--python-version", "3.11"]);
        pip.args(["--implementation", "cp", "--dest"]).arg(into);
        run(pip.arg(format!("{package}=={version}")))
    })?;
    set(name, folder)
}

fn jar() -> Result<Set> {
    let (group, package, version) = JAR;
    let name = format!("{package}-{version}");
    let folder = unpacked(&name, |into| {
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:copy"]);
        maven.arg(format!("-Dartifact={group}:{package}:{version}:jar"));
        run(maven.arg(format!("-DoutputDirectory={}", into.display())))
    })?;
    set(name, folder)
}

/// The folder with what is in a package; `download` puts the archive into a folder.
fn unpacked(name: &str, download: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let cache = cache()?;
    let folder = cache.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    // It gets its name when it is complete.
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(&cache)?;
    let (archives, files) = (scratch.path().join("archives"), scratch.path().join("files"));
    std::fs::create_dir_all(&archives)?;
    download(&archives).with_context(|| format!("{name} cannot be downloaded"))?;
    for archive in std::fs::read_dir(&archives)? {
        let mut unzip = Command::new("python3");
        run(unzip.args(["-m", "zipfile", "-e"]).arg(archive?.path()).arg(&files))?;
    }
    match std::fs::rename(&files, &folder) {
        // Somebody else was faster.
        Err(_) if folder.is_dir() => {}
        renamed => renamed.with_context(|| format!("{name} cannot be unpacked"))?,
    }
    Ok(folder)
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {messages}");
    Ok(())
}

/// All PE files of a folder.
///
/// # Errors
/// There are none, or they cannot be read.
pub fn set(name: String, folder: PathBuf) -> Result<Set> {
    let mut files = Vec::new();
    walk(&folder, &mut files).with_context(|| format!("{} cannot be read", folder.display()))?;
    files.sort();
    ensure!(!files.is_empty(), "no PE file in {}", folder.display());
    Ok(Set { name, folder, files })
}

/// PE files are found by how they begin: `.dll`, `.exe`, `.pyd`, `.drv` and many other names.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files)?;
        } else if entry.file_type()?.is_file() {
            let mut start = Vec::new();
            File::open(entry.path())?.take(2).read_to_end(&mut start)?;
            if image::is_pe(&start) {
                files.push(entry.path());
            }
        }
    }
    Ok(())
}
