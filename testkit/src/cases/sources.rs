//! Compiles the sources of a case.

use super::build::done;
use super::{Case, Compiler, Image};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// The sources of a case and their compiler.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) compiler: Compiler,
    folder: PathBuf,
    /// Of the text of all of them: an object of other text has another name.
    digest: u64,
}

impl Sources {
    pub(super) fn of(case: &Case, compiler: Compiler) -> Self {
        let folder = case.source_folder();
        let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut hasher = DefaultHasher::new();
        for path in paths {
            let text = fs::read(&path).unwrap_or_else(|why| panic!("{path:?}: {why}"));
            (path, text).hash(&mut hasher);
        }
        Self { compiler, folder, digest: hasher.finish() }
    }

    /// The object's file name: options, too, make another object.
    pub(super) fn object(&self, image: &Image, source: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self.digest, self.compiler, self.options(image, source)).hash(&mut hasher);
        format!("{source}.{:016x}.o", hasher.finish())
    }

    fn options(&self, image: &Image, source: &str) -> Vec<String> {
        let position = match (image.is_program(), image.fixed) {
            (true, true) => "-fno-pie",
            (true, false) => "-fPIE",
            (false, _) => "-fPIC",
        };
        // gcc's default: without it clang calls a library's own functions directly.
        let interposed = "-fsemantic-interposition";
        let own = image.compile_by.iter().filter(|(only, _)| *only == self.compiler);
        let own = own.flat_map(|(_, options)| options.iter().map(|&option| option.to_owned()));
        let common = ["-O1", "-g0", position, interposed, "-c", source].map(str::to_owned);
        common.into_iter().chain(image.compile.iter().cloned()).chain(own).collect()
    }

    pub(super) fn compile(&self, image: &Image, source: &str, into: &Path) {
        let name = self.object(image, source);
        let target = into.join(&name);
        if target.exists() {
            return;
        }
        // Another thread may compile the same: each into a file of its own.
        let thread = format!("{:?}", thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let own = into.join(format!("{name}.{number}"));
        let mut command = Command::new(self.compiler.command(source.ends_with(".cc")));
        command.args(self.options(image, source)).arg("-o").arg(&own);
        done(command.current_dir(&self.folder));
        fs::rename(&own, &target).unwrap_or_else(|why| panic!("{target:?}: {why}"));
    }
}
