//! Small programs with libraries and plug-ins, each of which goes wrong in its own way when an
//! ELF rewriting is careless: when libraries are merged into the program's file, when relocations
//! are changed, when the list of needed libraries is put into another order.
//!
//! A case prints what it observed (values, orders of constructors, whether pointers are equal) and
//! never an address, so that what the *unmodified* program prints is what every rewritten one must
//! print. In addition a case states its [essential lines](Case::essential), and what readelf must
//! find in the files: a case whose linker relaxed the difficulty away tests nothing.
//!
//! ```no_run
//! # let folder = std::env::temp_dir();
//! for case in testkit::cases::all() {
//!     for toolchain in testkit::cases::toolchains() {
//!         if case.declines(toolchain).is_some() {
//!             continue;
//!         }
//!         let built = case.build(&toolchain, &folder.join(case.name).join(toolchain.name()));
//!         let expected = testkit::cases::run(&built.program, &built);
//!         // … rewrite built.program into another file, run it with the same `built`, compare.
//!     }
//! }
//! ```
//!
//! A case tests one hazard. Where a linker cannot build it (mold 1.10 has a few faults of its own)
//! it [declines](Case::declines) with the reason. No case has text relocations: rewritings decline
//! them from the outset.
//!
//! # To add a case
//! 1. Make a folder `testkit/cases/NAME` with the C or C++ sources and a `recipe.rs` that lists the
//!    images, those first that others are linked against (see [`Image`]), as
//!    `pub const CASES: &[Case]`.
//! 2. Name it in `testkit/src/cases/list.rs`.
//! 3. `cargo test -p testkit --test cases` builds and runs it with every toolchain;
//!    `cargo run -p testkit --example cases -- FOLDER NAME` leaves the built files to look at.

mod build;
mod check;
mod image;
mod link;
mod list;
mod parallel;
mod run;
mod sources;
mod toolchain;

pub use build::{Built, Objects};
pub use image::Image;
pub use list::all;
pub use parallel::in_parallel;
pub use run::{Outcome, command, run};
pub use toolchain::{Compiler, Linker, Toolchain, toolchains};

use std::path::PathBuf;

/// A small program, its libraries, and what is known of its output.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Unique name: words with hyphens.
    pub name: &'static str,
    /// What may go wrong with it.
    pub why: &'static str,
    /// The folder of its sources, below `testkit/cases`.
    sources: &'static str,
    /// Its images; a later one is linked against earlier ones.
    images: fn() -> Vec<Image>,
    /// Arguments of the program; `{folder}` is where it was built.
    arguments: &'static [&'static str],
    /// Variables of its environment; `{folder}` is where it was built.
    environment: &'static [(&'static str, &'static str)],
    /// Lines that its output must contain, in this order.
    essential: &'static str,
    /// What readelf must find in the built files.
    evidence: &'static [Evidence],
    /// Why a toolchain cannot build it.
    declines: fn(Toolchain) -> Option<&'static str>,
}

/// A piece of text that readelf prints of a built file.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// The file, relative to the folder of the build.
    pub file: &'static str,
    /// Options of readelf, such as `-rW`.
    pub option: &'static str,
    /// What the output contains, where any run of white space is one blank.
    pub text: &'static str,
    /// The compiler whose files show it; `None` for every one.
    compiler: Option<Compiler>,
    /// The linker whose files show it; `None` for every one.
    linker: Option<Linker>,
}

impl Case {
    /// A case whose sources are in the folder of its name.
    const fn new(name: &'static str, why: &'static str, images: fn() -> Vec<Image>) -> Self {
        Self {
            name,
            why,
            sources: name,
            images,
            arguments: &[],
            environment: &[],
            essential: "",
            evidence: &[],
            declines: |_| None,
        }
    }

    const fn sources(mut self, folder: &'static str) -> Self {
        self.sources = folder;
        self
    }

    const fn arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    const fn environment(mut self, environment: &'static [(&'static str, &'static str)]) -> Self {
        self.environment = environment;
        self
    }

    const fn prints(mut self, lines: &'static str) -> Self {
        self.essential = lines;
        self
    }

    const fn evidence(mut self, evidence: &'static [Evidence]) -> Self {
        self.evidence = evidence;
        self
    }

    const fn declining(mut self, declines: fn(Toolchain) -> Option<&'static str>) -> Self {
        self.declines = declines;
        self
    }

    /// The images that it is made of, in the order of their linking.
    pub fn images(&self) -> Vec<Image> {
        (self.images)()
    }

    /// Why this toolchain cannot build it, if it cannot.
    pub fn declines(&self, toolchain: Toolchain) -> Option<&'static str> {
        (self.declines)(toolchain)
    }

    /// Lines that the program prints, in this order, perhaps among others.
    pub fn essential(&self) -> impl Iterator<Item = &'static str> {
        self.essential.lines().map(str::trim).filter(|line| !line.is_empty())
    }

    /// What readelf finds in the built files, so that the case is what it says.
    pub fn shown_by_readelf(&self) -> &'static [Evidence] {
        self.evidence
    }

    /// The folder of its sources.
    pub fn source_folder(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases").join(self.sources)
    }

    /// The first essential line that `stdout` lacks at its place.
    pub fn missing_in(&self, stdout: &str) -> Option<&'static str> {
        let mut lines = stdout.lines();
        self.essential().find(|wanted| !lines.any(|line| line == *wanted))
    }
}

/// What readelf with `option` must print of `file`.
const fn shows(file: &'static str, option: &'static str, text: &'static str) -> Evidence {
    Evidence { file, option, text, compiler: None, linker: None }
}

impl Evidence {
    const fn only_compiled_by(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    const fn only_linked_by(mut self, linker: Linker) -> Self {
        self.linker = Some(linker);
        self
    }

    /// Whether files of this toolchain must show it.
    pub fn is_of(&self, toolchain: Toolchain) -> bool {
        self.compiler.is_none_or(|only| only == toolchain.compiler)
            && self.linker.is_none_or(|only| only == toolchain.linker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn essential_lines_are_looked_for_in_their_order() {
        let case = Case::new("case", "because", Vec::new).prints("  one\n\n  three  ");
        assert_eq!(case.missing_in("zero\none\ntwo\nthree\n"), None);
        assert_eq!(case.missing_in("three\none\n"), Some("three"));
        assert_eq!(case.missing_in("one and more\nthree"), Some("one"));
    }

    #[test]
    fn evidence_may_belong_to_one_toolchain() {
        let toolchain = Toolchain { compiler: Compiler::Gcc, linker: Linker::Mold };
        let any = shows("program", "-hW", "DYN");
        assert!(any.is_of(toolchain));
        assert!(!any.only_compiled_by(Compiler::Clang).is_of(toolchain));
        assert!(any.only_compiled_by(Compiler::Gcc).is_of(toolchain));
        assert!(!any.only_linked_by(Linker::Bfd).is_of(toolchain));
    }
}
