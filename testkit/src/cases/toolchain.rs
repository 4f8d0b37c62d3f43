//! Compilers and linkers.

use crate::{find, tool};
use std::path::Path;
use std::process::Command;

/// A compiler of C and C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compiler {
    /// gcc and g++.
    Gcc,
    /// clang-19 and clang++-19.
    Clang,
}

/// A linker, driven by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Linker {
    /// GNU ld.
    Bfd,
    /// LLVM's lld 19.
    Lld,
    /// mold.
    Mold,
}

/// A compiler and the linker it drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Toolchain {
    /// Compiles, and drives the linker.
    pub compiler: Compiler,
    /// Links.
    pub linker: Linker,
}

impl Compiler {
    /// Names of the commands for C and for C++.
    pub fn commands(self) -> [&'static str; 2] {
        match self {
            Self::Gcc => ["gcc", "g++"],
            Self::Clang => ["clang-19", "clang++-19"],
        }
    }

    /// The command for C, or for C++.
    pub(super) fn command(self, cpp: bool) -> &'static str {
        self.commands()[usize::from(cpp)]
    }
}

impl Linker {
    /// Name of the linker's own command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Bfd => "ld.bfd",
            Self::Lld => "ld.lld-19",
            Self::Mold => "mold",
        }
    }
}

impl Toolchain {
    /// Name such as `gcc+bfd`.
    pub fn name(&self) -> &'static str {
        match (self.compiler, self.linker) {
            (Compiler::Gcc, Linker::Bfd) => "gcc+bfd",
            (Compiler::Gcc, Linker::Lld) => "gcc+lld",
            (Compiler::Gcc, Linker::Mold) => "gcc+mold",
            (Compiler::Clang, Linker::Bfd) => "clang+bfd",
            (Compiler::Clang, Linker::Lld) => "clang+lld",
            (Compiler::Clang, Linker::Mold) => "clang+mold",
        }
    }

    /// The driver of the link, told which linker to use. `aside` is a folder of this build: gcc
    /// finds lld by the name `ld.lld` only, which Debian's package lld-19 does not put into `PATH`.
    pub(super) fn driver(&self, cpp: bool, aside: &Path) -> Command {
        let mut command = Command::new(self.compiler.command(cpp));
        let path = find(self.linker.command()).unwrap_or_else(|| self.linker.command().into());
        match (self.compiler, self.linker) {
            (Compiler::Clang, _) => {
                let mut option = std::ffi::OsString::from("--ld-path=");
                option.push(&path);
                command.arg(option);
            }
            (Compiler::Gcc, Linker::Bfd) => drop(command.arg("-fuse-ld=bfd")),
            (Compiler::Gcc, Linker::Mold) => drop(command.arg("-fuse-ld=mold")),
            (Compiler::Gcc, Linker::Lld) => {
                // A second image of the same build finds it in place.
                let _ = crate::host::link(&path, aside.join("ld.lld"));
                let mut folder = std::ffi::OsString::from("-B");
                folder.push(aside);
                command.arg(folder).arg("-fuse-ld=lld");
            }
        }
        // Many links run at once: each on one thread.
        match self.linker {
            Linker::Bfd => {}
            Linker::Lld => drop(command.arg("-Wl,--threads=1")),
            Linker::Mold => drop(command.arg("-Wl,--no-fork,--thread-count=1")),
        }
        command
    }
}

/// Every toolchain whose tools are installed; loud about the others.
pub fn toolchains() -> Vec<Toolchain> {
    let installed = |names: &[&str]| names.iter().filter(|name| tool(name).is_none()).count() == 0;
    let linkers: Vec<_> = [Linker::Bfd, Linker::Lld, Linker::Mold]
        .into_iter()
        .filter(|linker| installed(&[linker.command()]))
        .collect();
    let compilers = [Compiler::Gcc, Compiler::Clang];
    let compilers = compilers.into_iter().filter(|compiler| installed(&compiler.commands()));
    compilers
        .flat_map(|compiler| linkers.iter().map(move |&linker| Toolchain { compiler, linker }))
        .collect()
}
