//! Workloads of one form of dependencies each.

/// Forms of dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program needs n libraries.
    Star,
    /// The program needs the first of n libraries, each needs the next.
    Chain,
    /// The program needs n libraries, the last first, and each needs the next: an order that a
    /// loader has to turn round.
    ReverseChain,
    /// The program needs n libraries, each needs all later ones.
    Dense,
    /// The program imports n symbols from one library.
    Symbols,
    /// The program's library is in the last of n folders to search; for n = 0, nothing is
    /// searched.
    SearchPath,
    /// The program needs n libraries with thread-local storage.
    Tls,
    /// The program opens n libraries itself.
    Dlopen,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Star,
        Kind::Chain,
        Kind::ReverseChain,
        Kind::Dense,
        Kind::Symbols,
        Kind::SearchPath,
        Kind::Tls,
        Kind::Dlopen,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Star => "star",
            Kind::Chain => "chain",
            Kind::ReverseChain => "reverse-chain",
            Kind::Dense => "dense",
            Kind::Symbols => "symbols",
            Kind::SearchPath => "search-path",
            Kind::Tls => "tls",
            Kind::Dlopen => "dlopen",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Star => "main needs n libraries",
            Kind::Chain => "main needs the first of n libraries; each needs the next",
            Kind::ReverseChain => "main needs n libraries, the last first; each needs the next",
            Kind::Dense => "main needs n libraries; each needs all later ones",
            Kind::Symbols => "main imports n symbols from one library",
            Kind::SearchPath => "main's library is in the last of n folders to search",
            Kind::Tls => "main needs n libraries with thread-local storage",
            Kind::Dlopen => "main opens n libraries itself",
        }
    }
}

/// A program, `main`, and libraries in one form of dependencies.
///
/// The program exits at the start of its code (`dlopen`: once the libraries are open); with
/// `--call` it calls all its imports and checks what they return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The form.
    pub kind: Kind,
    /// How many libraries, symbols or folders.
    pub n: u32,
}

/// Name of a library; they count from 1.
pub(crate) fn library(number: u32) -> String {
    format!("libshape_{number}.so")
}

/// Name of the function that library exports, without a number for the library of `symbols`.
pub(crate) fn function(number: u32) -> String {
    format!("shape_{number}")
}

/// Name of the thread-local variable of a library of `tls`.
pub(crate) fn variable(number: u32) -> String {
    format!("shape_tls_{number}")
}

/// Name of a folder of `search-path`.
pub(crate) fn folder(number: u32) -> String {
    format!("folder_{number}")
}
