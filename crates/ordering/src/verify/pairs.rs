//! Which module of one build is which of the other, where it was relinked.

use super::VerifyError;
use super::builds::{BuildModule, ModulePair};
use model::{FunctionModule, FunctionTrace, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The relinked modules, and what is told of the others.
pub struct Pairing {
    pub pairs: Vec<ModulePair>,
    pub notes: Vec<String>,
}

/// Modules of both builds that are not the same file. They are matched by file name, else by the
/// name that libraries give themselves, else as the programs that are executed, in that order.
///
/// # Errors
/// The functions of a launched program were not recorded.
pub fn pairing(traces: [&[FunctionTrace]; 2]) -> Result<Pairing, VerifyError> {
    recorded(traces)?;
    let [old, new] = traces.map(modules);
    let mut only = [without(&old, &new), without(&new, &old)];
    let mut found = matched(&mut only, |module| file_name(&module.path).map(str::to_owned));
    found.extend(matched(&mut only, |module| soname(&module.path)));
    let executed = traces.map(executed);
    let place = |programs: &[&str], module: &FunctionModule| {
        programs.iter().position(|program| *program == module.path)
    };
    found.extend(matched_as(&mut only, |module, side| place(&executed[side], module)));
    let relinked = found.into_iter().filter(|[old, new]| !is_copy(old, new));
    let pairs: Vec<ModulePair> = relinked
        .map(|[old, new]| ModulePair {
            name: file_name(&new.path).unwrap_or(&new.path).to_owned(),
            sides: [BuildModule::of(traces[0], &old.path), BuildModule::of(traces[1], &new.path)],
        })
        .collect();
    Ok(Pairing { pairs, notes: notes(traces, &only) })
}

/// Whether the programs that were launched are among the modules, where they are two: what else
/// differs says nothing of them.
fn recorded(traces: [&[FunctionTrace]; 2]) -> Result<(), VerifyError> {
    let launched = traces.map(|traces| Some(traces.first()?.programs.first()?.path.as_str()));
    if launched[0] == launched[1] && launched[0].is_some() {
        return Ok(());
    }
    for (traces, program) in traces.into_iter().zip(launched) {
        let Some(first) = traces.first() else { continue };
        let is_it = |module: &FunctionModule| Some(module.path.as_str()) == program;
        if !first.modules.iter().any(is_it) {
            return Err(VerifyError::NotRecorded {
                program: program.unwrap_or_default().to_owned(),
                reason: first.notes.first().map_or(String::new(), |note| format!(" ({note})")),
            });
        }
    }
    Ok(())
}

/// The modules of all launches, in order, each once.
fn modules(traces: &[FunctionTrace]) -> Vec<&FunctionModule> {
    let mut seen = BTreeSet::new();
    let all = traces.iter().flat_map(|trace| &trace.modules);
    all.filter(|module| seen.insert(module.path.as_str())).collect()
}

/// Those that the other build does not have at the same path.
fn without<'a>(
    modules: &[&'a FunctionModule],
    others: &[&FunctionModule],
) -> Vec<&'a FunctionModule> {
    let is_there = |module: &&FunctionModule| others.iter().any(|other| other.path == module.path);
    modules.iter().filter(|module| !is_there(module)).copied().collect()
}

/// Takes those of both builds that have the same key.
fn matched<'a, K: PartialEq>(
    only: &mut [Vec<&'a FunctionModule>; 2],
    key: impl Fn(&FunctionModule) -> Option<K>,
) -> Vec<[&'a FunctionModule; 2]> {
    matched_as(only, |module, _| key(module))
}

/// The same, where the key depends on the build.
fn matched_as<'a, K: PartialEq>(
    only: &mut [Vec<&'a FunctionModule>; 2],
    key: impl Fn(&FunctionModule, usize) -> Option<K>,
) -> Vec<[&'a FunctionModule; 2]> {
    let mut found = Vec::new();
    let [olds, news] = only;
    let mut keys: Vec<Option<K>> = news.iter().map(|new| key(new, 1)).collect();
    olds.retain(|old| {
        let Some(wanted) = key(old, 0) else { return true };
        let Some(at) = keys.iter().position(|key| key.as_ref() == Some(&wanted)) else {
            return true;
        };
        keys.remove(at);
        found.push([*old, news.remove(at)]);
        false
    });
    found
}

