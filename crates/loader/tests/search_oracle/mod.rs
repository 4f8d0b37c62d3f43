//! Runs a program under `LD_DEBUG=libs`, simulates the same, and holds one against the other.

use image::Loadable;
use loader::search::{Requester, SearchError, Searcher};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A launch of a program.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub program: &'a Path,
    pub library_path: Option<&'a str>,
    pub preload: Option<&'a str>,
    /// Where it is launched; the folder of the test otherwise.
    pub folder: Option<&'a Path>,
}

impl<'a> Case<'a> {
    pub fn of(program: &'a Path) -> Case<'a> {
        Case { program, library_path: None, preload: None, folder: None }
    }
}

/// Names asked for, and files tried for them.
pub type Attempts = Vec<(String, PathBuf)>;

/// A library of one function, and its path.
pub fn library(cc: &Path, folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let mut all = vec!["-shared", "-fPIC", "-Wl,--no-as-needed"];
    all.extend(flags);
    let function = name.replace(['.', '-'], "_");
    testkit::compile(cc, folder, name, &format!("int {function}(void) {{ return 1; }}\n"), &all)
}

/// A program that needs what `flags` name and does nothing.
pub fn program(cc: &Path, folder: &Path, flags: &[&str]) -> PathBuf {
    let mut all = vec!["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"];
    all.extend(flags);
    testkit::compile(cc, folder, "main", "int main(void) { return 0; }\n", &all)
}

/// The files tried, by the loader and by the simulation alike.
pub fn both(case: &Case<'_>) -> Attempts {
    let (words, real) = launch(case);
    let (error, simulated) = simulate(case);
    assert_eq!(simulated, real, "{error:?}\n{words}");
    assert_eq!(error, None, "{words}");
    real
}

/// A launch that fails: the files tried are the same; the two messages; those files.
pub fn both_fail(case: &Case<'_>) -> (SearchError, String, Attempts) {
    let (words, real) = launch(case);
    let (error, simulated) = simulate(case);
    assert_eq!(simulated, real, "{error:?}\n{words}");
    (error.expect("the simulated search fails too"), words, real)
}

/// What the loader says, and the files that it tries.
pub fn launch(case: &Case<'_>) -> (String, Attempts) {
    let mut command = Command::new(case.program);
    command.env_clear().env("LD_DEBUG", "libs").env("LC_ALL", "C").arg("--version");
    case.folder.map(|folder| command.current_dir(folder));
    case.library_path.map(|path| command.env("LD_LIBRARY_PATH", path));
    case.preload.map(|names| command.env("LD_PRELOAD", names));
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut attempts = Attempts::new();
    let mut name = String::new();
    for line in words.lines() {
        if let Some((_, rest)) = line.split_once("find library=") {
            name = rest.split(" [").next().unwrap_or_default().to_owned();
        } else if let Some((_, path)) = line.split_once("trying file=") {
            attempts.push((name.clone(), path.into()));
        }
        if line.contains("calling init:") {
            break;
        }
    }
    (words, attempts)
}

/// What is loaded, and who asked for it.
struct Module {
    image: Loadable,
    folder: PathBuf,
    names: Vec<String>,
    loader: Option<usize>,
}

/// Breadth first, as the loader goes, but for names with a slash, of which it tells nothing.
pub fn simulate(case: &Case<'_>) -> (Option<SearchError>, Attempts) {
    let mut attempts = Attempts::new();
    let image = Loadable::open(case.program).unwrap();
    let mut searcher = Searcher::new(&image.machine, case.library_path).unwrap();
    if let Some(folder) = case.folder {
        searcher = searcher.in_folder(folder);
    }
    let folder = case.program.canonicalize().unwrap().parent().unwrap().to_owned();
    let mut modules = vec![Module { image, folder, names: Vec::new(), loader: None }];
    let mut queue: VecDeque<(usize, String)> = VecDeque::new();
    queue.extend(case.preload.map(|name| (0, name.to_owned())));
    queue.extend(modules[0].image.needed.iter().map(|name| (0, name.clone())));
    while let Some((asker, name)) = queue.pop_front() {
        if name.starts_with("ld-linux") || modules.iter().any(|m| m.names.contains(&name)) {
            continue;
        }
        let found = searcher.find(&name, &requesters(&modules, asker));
        if !name.contains('/') {
            attempts.extend(searcher.attempts().iter().map(|path| (name.clone(), path.clone())));
        }
        let path = match found {
            Ok(path) => path,
            Err(error) => return (Some(error), attempts),
        };
        let image = Loadable::open(&path).unwrap();
        let mut names = vec![name];
        names.extend(image.soname.clone());
        let next = modules.len();
        queue.extend(image.needed.iter().map(|name| (next, name.clone())));
        let folder = path.parent().unwrap().to_owned();
        modules.push(Module { image, folder, names, loader: Some(asker) });
    }
    (None, attempts)
}

fn requesters(modules: &[Module], asker: usize) -> Vec<Requester<'_>> {
    let chain = std::iter::successors(Some(asker), |&index| modules[index].loader);
    chain
        .map(|index| {
            let Module { image, folder, .. } = &modules[index];
            Requester {
                folder,
                rpath: image.rpath.as_deref(),
                runpath: image.runpath.as_deref(),
                no_default_folders: image.no_default_folders,
            }
        })
        .collect()
}
