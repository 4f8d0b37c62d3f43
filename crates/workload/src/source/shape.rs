//! Workloads of one form of dependencies as C sources.

use super::main_c::{self, FRAME};
use super::script::{Script, runpath};
use crate::shape::{Kind, Shape, folder, function, library, variable};
use crate::{Counts, Files};
use std::fmt::Write;

pub(crate) fn shape(shape: &Shape, counts: Counts) -> Files {
    let mut files = Files::new("build.sh", counts);
    let Shape { kind, n } = *shape;
    let (sources, functions_each) = match kind {
        Kind::Symbols => (1, n),
        Kind::SearchPath => (1, 1),
        _ => (n, 1),
    };
    for number in 1..=sources {
        files.add(format!("shape_{number}.c"), false, move || {
            library_source(kind, number, functions_each).into_bytes()
        });
    }
    if kind == Kind::SearchPath {
        for number in 1..=n {
            files.add_folder(folder(number));
        }
    }
    files.add("main.c", false, move || main_source(kind, n).into_bytes());
    files.add("build.sh", true, move || script(kind, n));
    files
}

fn library_source(kind: Kind, first: u32, functions: u32) -> String {
    let mut text = String::new();
    for number in first..first + functions {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "int {}(void) {{ return {number}; }}", function(number));
    }
    if kind == Kind::Tls {
        let _ = writeln!(text, "__thread long {} = {first};", variable(first));
    }
    text
}

fn main_source(kind: Kind, n: u32) -> String {
    match kind {
        Kind::Symbols => main_c::calls(&(1..=n).map(function).collect::<Vec<_>>()),
        Kind::SearchPath => main_c::calls(&[function(1)]),
        Kind::Dlopen => opening(n),
        _ => main_c::calls(&[]),
    }
}

fn opening(n: u32) -> String {
    let names: String =
        (1..=n).map(|number| format!("    {{\"{}\"}},\n", library(number))).collect();
    format!(
        "{FRAME}void *dlopen(const char *name, int mode);\n\nstatic const char names[{n}][32] = \
         {{\n{names}}};\n\nvoid begin(long *stack)\n{{\n    (void)stack;\n    for (unsigned number = \
         1; number <= {n}; number++)\n        if (!dlopen(names[number - 1], 2))\n            \
         fail(number);\n    leave(0);\n}}\n"
    )
}

/// Libraries are built from the last to the first, as they need later ones.
fn script(kind: Kind, n: u32) -> Vec<u8> {
    let mut script = Script::new(false);
    let files = |from: u32, to: u32| {
        (from..=to).fold(String::new(), |text, number| text + " ./" + &library(number))
    };
    let origin = runpath("$ORIGIN");
    let needed = match kind {
        Kind::Symbols => {
            script.library(&library(1), "shape_1.c");
            files(1, 1)
        }
        Kind::SearchPath => return searching(script, n),
        _ => {
            for number in (1..=n).rev() {
                let last = match kind {
                    Kind::Chain | Kind::ReverseChain => n.min(number + 1),
                    Kind::Dense => n,
                    _ => number,
                };
                let needed = files(number + 1, last);
                let path = if needed.is_empty() { "" } else { origin.as_str() };
                script.library(&library(number), &format!("shape_{number}.c{needed} {path}"));
            }
            match kind {
                Kind::Chain => files(1, n.min(1)),
                Kind::ReverseChain => {
                    (1..=n).rev().fold(String::new(), |text, number| text + &files(number, number))
                }
                Kind::Dlopen => " -lc".to_owned(),
                _ => files(1, n),
            }
        }
    };
    script.program("main", &format!("main.c{needed} {origin}"));
    script.finish()
}

/// Without folders the library is named by its path, which is not searched for.
fn searching(mut script: Script, n: u32) -> Vec<u8> {
    let name = library(1);
    let folders: Vec<_> = (1..=n).map(|number| format!("$ORIGIN/{}", folder(number))).collect();
    if n == 0 {
        let more = format!("shape_1.c -Wl,-soname,'$ORIGIN/{name}'");
        script.library(&name, &more);
        script.program("main", &format!("main.c ./{name}"));
        script.line("# Once more, by its own name.");
        script.library(&name, "shape_1.c");
    } else {
        let path = format!("{}/{name}", folder(n));
        script.library(&path, "shape_1.c");
        script.program("main", &format!("main.c {path} {}", runpath(&folders.join(":"))));
    }
    script.finish()
}
