//! Links the images of a case.

use super::build::{create, done};
use super::image::{Kind, Search};
use super::{Case, Image, Objects, Toolchain};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// The links of a case.
pub(super) struct Link<'a> {
    pub(super) case: &'a Case,
    pub(super) images: &'a [Image],
    pub(super) objects: &'a Objects,
    pub(super) toolchain: &'a Toolchain,
    pub(super) folder: &'a Path,
}

impl Link<'_> {
    /// Makes the image's file, after those that it needs.
    pub(super) fn make(&self, image: &Image) {
        let target = self.folder.join(&image.file);
        target.parent().map(create).unwrap_or_default();
        let made = match image.kind {
            Kind::Alias(to) => match crate::host::link(to, &target) {
                // Of an earlier build in the same folder.
                Err(why) if why.kind() == ErrorKind::AlreadyExists => Ok(()),
                made => made,
            },
            Kind::Data(text) => fs::write(&target, text),
            _ => self.linked(image, &target),
        };
        made.unwrap_or_else(|why| panic!("{target:?}: {why}"));
    }

    /// Links it, unless another case with the same sources had the very same.
    fn linked(&self, image: &Image, target: &Path) -> std::io::Result<()> {
        let store = self.objects.folder.join(format!("linked.{:016x}", self.digest(image)));
        if self.objects.shared && store.exists() {
            return fs::hard_link(&store, target);
        }
        done(&mut self.command(image));
        // A copy would do as well, but a file that is open for writing cannot be started, and
        // another thread may fork just then.
        if self.objects.shared { fs::hard_link(target, &store) } else { Ok(()) }
    }

    /// Of all that the file is made of.
    fn digest(&self, image: &Image) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.command(image).get_args().for_each(|argument| argument.hash(&mut hasher));
        let needed = image.needs.iter().chain(&image.after);
        for image in needed.filter_map(|file| self.images.iter().find(|image| image.file == *file))
        {
            self.digest(image).hash(&mut hasher);
        }
        (self.toolchain, &image.file).hash(&mut hasher);
        hasher.finish()
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
        let object = |source: &&str| self.objects.sources.object(image, source);
        let objects = image.sources.iter().map(|source| self.objects.folder.join(object(source)));
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
