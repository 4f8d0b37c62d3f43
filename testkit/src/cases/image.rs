//! Recipes of images.

use super::{Compiler, Linker};

/// What a file of a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    Library,
    Plugin,
    /// Another program, that the first one starts, or a library that is preloaded.
    Helper,
    /// What another image is linked against and what is not there at run time.
    LinkOnly,
    /// A symbolic link.
    Alias(&'static str),
    /// A file of text.
    Data(&'static str),
}

/// How an image is compiled and linked.
///
/// The program is `program`, libraries are in `lib/`, plug-ins in `plugins/`, all of one folder.
/// Unless told otherwise the program is position independent, a library's SONAME is its file
/// name, the program has the DT_RUNPATH `$ORIGIN/lib` and an image in a folder `$ORIGIN/../lib`.
#[derive(Clone, Debug)]
pub struct Image {
    pub(super) kind: Kind,
    pub(super) file: String,
    pub(super) sources: Vec<&'static str>,
    pub(super) compile: Vec<String>,
    pub(super) compile_by: Vec<(Compiler, &'static [&'static str])>,
    pub(super) link: Vec<String>,
    pub(super) link_by: Vec<(Linker, &'static [&'static str])>,
    pub(super) needs: Vec<String>,
    pub(super) after: Vec<String>,
    pub(super) soname: Option<String>,
    pub(super) search: Option<Search>,
    pub(super) fixed: bool,
}

/// Where an image's own libraries are searched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Search {
    Rpath(&'static str),
    Runpath(&'static str),
}

impl Image {
    fn new(kind: Kind, file: &str, sources: &[&'static str]) -> Self {
        let soname = matches!(kind, Kind::Library | Kind::LinkOnly)
            .then(|| file.rsplit('/').next().unwrap_or(file).to_owned());
        let folder = if file.contains('/') { "$ORIGIN/../lib" } else { "$ORIGIN/lib" };
        Self {
            kind,
            file: file.to_owned(),
            sources: sources.to_vec(),
            compile: Vec::new(),
            compile_by: Vec::new(),
            link: Vec::new(),
            link_by: Vec::new(),
            needs: Vec::new(),
            after: Vec::new(),
            soname,
            search: Some(Search::Runpath(folder)),
            fixed: false,
        }
    }

    pub(super) fn program(sources: &[&'static str]) -> Self {
        Self::new(Kind::Program, "program", sources)
    }

    /// A library in `lib/`.
    pub(super) fn library(file: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::Library, &format!("lib/{file}"), sources)
    }

    /// A library in a folder of its own.
    pub(super) fn library_at(path: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::Library, path, sources)
    }

    /// A plug-in in `plugins/`, without a SONAME.
    pub(super) fn plugin(file: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::Plugin, &format!("plugins/{file}"), sources)
    }

    /// A plug-in in a folder of its own.
    pub(super) fn plugin_at(path: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::Plugin, path, sources)
    }

    /// Another program beside the first.
    pub(super) fn helper(file: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::Helper, file, sources)
    }

    /// A stand-in for a library, to link against: `link/FILE`.
    pub(super) fn link_only(file: &str, sources: &[&'static str]) -> Self {
        Self::new(Kind::LinkOnly, &format!("link/{file}"), sources)
    }

    /// A symbolic link at `path` to `target`.
    pub(super) fn alias(path: &str, target: &'static str) -> Self {
        Self::new(Kind::Alias(target), path, &[])
    }

    /// A file of text at `path`.
    pub(super) fn data(path: &str, text: &'static str) -> Self {
        Self::new(Kind::Data(text), path, &[])
    }

    /// Options of the compiler.
    pub(super) fn compile(mut self, options: &[&str]) -> Self {
        self.compile.extend(options.iter().map(|&option| option.to_owned()));
        self
    }

    /// Options of one compiler only.
    pub(super) fn compile_by(
        mut self,
        compiler: Compiler,
        options: &'static [&'static str],
    ) -> Self {
        self.compile_by.push((compiler, options));
        self
    }

    /// Options of the driver of the link; `{source}` is the folder of the sources, `{folder}`
    /// that of the build.
    pub(super) fn link(mut self, options: &[&str]) -> Self {
        self.link.extend(options.iter().map(|&option| option.to_owned()));
        self
    }

    /// Options for one linker only.
    pub(super) fn link_by(mut self, linker: Linker, options: &'static [&'static str]) -> Self {
        self.link_by.push((linker, options));
        self
    }

    /// Files of the build that it is linked against, in this order.
    pub(super) fn needs(mut self, files: &[&str]) -> Self {
        self.needs.extend(files.iter().map(|&file| file.to_owned()));
        self
    }

    /// Files of the build that must be there before it, though they are not linked against by path.
    pub(super) fn after(mut self, files: &[&str]) -> Self {
        self.after.extend(files.iter().map(|&file| file.to_owned()));
        self
    }

    pub(super) fn soname(mut self, name: &str) -> Self {
        self.soname = Some(name.to_owned());
        self
    }

    pub(super) fn without_soname(mut self) -> Self {
        self.soname = None;
        self
    }

    /// DT_RUNPATH instead of the usual one.
    pub(super) fn runpath(mut self, path: &'static str) -> Self {
        self.search = Some(Search::Runpath(path));
        self
    }

    /// DT_RPATH instead of DT_RUNPATH: the libraries of its libraries are found by it too.
    pub(super) fn rpath(mut self, path: &'static str) -> Self {
        self.search = Some(Search::Rpath(path));
        self
    }

    /// Neither DT_RPATH nor DT_RUNPATH.
    pub(super) fn without_search_path(mut self) -> Self {
        self.search = None;
        self
    }

    /// A program at fixed addresses (ET_EXEC).
    pub(super) fn at_fixed_addresses(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// Whether it is a program rather than a library.
    pub(super) fn is_program(&self) -> bool {
        self.kind == Kind::Program || (self.kind == Kind::Helper && !self.file.ends_with(".so"))
    }

    pub(super) fn is_cpp(&self) -> bool {
        self.sources.iter().any(|source| source.ends_with(".cc"))
    }
}
