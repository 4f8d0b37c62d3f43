//! Whole builds with the bundles of a toolchain, interleaved with builds by the compilers themselves: less time,
//! and the same objects.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::{median, percent};
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use testkit::workspace::SET_BY_CARGO;

/// Each build is timed so often with and without the bundles.
const PAIRS: usize = 5;
const C_FILES: usize = 200;
const CRATES: usize = 60;

/// One project and how it is built.
struct Build {
    figure: &'static str,
    /// Which toolchain is bundled, and its compiler.
    toolchain: [&'static str; 2],
    /// Writes the project into a folder.
    write: fn(&Path) -> Result<()>,
    /// Builds it there, from nothing.
    line: &'static str,
    /// What has to be the same, by the end of its name.
    made: &'static str,
    /// With and without fixed addresses. Debian's gcc has fixed ones itself.
    kinds: &'static [bool],
    /// The most time it may take, as a share of what the compilers take.
    most: Option<f64>,
}

const BUILDS: [Build; 4] = [
    Build {
        figure: "make of 200 C files, clang",
        toolchain: ["clang", "clang-19"],
        write: c_files,
        line: "rm -f *.o && make -s -j2 CC=clang-19",
        made: ".o",
        kinds: &[true, false],
        most: Some(0.8),
    },
    Build {
        figure: "CMake configure, clang",
        toolchain: ["clang", "clang-19"],
        write: cmake_project,
        line: "rm -rf build && cmake -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -B build . >out",
        made: "",
        kinds: &[true, false],
        most: Some(0.8),
    },
    Build {
        figure: "cargo build of 60 crates",
        toolchain: ["rustc", "rustc"],
        write: crates,
        line: "rm -rf target && cargo build -q --offline -j2",
        made: "/main",
        kinds: &[true, false],
        most: Some(0.9),
    },
    Build {
        figure: "make of 200 C files, gcc",
        toolchain: ["gcc", "gcc"],
        write: c_files,
        line: "rm -f *.o && make -s -j2 CC=gcc",
        made: ".o",
        kinds: &[true],
        most: None,
    },
];

/// # Errors
/// A project cannot be written or built.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = Vec::new();
    for build in &BUILDS {
        for &fixed in build.kinds {
            rows.extend(measured(context, build, fixed)?);
        }
    }
    Ok(Report { rows })
}

fn measured(context: &Context, build: &Build, fixed: bool) -> Result<Vec<Row>> {
    let kind = if fixed { "fixed" } else { "movable" };
    let folder = context.scratch.join(format!("{}-{kind}", build.figure.replace(' ', "-")));
    let project = folder.join("project");
    std::fs::create_dir_all(&project)?;
    // Every user may write to the folder of the bars: no place for a compiler that root starts.
    let own = tempfile::tempdir()?;
    let tools = own.path().join("tools");
    (build.write)(&project)?;
    let out = tools.display().to_string();
    let [toolchain, compiler] = build.toolchain;
    let mut line = vec!["bundle", "--toolchain", toolchain, "--out", &out];
    line.extend(fixed.then_some("--fixed"));
    line.push(compiler);
    context.headstart.run(&line)?;
    let mut ratios = Vec::new();
    let mut is_same = true;
    for _ in 0..PAIRS {
        let original = built(build, &project, None)?;
        let objects = contents(&project, build.made)?;
        let bundled = built(build, &project, Some(&tools))?;
        is_same &= objects == contents(&project, build.made)?;
        ratios.push(bundled / original);
    }
    let count = contents(&project, build.made)?.len();
    std::fs::remove_dir_all(&folder)?;
    let ratio = median(ratios);
    let figure = format!("{}, {kind}: time of the build", build.figure);
    let value = percent(ratio);
    let row = match build.most.filter(|_| fixed) {
        Some(most) => Row::bar(figure, value, &format!("≤ {}", percent(most)), ratio <= most),
        None => Row::shown(figure, value),
    };
    let mut rows = vec![row.beside("none")];
    if !build.made.is_empty() {
        let same = format!("{count} files {}", if is_same { "the same" } else { "differ" });
        let figure = format!("{}, {kind}: what is made", build.figure);
        rows.push(Row::bar(figure, same, "the same", is_same && count > 0));
    }
    Ok(rows)
}

/// Builds the project, with the tools before all others in PATH; seconds.
fn built(build: &Build, project: &Path, tools: Option<&Path>) -> Result<f64> {
    let mut command = Command::new("sh");
    command.args(["-c", build.line]).current_dir(project).stdin(Stdio::null());
    command.env_remove(SET_BY_CARGO).env_remove("CARGO_TARGET_DIR");
    if let Some(tools) = tools {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(tools.to_owned()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(all)?);
    }
    let start = Instant::now();
    let status = command.status()?;
    let time = start.elapsed().as_secs_f64();
    ensure!(status.success(), "{}: `{}` ends with {status}", project.display(), build.line);
    Ok(time)
}

/// What files below the folder contain whose paths end so.
fn contents(folder: &Path, end: &str) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else if !end.is_empty() && path.to_string_lossy().ends_with(end) {
                found.insert(path.clone(), std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

fn c_files(folder: &Path) -> Result<()> {
    let mut objects = String::new();
    for at in 0..C_FILES {
        let text = format!(
            "#include <stdio.h>\n#include <string.h>\nint f{at}(const char *text) {{ return \
             printf(\"%s %zu\\n\", text, strlen(text)) + {at}; }}\n"
        );
        std::fs::write(folder.join(format!("f{at}.c")), text)?;
        let _ = write!(objects, " f{at}.o");
    }
    std::fs::write(folder.join("Makefile"), format!("all:{objects}\n"))?;
    Ok(())
}

fn cmake_project(folder: &Path) -> Result<()> {
    let headers = ["stdio.h", "unistd.h", "sys/mman.h", "pthread.h", "spawn.h", "poll.h"];
    let mut text = String::from(
        "cmake_minimum_required(VERSION 3.10)\nproject(probe C CXX)\ninclude(CheckIncludeFile)\n\
         include(CheckFunctionExists)\n",
    );
    for (at, header) in headers.iter().enumerate() {
        let _ = writeln!(text, "check_include_file({header} HAS_HEADER_{at})");
    }
    for function in ["fork", "mmap", "memfd_create", "strlcpy", "getrandom", "nothing_has_this"] {
        let _ = writeln!(text, "check_function_exists({function} HAS_{function})");
    }
    std::fs::write(folder.join("CMakeLists.txt"), text)?;
    Ok(())
}

fn crates(folder: &Path) -> Result<()> {
    let mut manifest = String::from(
        "[package]\nname = \"main\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n",
    );
    let mut main = String::from("fn main() {\n    let mut sum = 0;\n");
    for at in 0..CRATES {
        let own = folder.join(format!("c{at}"));
        std::fs::create_dir_all(own.join("src"))?;
        let text =
            format!("[package]\nname = \"c{at}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        std::fs::write(own.join("Cargo.toml"), text)?;
        let text = format!("pub fn value(of: u64) -> u64 {{ of.wrapping_mul({at}) + 1 }}\n");
        std::fs::write(own.join("src/lib.rs"), text)?;
        let _ = writeln!(manifest, "c{at} = {{ path = \"c{at}\" }}");
        let _ = writeln!(main, "    sum += c{at}::value(sum);");
    }
    main += "    println!(\"{sum}\");\n}\n";
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("src/main.rs"), main)?;
    std::fs::write(folder.join("Cargo.toml"), manifest + "[workspace]\n")?;
    Ok(())
}
