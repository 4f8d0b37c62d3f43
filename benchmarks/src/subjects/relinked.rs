//! A compiler that can be linked again in any order of its functions: `clang -cc1`, from the
//! static archives of Debian's packages. It has some 176,000 functions in 86 MB of text, each in a
//! section of its own, in one file of 190 MB, and starts in 25 ms.
//!
//! What is compiled once is kept beside the other downloads of the bars, never in the repository.

mod tasks;

pub use tasks::{Task, tasks};

use super::pe_files::cache;
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file by which the bars know that the packages are installed.
pub const ARCHIVE: &str = "/usr/lib/llvm-19/lib/libclangFrontendTool.a";
const ARCHIVES: &str = "/usr/lib/llvm-19/lib";
const HEADERS: &str = "/usr/lib/llvm-19/include";
const COMPILER: &str = "clang++-19";
const CONFIG: &str = "llvm-config-19";
const MAIN: &str = include_str!("../../../crates/ordering/src/openoffice/programs/clang/main.cpp");

/// How one form of it is linked.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// At fixed addresses.
    pub fixed: bool,
    /// More arguments of the linker.
    pub arguments: Vec<OsString>,
}

impl Link {
    /// With the functions that this file names in front, in its order; those that it names in
    /// vain are passed over.
    pub fn ordered(order: &Path) -> Link {
        let mut option = OsString::from("--symbol-ordering-file=");
        option.push(order);
        Link { arguments: vec![option, "--no-warn-symbol-ordering".into()], ..Link::default() }
    }

    /// With one more argument of the linker, such as `-Map=FILE`.
    #[must_use]
    pub fn with(mut self, argument: impl Into<OsString>) -> Link {
        self.arguments.push(argument.into());
        self
    }

    /// With its relative relocations packed.
    #[must_use]
    pub fn with_relr(self) -> Link {
        self.with("-z").with("pack-relative-relocs")
    }
}

/// What every form of the compiler is linked from.
pub struct Relinked {
    object: PathBuf,
    /// Names of archives and libraries, as the linker is told.
    libraries: Vec<String>,
}

impl Relinked {
    /// Compiles its `main`, if this was not done before: in some ten seconds.
    ///
    /// # Errors
    /// The packages are not installed, or do not fit together.
    pub fn prepare() -> Result<Relinked> {
        let installed = Path::new(ARCHIVE).is_file();
        ensure!(
            installed,
            "no {ARCHIVE}: apt-get install libclang-19-dev llvm-19-dev libpolly-19-dev libzstd-dev zlib1g-dev"
        );
        let object = compiled()?;
        let libraries = [of_clang()?, of_llvm("--libs")?, of_llvm("--system-libs")?].concat();
        Ok(Relinked { object, libraries })
    }

    /// Links it as `program`: in some two seconds, with 1.1 GiB of memory.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, program: &Path, link: &Link) -> Result<()> {
        run(&mut self.command(program, link)?)
    }

    /// The command that [`Relinked::link`] runs.
    ///
    /// # Errors
    /// The linker cannot be found.
    pub fn command(&self, program: &Path, link: &Link) -> Result<Command> {
        let mut path = OsString::from("--ld-path=");
        path.push(linker()?);
        let mut command = Command::new(COMPILER);
        command.arg(path).arg(if link.fixed { "-no-pie" } else { "-pie" });
        // As Debian links its own.
        command.args(["-Wl,--gc-sections", "-Wl,--build-id=sha1", "-Wl,-z,now"]);
        for argument in &link.arguments {
            command.arg("-Xlinker").arg(argument);
        }
        command.arg("-o").arg(program).arg(&self.object).arg("-L").arg(ARCHIVES);
        // The archives need each other in circles, which ld.lld resolves by itself.
        command.args(&self.libraries);
        Ok(command)
    }
}

/// The object file of [`MAIN`].
fn compiled() -> Result<PathBuf> {
    let cache = cache()?;
    let folder = cache.join("cc1");
    fs::create_dir_all(&folder)?;
    let (source, object) = (folder.join("main.cpp"), folder.join("main.o"));
    if object.is_file() && fs::read_to_string(&source).ok().as_deref() == Some(MAIN) {
        return Ok(object);
    }
    // Complete files get these names, the source last; another process may do the same.
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(&cache)?;
    let (new_source, new_object) = (scratch.path().join("main.cpp"), scratch.path().join("main.o"));
    fs::write(&new_source, MAIN)?;
    let mut compiler = Command::new(COMPILER);
    compiler.args(["-c", "-O2", "-std=c++17", "-ffunction-sections", "-fdata-sections"]);
    compiler.args(["-D__STDC_CONSTANT_MACROS", "-D__STDC_LIMIT_MACROS", "-I", HEADERS]);
    run(compiler.arg(&new_source).arg("-o").arg(&new_object))?;
    fs::rename(&new_object, &object)?;
    fs::rename(&new_source, &source)?;
    Ok(object)
}

/// Rust's own: newer than Debian's.
fn linker() -> Result<PathBuf> {
    let root = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let host = output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let folder = Path::new(root.trim()).join("lib/rustlib").join(host.trim());
    let linker = folder.join("bin/gcc-ld/ld.lld");
    ensure!(linker.is_file(), "Rust's linker is not at {}", linker.display());
    Ok(linker)
}

/// All archives of clang.
fn of_clang() -> Result<Vec<String>> {
    let entries = fs::read_dir(ARCHIVES).with_context(|| format!("no {ARCHIVES}"))?;
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let name = name.strip_prefix("lib")?.strip_suffix(".a")?;
        name.starts_with("clang").then(|| format!("-l{name}"))
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
    // Those of clang's run-time libraries have small letters.
    names.retain(|name| name.starts_with("-lclang") && !name.starts_with("-lclang_"));
    names.sort();
    Ok(names)
}

fn of_llvm(what: &str) -> Result<Vec<String>> {
    let mut config = Command::new(CONFIG);
    let words = output(config.args(["--link-static", what]).arg("all"))?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {messages}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

#[cfg(test)]
mod tests;
