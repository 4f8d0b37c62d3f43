//! Runs a program under `LD_DEBUG=libs`, simulates the same, and holds one against the other.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use image::elf::Loadable;
use loader::search::{Cache, Requester, SearchError, Searcher};
use model::simulation::SearchWork;
use model::text;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A launch of a program.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub program: &'a Path,
    pub library_path: Option<&'a OsStr>,
    pub preload: Option<&'a str>,
    /// Where it is launched; the folder of the test otherwise.
    pub folder: Option<&'a Path>,
    /// What stands in place of `/etc/ld.so.cache`.
    pub cache: Option<&'a Path>,
}

impl<'a> Case<'a> {
    pub fn of(program: &'a Path) -> Case<'a> {
        Case { program, library_path: None, preload: None, folder: None, cache: None }
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
    let simulated = simulate(case);
    assert_eq!(simulated.attempts, real, "{:?}\n{words}", simulated.error);
    assert_eq!(simulated.error, None, "{words}");
    real
}

/// A launch that fails: the files tried are the same; the two messages; those files.
pub fn both_fail(case: &Case<'_>) -> (SearchError, String, Attempts) {
    let (words, real) = launch(case);
    let simulated = simulate(case);
    assert_eq!(simulated.attempts, real, "{:?}\n{words}", simulated.error);
    (simulated.error.expect("the simulated search fails too"), words, real)
}

/// What the loader says, and the files that it tries.
pub fn launch(case: &Case<'_>) -> (String, Attempts) {
    let mut command = Command::new("env");
    if let Some(cache) = case.cache {
        command = in_namespace(&[(cache, Path::new(CACHE))]);
        command.arg("env");
    }
    command.arg("-i").args(["LD_DEBUG=libs", "LC_ALL=C"]);
    case.folder.map(|folder| command.current_dir(folder));
    case.library_path.map(|path| {
        let mut variable = OsString::from("LD_LIBRARY_PATH=");
        variable.push(path);
        command.arg(variable)
    });
    case.preload.map(|names| command.arg(format!("LD_PRELOAD={names}")));
    command.arg(case.program).arg("--version");
    let output = command.output().unwrap();
    let words = text::text(OsStr::from_bytes(&output.stderr));
    let mut attempts = Attempts::new();
    let mut name = String::new();
    for line in words.lines() {
        if let Some((_, rest)) = line.split_once("find library=") {
            name = rest.split(" [").next().unwrap_or_default().to_owned();
        } else if let Some((_, path)) = line.split_once("trying file=") {
            attempts.push((name.clone(), text::name(path).into()));
        }
        if line.contains("calling init:") {
            break;
        }
    }
    (words, attempts)
}

const CACHE: &str = "/etc/ld.so.cache";

/// A command, to be completed, for which files and folders of the system are replaced by others:
/// the system's own stay as they are.
pub fn in_namespace(replaced: &[(&Path, &Path)]) -> Command {
    let script = "n=$1; shift; while [ $n -gt 0 ]; do mount --bind \"$1\" \"$2\" || exit 97; \
                  shift 2; n=$((n - 1)); done; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(replaced.len().to_string());
    for (other, place) in replaced {
        command.arg(other).arg(place);
    }
    command
}

/// Whether files can be replaced here; if not, the test is skipped loudly.
pub fn can_replace() -> bool {
    if testkit::tool("unshare").is_none() {
        return false;
    }
    let possible = in_namespace(&[]).arg("true").output().is_ok_and(|run| run.status.success());
    if !possible {
        testkit::skip("needs user namespaces: sysctl kernel.unprivileged_userns_clone=1");
    }
    possible
}

/// What is loaded, and who asked for it.
struct Module {
    image: Loadable,
    folder: PathBuf,
    names: Vec<String>,
    loader: Option<usize>,
}

/// What the simulated launch came to.
pub struct Simulated {
    pub error: Option<SearchError>,
    pub attempts: Attempts,
    pub work: SearchWork,
}

/// Breadth first, as the loader goes.
pub fn simulate(case: &Case<'_>) -> Simulated {
    let image = Loadable::open(case.program).unwrap();
    let mut searcher = Searcher::new(&image.machine, case.library_path).unwrap();
    if let Some(folder) = case.folder {
        searcher = searcher.in_folder(folder);
    }
    if let Some(cache) = case.cache {
        searcher = searcher.with_cache(Cache::read(cache));
    }
    let mut attempts = Attempts::new();
    let error = closure(case, image, &mut searcher, &mut attempts).err();
    Simulated { error, attempts, work: searcher.work() }
}

/// Finds all that a program needs. Of names with a slash the loader does not tell what it tries.
fn closure(
    case: &Case<'_>,
    image: Loadable,
    searcher: &mut Searcher,
    attempts: &mut Attempts,
) -> Result<(), SearchError> {
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
        let path = found?;
        let image = Loadable::open(&path).unwrap();
        let mut names = vec![name];
        names.extend(image.soname.clone());
        let next = modules.len();
        queue.extend(image.needed.iter().map(|name| (next, name.clone())));
        let folder = path.parent().unwrap().to_owned();
        modules.push(Module { image, folder, names, loader: Some(asker) });
    }
    Ok(())
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