fn file_name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

/// The name that a library gives itself, which its versions share.
fn soname(path: &str) -> Option<String> {
    image::elf::Loadable::open(&file(path)).ok()?.soname
}

/// The programs that the first launch executes, in order.
fn executed(traces: &[FunctionTrace]) -> Vec<&str> {
    let programs = traces.first().map_or(&[][..], |trace| &trace.programs);
    let executed = programs.iter().filter(|program| program.forked_from.is_none());
    executed.map(|program| program.path.as_str()).collect()
}

/// Whether one is a copy of the other. Linkers may give the same build-id to different files.
fn is_copy(old: &FunctionModule, new: &FunctionModule) -> bool {
    let differ = old.build_id.as_ref().zip(new.build_id.as_ref());
    if differ.is_some_and(|(old, new)| old != new) {
        return false;
    }
    let content = |module: &FunctionModule| std::fs::read(file(&module.path)).ok();
    let old = content(old);
    old.is_some() && old == content(new)
}

fn file(path: &str) -> PathBuf {
    PathBuf::from(text::name(path))
}

/// What was not recorded, and modules of one build that the other has nothing for.
fn notes(traces: [&[FunctionTrace]; 2], only: &[Vec<&FunctionModule>; 2]) -> Vec<String> {
    let recorded = traces.into_iter().flatten().flat_map(|trace| trace.notes.iter().cloned());
    let mut notes: Vec<String> = Vec::new();
    for note in recorded {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for ((only, traces), which) in only.iter().zip(traces).zip(["old", "new"]) {
        let is_called =
            |module: &&&FunctionModule| !BuildModule::of(traces, &module.path).called().is_empty();
        notes.extend(only.iter().filter(is_called).map(|module| {
            format!("only the {which} build loads '{}', which is not compared", module.path)
        }));
    }
    notes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use model::ExecutedProgram;

    fn trace(programs: &[&str], modules: &[(&str, &str)]) -> FunctionTrace {
        let module = |(path, id): &(&str, &str)| FunctionModule {
            path: (*path).to_owned(),
            build_id: Some((*id).to_owned()),
            ..FunctionModule::default()
        };
        let program =
            |path: &&str| ExecutedProgram { pid: 1, path: (*path).to_owned(), forked_from: None };
        FunctionTrace {
            modules: modules.iter().map(module).collect(),
            programs: programs.iter().map(program).collect(),
            ..FunctionTrace::default()
        }
    }

    fn paired(old: FunctionTrace, new: FunctionTrace) -> Vec<[String; 2]> {
        let found = pairing([&[old], &[new]]).unwrap().pairs.into_iter();
        found.map(|pair| pair.sides.map(|side| side.path)).collect()
    }

    fn both(old: &str, new: &str) -> [String; 2] {
        [old.to_owned(), new.to_owned()]
    }

    #[test]
    fn programs_of_other_names_are_matched_by_their_place() {
        let old =
            trace(&["/bin/env", "/p.old"], &[("/bin/env", "1"), ("/p.old", "2"), ("/c", "3")]);
        let new = trace(&["/bin/env", "/p"], &[("/bin/env", "1"), ("/p", "4"), ("/c", "3")]);
        assert_eq!(paired(old, new), [both("/p.old", "/p")]);
    }

    #[test]
    fn a_module_of_both_builds_is_matched_with_no_other() {
        let old = trace(&["/p"], &[("/p", "1"), ("/a/x.so", "2"), ("/old/x.so", "3")]);
        let new = trace(&["/p"], &[("/p", "1"), ("/a/x.so", "2"), ("/new/x.so", "4")]);
        assert_eq!(paired(old, new), [both("/old/x.so", "/new/x.so")]);
    }

    #[test]
    fn a_launched_program_that_was_not_recorded_is_told() {
        let old = trace(&["/p.old"], &[("/p.old", "1"), ("/old/x.so", "2")]);
        let new = trace(&["/p"], &[("/new/x.so", "3")]);
        let error = pairing([&[old], &[new]]).err().unwrap();
        assert!(matches!(&error, VerifyError::NotRecorded { program, .. } if program == "/p"));
    }
}
