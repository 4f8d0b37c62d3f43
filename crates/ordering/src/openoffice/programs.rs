//! Programs that can be linked again in any order of their functions: two that are made here from
//! Debian's packages, and the user's own.

use super::{OpenOfficeError, OwnProgram, ProgramSource, Task};
use crate::attempt::{ORDER, OUT};
use crate::shell;
use files::Permit;
use lab::LabError;
use lab::default_folder;
use model::quoted;
use os::launcher::Launcher;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

mod clang;
mod vim;

/// Finds ld.lld for all of them.
const LINKER: &str = include_str!("programs/linker.sh");

/// A program that can be linked again.
pub struct LinkableProgram {
    /// Its file name.
    pub name: String,
    /// What it is, in words.
    pub about: String,
    /// The command line that links it, for a shell, with [`ORDER`] and [`OUT`] in it.
    pub build: String,
    /// Launches for which it is ordered; the first is measured.
    pub launches: Vec<Task>,
    /// Launches for which it is not.
    pub held_out: Vec<Task>,
}

/// One that is made here, once, in the user's cache folder.
struct Recipe {
    name: &'static str,
    about: &'static str,
    /// Makes the folder that it is linked from.
    prepare: &'static str,
    /// Links it.
    link: &'static str,
    /// Other files that `prepare` takes: name and content.
    files: &'static [(&'static str, &'static str)],
    launches: fn(&Path) -> Vec<Task>,
    held_out: fn(&Path) -> Vec<Task>,
}

/// The program, ready to be linked.
pub fn prepare(
    source: &ProgramSource,
    launcher: &mut Launcher,
) -> Result<LinkableProgram, OpenOfficeError> {
    match source {
        ProgramSource::Vim => vim::RECIPE.prepared(launcher),
        ProgramSource::Clang => clang::RECIPE.prepared(launcher),
        ProgramSource::Own(own) => own_program(own),
    }
}

fn own_program(own: &OwnProgram) -> Result<LinkableProgram, OpenOfficeError> {
    let failed = |source| OpenOfficeError::Io { path: own.source.clone(), source };
    let folder = own.source.canonicalize().map_err(failed)?;
    if !folder.is_dir() {
        return Err(failed(std::io::ErrorKind::NotADirectory.into()));
    }
    // Many have their source in a folder of this name.
    let mut names = folder.ancestors().filter_map(Path::file_name).filter(|name| *name != "src");
    let name = names.next().map(|name| name.to_string_lossy().into_owned());
    Ok(LinkableProgram {
        name: name.unwrap_or_else(|| "program".to_owned()),
        about: format!("the program of {}", folder.display()),
        build: format!("cd {} || exit\n{}", quoted(&folder), own.build),
        launches: own.launches.clone(),
        held_out: own.held_out.clone(),
    })
}

impl Recipe {
    fn prepared(&self, launcher: &mut Launcher) -> Result<LinkableProgram, OpenOfficeError> {
        let cache = default_folder::cache().ok_or(LabError::NoDefaultFolder)?.join("programs");
        let (input, folder) = (cache.join(format!("{}.in", self.name)), cache.join(self.name));
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| OpenOfficeError::Io { path, source }
        };
        // The script by which a complete folder was made is in it.
        let made_by = folder.join("prepare.sh");
        if fs::read(&made_by).ok().as_deref() != Some(self.prepare.as_bytes()) {
            fs::create_dir_all(&input).map_err(io(&input))?;
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(io(&folder))?;
            }
            for (name, text) in [("prepare.sh", self.prepare)].iter().chain(self.files) {
                write(&input.join(name), text)?;
            }
            let line = format!("sh {} {}", quoted(input.join("prepare.sh")), quoted(&folder));
            if let Some(ending) = shell::run(&line, launcher)? {
                return Err(OpenOfficeError::Prepare { name: self.name, ending });
            }
            write(&made_by, self.prepare)?;
        }
        write(&folder.join("link.sh"), self.link)?;
        write(&folder.join("linker.sh"), LINKER)?;
        Ok(LinkableProgram {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            build: format!("sh {} {ORDER} {OUT}", quoted(folder.join("link.sh"))),
            launches: (self.launches)(&folder),
            held_out: (self.held_out)(&folder),
        })
    }
}

fn write(path: &Path, text: &str) -> Result<(), OpenOfficeError> {
    let written = files::write_over(path, text.as_bytes(), Permit::Created(0o666));
    written.map_err(|error| OpenOfficeError::Io { path: path.to_owned(), source: error.into() })
}

/// Arguments written in one line: words without spaces.
fn arguments(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

#[cfg(test)]
mod tests;
