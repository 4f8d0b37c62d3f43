//! What the relinked compiler is started for: sources and options of many kinds.

use super::COMPILER;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// One start of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Short and unique.
    pub name: &'static str,
    /// All arguments of the program.
    pub arguments: Vec<String>,
    /// It is to fail, as the source is wrong.
    pub fails: bool,
}

const SOURCES: [(&str, &str); 8] = [
    ("hello.c", include_str!("../../../../crates/ordering/src/openoffice/programs/clang/hello.c")),
    ("sort.c", include_str!("../../../../crates/ordering/src/openoffice/programs/clang/sort.c")),
    ("files.c", include_str!("../../../cc1/files.c")),
    (
        "shapes.cpp",
        include_str!("../../../../crates/ordering/src/openoffice/programs/clang/shapes.cpp"),
    ),
    ("streams.cpp", include_str!("../../../cc1/streams.cpp")),
    ("patterns.cpp", include_str!("../../../cc1/patterns.cpp")),
    ("wrong.cpp", include_str!("../../../cc1/wrong.cpp")),
    ("all.hpp", include_str!("../../../cc1/all.hpp")),
];

const C: &str = "-x c";
const BARE_CPP: &str = "-x c++ -fcxx-exceptions -fexceptions";
const CPP: &str = "-x c++ -std=c++17 -fcxx-exceptions -fexceptions @c++";
const VECTORS: &str = "-vectorize-loops -vectorize-slp";
const DEBUG: &str = "-debug-info-kind=constructor -dwarf-version=5";

/// Name, options, and source. `@c` and `@c++` stand for the folders of headers, `@out` for the file
/// that is written.
///
/// The first eight compile sources without headers, for two machines, and take 25 to 70 ms.
const TASKS: [(&str, &[&str], &str); 22] = [
    ("h1", &["-emit-obj -O2 -o @out", C], "hello.c"),
    ("h2", &["-emit-obj -O0 -o @out", BARE_CPP], "shapes.cpp"),
    ("h3", &["-S -O2 -o @out", VECTORS, C], "sort.c"),
    ("h4", &["-fsyntax-only", C], "sort.c"),
    ("h5", &["-E -o @out", C], "hello.c"),
    ("h6", &["-triple aarch64-linux-gnu -emit-obj -O1 -o @out", C], "hello.c"),
    ("h7", &["-emit-llvm -O1 -o @out", BARE_CPP], "shapes.cpp"),
    ("t8", &["-emit-obj -O2 -o @out", DEBUG, C], "sort.c"),
    ("h8", &["-emit-obj -O2 -o @out @c", C], "files.c"),
    ("c1", &["-fsyntax-only @c", C], "files.c"),
    ("c2", &["-emit-obj -O0 -mrelocation-model pic -pic-level 2 -o @out @c", DEBUG, C], "files.c"),
    ("x1", &["-fsyntax-only", CPP], "streams.cpp"),
    ("x2", &["-emit-obj -O0 -o @out", CPP], "streams.cpp"),
    ("x3", &["-fsyntax-only", CPP], "patterns.cpp"),
    ("x4", &["-emit-obj -O2 -o @out", VECTORS, CPP], "streams.cpp"),
    ("p1", &["-emit-pch -o @out", CPP, "-x c++-header"], "all.hpp"),
    ("p2", &["-emit-obj -O0 -o @out", CPP, "-include-pch @pch"], "streams.cpp"),
    ("e1", &["-fsyntax-only", CPP], "wrong.cpp"),
    ("v1", &["-version"], ""),
    ("v2", &["-help"], ""),
    ("a1", &["-analyze -analyzer-checker=core,unix,deadcode @c", C], "files.c"),
    ("a2", &["-ast-dump", C], "sort.c"),
];

/// All tasks, with their sources in `folder`. What `p1` writes is what `p2` reads.
///
/// # Errors
/// The sources cannot be written, or the compiler does not tell where its headers are.
pub fn tasks(folder: &Path) -> Result<Vec<Task>> {
    fs::create_dir_all(folder).with_context(|| format!("no folder {}", folder.display()))?;
    for (name, text) in SOURCES {
        fs::write(folder.join(name), text)?;
    }
    let (c, cpp) = (headers(folder, "files.c")?, headers(folder, "streams.cpp")?);
    let written = |name: &str| folder.join(format!("{name}.out")).display().to_string();
    let task = |&(name, options, source): &(&'static str, &[&str], &str)| {
        let mut arguments = vec!["-cc1".to_owned()];
        if !options.iter().any(|words| words.contains("-triple")) {
            arguments.extend(["-triple", "x86_64-linux-gnu"].map(str::to_owned));
        }
        for word in options.iter().flat_map(|words| words.split(' ')) {
            match word {
                "@c" => arguments.extend(c.iter().cloned()),
                "@c++" => arguments.extend(cpp.iter().cloned()),
                "@out" => arguments.push(written(name)),
                "@pch" => arguments.push(written("p1")),
                word => arguments.push(word.to_owned()),
            }
        }
        if !source.is_empty() {
            arguments.push(folder.join(source).display().to_string());
        }
        Task { name, arguments, fails: source == "wrong.cpp" }
    };
    Ok(TASKS.iter().map(task).collect())
}

/// The options by which `clang` tells its `-cc1` where headers are.
fn headers(folder: &Path, source: &str) -> Result<Vec<String>> {
    let mut command = Command::new(COMPILER);
    command.args(["-###", "-c"]);
    if source.ends_with(".c") {
        command.args(["-x", "c"]);
    }
    // It is told on stderr.
    let told = command.arg(folder.join(source)).output().context("clang++-19 cannot be run")?;
    let told = String::from_utf8_lossy(&told.stderr);
    let line = told.lines().find(|line| line.contains("\"-cc1\"")).unwrap_or_default();
    let words: Vec<&str> = line.trim().trim_matches('"').split("\" \"").collect();
    let is_folder = |option: &str| {
        matches!(option, "-resource-dir" | "-internal-isystem" | "-internal-externc-isystem")
    };
    let pairs = words.windows(2).filter(|pair| is_folder(pair[0])).flatten();
    let found: Vec<String> = pairs.map(|word| (*word).to_owned()).collect();
    ensure!(found.len() >= 4, "{command:?} tells no folders of headers: {told}");
    Ok(found)
}
