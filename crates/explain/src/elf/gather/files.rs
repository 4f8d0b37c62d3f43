//! The files behind the paths that launches name.

use crate::elf::inputs::Inputs;
use model::{ElfFacts, MemoryChange, Reading, UnpackedFiles, text};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Finds the real path of every path in the records, and the facts of every image there.
pub(super) fn resolve(inputs: &mut Inputs) {
    simulate(inputs);
    for path in inputs.paths() {
        if let Some(real) = real(&path) {
            inputs.real_paths.insert(path, real);
        }
    }
    launched(inputs);
    // The files of merged libraries are not looked at unless something else loads them.
    let merged = inputs.contents.values().flat_map(|contents| &contents.libraries);
    let merged: BTreeSet<&str> = merged.map(|library| library.path.as_str()).collect();
    let named = inputs.paths();
    let own = |path: &str| named.contains(path) || !merged.contains(path);
    let files = inputs.real_paths.iter().filter(|(path, _)| own(path)).map(|(_, real)| real);
    let mut files: Vec<&String> = files.collect();
    files.sort();
    files.dedup();
    inputs.facts = files.par_iter().map(|path| (path.to_string(), facts(path))).collect();
    inputs.bundles = files
        .par_iter()
        .filter_map(|path| {
            Some((path.to_string(), image::elf::merged(Path::new(&text::name(path))).ok()??))
        })
        .collect();
    inputs.unpacked = unpacked(files.into_iter().cloned().collect());
}

/// The files that lie on file systems with work to do for them, by file system.
fn unpacked(files: Vec<String>) -> Vec<UnpackedFiles> {
    let mut found: Vec<UnpackedFiles> = Vec::new();
    for path in files {
        let Some(mount) = os::host::unpacking_mount(Path::new(&text::name(&path))) else {
            continue;
        };
        match found.iter_mut().find(|known| known.mount == mount) {
            Some(known) => known.files.push(path),
            None => {
                let read = Reading::unavailable("it was not measured", "");
                found.push(UnpackedFiles { mount, files: vec![path], read });
            }
        }
    }
    for one in &mut found {
        let paths: Vec<PathBuf> = one.files.iter().map(|path| text::name(path).into()).collect();
        one.read = os::host::unpack_times(&paths);
    }
    found
}

/// The real path of a file, or of a program by its bare name.
fn real(path: &str) -> Option<String> {
    let found = match path.contains('/') {
        true => PathBuf::from(text::name(path)),
        false => os::program::resolve(&[text::name(path)]).ok()?.program,
    };
    Some(text::text(std::fs::canonicalize(found).ok()?))
}

/// The launched program's file is known, whatever its `argv[0]` would find.
fn launched(inputs: &mut Inputs) {
    let program = text::text(&inputs.command.program);
    let real = inputs.real_paths.get(&program).cloned();
    let name = inputs.command.argv.first().map(text::text);
    if let (Some(real), Some(name)) = (real, name) {
        inputs.real_paths.insert(name, real);
    }
}

/// Where no record names the program's modules, its file does, as the loader would read it.
fn simulate(inputs: &mut Inputs) {
    let logged = inputs.loader_logs.value().into_iter().flatten().any(|log| !log.lines.is_empty());
    if logged || faults_name_modules(inputs) {
        return;
    }
    // A static program, or one that another loader loads, has no more modules that we know of.
    let graph = loader::load(&inputs.command.program, &loader::Environment::of(&inputs.command));
    let modules = graph.into_iter().flat_map(|graph| {
        let loader = std::iter::once(graph.interpreter);
        graph.modules.into_iter().skip(1).map(|module| module.path).chain(loader)
    });
    inputs.simulated = modules.map(text::text).collect();
}

/// Whether the record of page faults names any library. Of a set-user-ID program an ordinary user
/// sees none.
fn faults_name_modules(inputs: &Inputs) -> bool {
    let program = text::text(&inputs.command.program);
    let program = real(&program).unwrap_or(program);
    let changes = inputs.page_faults.value().into_iter().flat_map(|record| &record.mappings);
    let mut executable = changes.filter_map(MemoryChange::mapping).filter(|m| m.executable);
    executable.any(|m| m.file().is_some_and(|file| file != program))
}

fn facts(path: &str) -> Result<ElfFacts, String> {
    image::elf::facts(Path::new(&text::name(path))).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Command, Mapping, PageFaults, Reading};

    #[test]
    fn a_record_without_libraries_names_none() {
        let argv = vec!["p".into()];
        let program = PathBuf::from("/none/p");
        let command = Command { argv, program, directory: None, environment: Vec::new() };
        let mut inputs = Inputs::nothing(command, "a test");
        assert!(!faults_name_modules(&inputs));
        let mapping = |path: &str| Mapping {
            pid: 1,
            at_us: 1.0,
            start: 4096,
            bytes: 4096,
            file_offset: 0,
            executable: true,
            path: path.to_owned(),
        };
        for (path, named) in [("/none/p", false), ("//anon", false), ("/lib/l.so", true)] {
            inputs.page_faults = Reading::Value(PageFaults {
                total_us: 1.0,
                pid: 1,
                source: "a test".to_owned(),
                mappings: vec![MemoryChange::Mapped(mapping(path))],
                faults: Vec::new(),
                read_bytes_by_file: Reading::unavailable("", ""),
                read_bytes: Reading::unavailable("", ""),
                lost: 0,
            });
            assert_eq!(faults_name_modules(&inputs), named, "{path}");
        }
    }
}
