//! Compiles and links cases.

use super::image::{Kind, Search};
use super::sources::Sources;
use super::{Case, Compiler, Image, Toolchain, in_parallel};
use std::fs;
use std::io::ErrorKind;
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
    sources: Sources,
    folder: PathBuf,
}

impl Case {
    /// Builds it in `folder`, which is created.
    ///
    /// # Panics
    /// With the messages of the compiler or linker where one fails: no test of the case can mean
    /// anything then.
    pub fn build(&self, toolchain: &Toolchain, folder: &Path) -> Built {
        let objects = self.compile(toolchain.compiler, &folder.join("objects"));
        self.link(&objects, toolchain, folder)
    }

    /// Compiles the sources into object files in `folder`, which is created. Cases of the same
    /// sources may share the folder: what is there already is not compiled again.
    ///
    /// # Panics
    /// As [`Case::build`].
    pub fn compile(&self, compiler: Compiler, folder: &Path) -> Objects {
        create(folder);
        let images = self.images();
        let pairs = |image| sources(image).map(move |source| (image, source));
        let units: Vec<(&Image, &str)> = images.iter().flat_map(pairs).collect();
        let from = Sources::of(self, compiler);
        in_parallel(&units, |(image, source)| from.compile(image, source, folder));
        Objects { sources: from, folder: folder.to_owned() }
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
        let link = Link { case: self, objects, toolchain, folder: &folder };
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

impl Objects {
    fn of(&self, image: &Image, source: &str) -> PathBuf {
        self.folder.join(self.sources.object(image, source))
    }
}

/// A link in progress.
struct Link<'a> {
    case: &'a Case,
    objects: &'a Objects,
    toolchain: &'a Toolchain,
    folder: &'a Path,
}

impl Link<'_> {
    fn make(&self, image: &Image) {
        let target = self.folder.join(&image.file);
        target.parent().map(create).unwrap_or_default();
        let made = match image.kind {
            Kind::Alias(to) => match std::os::unix::fs::symlink(to, &target) {
                // Of an earlier build in the same folder.
                Err(why) if why.kind() == ErrorKind::AlreadyExists => Ok(()),
                made => made,
            },
            Kind::Data(text) => fs::write(&target, text),
            _ => return done(&mut self.command(image)),
        };
        made.unwrap_or_else(|why| panic!("{target:?}: {why}"));
    }

    /// The driver's command, in the folder of the build: needed files are named relative to it.
    fn command(&self, image: &Image) -> Command {
        let mut command = self.toolchain.driver(image.is_cpp(), &self.objects.folder);
        command.current_dir(self.folder).arg("-o").arg(&image.file);
        command.args(match (image.is_program(), image.fixed) {
            (true, true) => ["-no-pie", "-Wl,--no-as-needed"],
            (true, false) => ["-pie", "-Wl,--no-as-needed"],
            (false, _) => ["-shared", "-Wl,--no-as-needed"],
        });
        if let Some(soname) = &image.soname {
            command.arg(format!("-Wl,-soname,{soname}"));
        }
        match image.search {
            None => {}
            Some(Search::Rpath(path)) => {
                command.arg(format!("-Wl,--disable-new-dtags,-rpath,{path}"));
            }
            Some(Search::Runpath(path)) => {
                command.arg(format!("-Wl,--enable-new-dtags,-rpath,{path}"));
            }
        }
        let objects = sources(image).map(|source| self.objects.of(image, source));
        command.args(objects).args(&image.needs).arg("-Wl,-rpath-link,lib");
        let own = image.link_by.iter().filter(|(linker, _)| *linker == self.toolchain.linker);
        let own = own.flat_map(|(_, options)| options.iter().map(|&option| option.to_owned()));
        let options = image.link.iter().cloned().chain(own);
        command.args(options.map(|option| self.replaced(&option)));
        command
    }

    fn replaced(&self, option: &str) -> String {
        let source = self.case.source_folder();
        let option = option.replace("{folder}", &self.folder.to_string_lossy());
        option.replace("{source}", &source.to_string_lossy())
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

fn sources(image: &Image) -> impl Iterator<Item = &'static str> {
    image.sources.iter().copied()
}

fn create(folder: &Path) {
    fs::create_dir_all(folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
}

pub(super) fn done(command: &mut Command) {
    let result = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?} failed:\n{messages}");
}
