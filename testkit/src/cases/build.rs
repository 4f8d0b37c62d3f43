//! Compiles and links cases.

use super::image::Kind;
use super::link::Link;
use super::sources::Sources;
use super::{Case, Compiler, Image, Toolchain, in_parallel};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A case that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// Folder of everything below.
    pub folder: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// Its libraries, in the order of their linking; also those that nothing needs.
    pub libraries: Vec<PathBuf>,
    /// What the program loads by dlopen.
    pub plugins: Vec<PathBuf>,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Variables of its environment, besides those that [`super::command`] sets.
    pub environment: Vec<(String, String)>,
}

/// Object files of a case: what all linkers share.
#[derive(Clone, Debug)]
pub struct Objects {
    pub(super) sources: Sources,
    pub(super) folder: PathBuf,
    /// Whether other cases use the folder, too.
    pub(super) shared: bool,
}

impl Case {
    /// Builds it in `folder`, which is created.
    ///
    /// # Panics
    /// With the messages of the compiler or linker where one fails: no test of the case can mean
    /// anything then.
    pub fn build(&self, toolchain: &Toolchain, folder: &Path) -> Built {
        let mut objects = self.compile(toolchain.compiler, &folder.join("objects"));
        objects.shared = false;
        self.link(&objects, toolchain, folder)
    }

    /// Compiles the sources into object files in `folder`, which is created. Cases of the same
    /// sources may share the folder: what is there already is neither compiled nor linked again.
    /// Their files are hard links then, so they must not be changed in place.
    ///
    /// # Panics
    /// As [`Case::build`].
    pub fn compile(&self, compiler: Compiler, folder: &Path) -> Objects {
        create(folder);
        let images = self.images();
        let mut units = Vec::new();
        for image in &images {
            units.extend(image.sources.iter().map(|source| (image, *source)));
        }
        let from = Sources::of(self, compiler);
        in_parallel(&units, |(image, source)| from.compile(image, source, folder));
        Objects { sources: from, folder: folder.to_owned(), shared: true }
    }

    /// Links what was compiled, in `folder`, which is created.
    ///
    /// # Panics
    /// As [`Case::build`], and where the objects are of another compiler.
    pub fn link(&self, objects: &Objects, toolchain: &Toolchain, folder: &Path) -> Built {
        assert_eq!(objects.sources.compiler, toolchain.compiler, "objects of another compiler");
        create(folder);
        // Placeholders and $ORIGIN become real paths: they must not depend on how it was named.
        let folder = fs::canonicalize(folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
        let images = self.images();
        let link = Link { case: self, images: &images, objects, toolchain, folder: &folder };
        for wave in waves(&images) {
            in_parallel(&wave, |image| link.make(image));
        }
        let of = |kind| {
            let images = images.iter().filter(move |image| image.kind == kind);
            images.map(|image| folder.join(&image.file)).collect()
        };
        let here = |text: &&str| text.replace("{folder}", &folder.to_string_lossy());
        let variables = self.environment.iter();
        Built {
            program: folder.join("program"),
            libraries: of(Kind::Library),
            plugins: of(Kind::Plugin),
            arguments: self.arguments.iter().map(here).collect(),
            environment: variables.map(|(name, value)| (here(name), here(value))).collect(),
            folder: folder.clone(),
        }
    }
}

/// Images by turns: each after those it needs, so that a turn can be linked in parallel.
fn waves(images: &[Image]) -> Vec<Vec<&Image>> {
    let mut turns: Vec<usize> = Vec::new();
    let mut waves: Vec<Vec<&Image>> = Vec::new();
    for image in images {
        let before = |other: &Image| {
            [&image.needs, &image.after].iter().any(|files| files.contains(&other.file))
        };
        let needed = images.iter().zip(&turns).filter(|(other, _)| before(other));
        let turn = needed.map(|(_, turn)| turn + 1).max().unwrap_or(0);
        turns.push(turn);
        waves.resize_with(waves.len().max(turn + 1), Vec::new);
        waves[turn].push(image);
    }
    waves
}

pub(super) fn create(folder: &Path) {
    fs::create_dir_all(folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
}

pub(super) fn done(command: &mut Command) {
    let result = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?} failed:\n{messages}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_linked_after_what_they_need() {
        let images = [
            Image::library("a.so", &[]),
            Image::library("b.so", &[]).needs(&["lib/a.so"]),
            Image::alias("lib/c.so", "b.so").after(&["lib/b.so"]),
            Image::library("d.so", &[]),
            Image::program(&[]).needs(&["lib/a.so", "lib/c.so"]),
        ];
        let files = |wave: &Vec<&Image>| wave.iter().map(|image| image.file.clone()).collect();
        let waves: Vec<Vec<String>> = waves(&images).iter().map(files).collect();
        let expected =
            [vec!["lib/a.so", "lib/d.so"], vec!["lib/b.so"], vec!["lib/c.so"], vec!["program"]];
        assert_eq!(waves, expected);
    }
}
