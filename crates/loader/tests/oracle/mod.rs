//! What glibc's own loader says that it does.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use loader::log::{LoggedBinding, bound};
use model::ModuleId;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The log of a launch with everything bound at start; up to the first initializer, where
/// bindings are those of the loader and not of dlopen.
pub fn log(program: &Path, what: &str, library_path: Option<&Path>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.env("LD_BIND_NOW", "1").env("LD_DEBUG", what);
    command.env("LD_DEBUG_OUTPUT", folder.path().join("log"));
    command.env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD");
    if let Some(path) = library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let file = folder.path().join(format!("log.{}", child.id()));
    child.wait().unwrap();
    fs::read_to_string(file).unwrap()
}

/// What the loader bound before the program ran.
pub fn bindings(program: &Path, library_path: Option<&Path>) -> BTreeSet<LoggedBinding> {
    let log = log(program, "bindings,files", library_path);
    let before = log.lines().take_while(|line| !line.contains("calling init: "));
    before.filter_map(bound).collect()
}

/// Paths in the order in which the loader calls their initializers.
pub fn initialized(program: &Path) -> Vec<String> {
    let log = log(program, "files", None);
    // What comes later the program opens itself.
    let before = log.lines().take_while(|line| !line.contains("initialize program: "));
    let calls = before.filter_map(|line| line.split_once("calling init: "));
    calls.map(|(_, path)| path.trim().to_owned()).collect()
}

/// Paths of the libraries in the order in which the loader maps them.
pub fn listed(program: &Path) -> Vec<String> {
    let mut command = Command::new(program);
    command.env("LD_TRACE_LOADED_OBJECTS", "1").env_remove("LD_PRELOAD");
    let list = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let path = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.iter().find(|word| word.starts_with('/')).map(|&word| word.to_owned())
    };
    list.lines().filter_map(path).collect()
}

/// What the simulator binds.
pub fn simulated(program: &Path, library_path: Option<&Path>) -> BTreeSet<LoggedBinding> {
    let library_path = library_path.map(|path| path.as_os_str().to_owned());
    let environment = loader::Environment { library_path, bind_now: true, preload: None };
    let graph = loader::load(program, &environment).unwrap();
    let path = |module: ModuleId| graph[module].path.display().to_string();
    let mut all = BTreeSet::new();
    for binding in loader::bindings(&graph, true).iter().flat_map(|module| &module.bindings) {
        let image = &graph[binding.from.module].image;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let version = image.symbol_version(binding.from.symbol);
        let version = version.and_then(|(index, _)| image.version(index));
        let version = version.filter(|version| version.hash != 0);
        let version = version.map_or(String::new(), |version| text(&version.name));
        if let Some(definition) = binding.to {
            let symbol = text(image.symbol(binding.from.symbol).unwrap().name);
            let (object, definer) = (path(binding.from.module), path(definition.module));
            all.insert(LoggedBinding { object, definer, symbol, version });
        }
    }
    all
}

/// Both agree. What the loader looks up for itself (its own allocator's replacement, in the
/// program's name) is no relocation of the program.
pub fn agree(program: &Path, library_path: Option<&Path>) {
    let (real, simulated) = (bindings(program, library_path), simulated(program, library_path));
    let for_itself = |bound: &&LoggedBinding| {
        ["malloc", "free", "calloc", "realloc"].contains(&bound.symbol.as_str())
            && bound.object == program.display().to_string()
    };
    let missed: Vec<&LoggedBinding> =
        real.difference(&simulated).filter(|b| !for_itself(b)).collect();
    let wrong: Vec<&LoggedBinding> = simulated.difference(&real).collect();
    let context = program.display();
    assert!(missed.is_empty() && wrong.is_empty(), "{context}: {missed:#?} {wrong:#?}");
    assert!(!real.is_empty(), "{context}: nothing was bound");
}
