//! What every way to make a program start faster has in common.

use crate::NotBuilt;
use model::Command;
use std::path::{Path, PathBuf};

/// A program that is to start faster.
#[derive(Clone, Debug)]
pub struct Program {
    /// As it was found, links not followed: `/usr/bin/clang++`.
    pub path: PathBuf,
    /// The file itself, links followed.
    pub file: PathBuf,
    /// Where it stands in launches, where that is not `path`: variants are made of a copy at `path`, and
    /// take the place of the program here.
    pub told: Option<PathBuf>,
    /// The launch of it that is to be faster, as the user gave it.
    pub command: Command,
}

impl Program {
    /// The command with another program in the original's place, called by its path.
    pub fn command_for(&self, program: &Path) -> Command {
        let mut command = self.command.clone();
        command.program = program.to_owned();
        if let Some(name) = command.argv.first_mut() {
            *name = program.into();
        }
        command
    }
}

/// Writes the changed program and what belongs to it into the folder, which is empty, is the
/// program's own, and stays where it is. Where it does not apply to this program, would not be safe,
/// or the disk is full, nothing usable is written.
pub type Build = dyn Fn(&Program, &Path) -> Result<Built, NotBuilt>;

/// One way to make a program start faster, or several ways together.
#[derive(Clone, Copy)]
pub struct Optimization {
    /// As commands and tables name it: `bundle --fixed`, `selfbind + order`. Without commas.
    pub name: &'static str,
    /// Whether every launch still has other addresses (address-space layout randomization).
    pub keeps_aslr: bool,
    /// Only cold launches can gain from it, so that it is tried only where these are measured.
    pub for_cold: bool,
    /// Makes the changed program.
    pub build: &'static Build,
}

/// A changed program.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// What to start instead of the program: an ELF file in the folder.
    pub run: PathBuf,
    /// Original files that it replaces and that a launch must not map any more.
    pub replaced: Vec<PathBuf>,
    /// Changed copies, each with the original that it stands for, where the program's bindings
    /// are compared with the original's. `run` and the program need not be there, nor libraries in
    /// the folder that have the DT_SONAME (or else file name) of one of the original's.
    pub stands_for: Vec<(PathBuf, PathBuf)>,
    /// Who shows that references bind to what they bound to.
    pub bindings: BindingProof,
    /// What it was made of, so that it is stale when that is upgraded.
    pub made_of: MadeOf,
    /// It is right only in the folder that it was built in.
    pub must_stay: bool,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
}

/// What a variant was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MadeOf {
    /// The program alone: it goes on with whatever libraries are there.
    #[default]
    Program,
    /// The program and all its libraries: as copies, or as what its proof rests on.
    Closure,
    /// It is a bundle, with a manifest of its own, and looks at its files at each start.
    Bundle,
}

/// Who shows that a variant's references bind to the same definitions as the original's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BindingProof {
    /// Both are simulated and compared, module by module: the variant has the same modules.
    #[default]
    Compared,
    /// The builder has resolved references itself, and has compared them: modules were merged.
    /// What is left for the loader is still simulated and compared with the real loader.
    ByBuilder,
}
