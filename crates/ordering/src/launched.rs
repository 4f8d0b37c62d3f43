//! Which module of the traces is ordered: the launched program, or the one that was asked for.

use crate::trace::runs::file_name;
use model::{FunctionTrace, quoted, text};
use std::path::Path;

/// So many modules are named in an error.
const NAMED: usize = 5;

/// Why no module was chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// There is none at all.
    #[error("the traces list no modules; give other traces")]
    NoModules,
    /// Only names of functions were recorded.
    #[error("the traces do not name the image of their functions")]
    NamesOnly,
    /// The recorder does not tell what it launched.
    #[error("the traces do not tell which program was launched, only their modules: {modules}")]
    NothingTold {
        /// What there is.
        modules: String,
    },
    /// The program is not among the modules.
    #[error(
        "the traces have no functions of the launched program {program}, only of other modules: \
         {modules}"
    )]
    NotRecorded {
        /// What was launched.
        program: String,
        /// What there is.
        modules: String,
    },
    /// No module is called so.
    #[error("no module of the traces has '{0}' in its path")]
    NoSuchModule(String),
    /// Several modules are called so.
    #[error(
        "several modules of the traces have '{wanted}' in their paths; write more of one: {modules}"
    )]
    SeveralModules {
        /// What was asked for.
        wanted: String,
        /// What there is.
        modules: String,
    },
}

/// What a user can do about it, as data: only the command line knows how that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleAdvice {
    /// Say which file the image is.
    GiveImage,
    /// Say which module is meant.
    NameModule,
    /// The same; or trace the program itself, if what was launched is a script.
    TraceProgram,
    /// Look at what modules there are.
    ListModules,
}

impl ModuleError {
    /// What can be done about it, where the error does not say so itself.
    pub fn advice(&self) -> Option<ModuleAdvice> {
        match self {
            ModuleError::NamesOnly => Some(ModuleAdvice::GiveImage),
            ModuleError::NothingTold { .. } => Some(ModuleAdvice::NameModule),
            ModuleError::NotRecorded { .. } => Some(ModuleAdvice::TraceProgram),
            ModuleError::NoSuchModule(_) => Some(ModuleAdvice::ListModules),
            _ => None,
        }
    }
}

/// The path of the launched program's module, by the first trace that tells it.
///
/// # Errors
/// No trace tells it, or that trace has no functions of the program. Another module is never taken
/// instead.
pub fn launched(traces: &[FunctionTrace]) -> Result<String, ModuleError> {
    if traces.iter().all(|trace| trace.modules.is_empty()) {
        return Err(ModuleError::NoModules);
    }
    if let Some(path) = traces.iter().find_map(executed) {
        return Ok(path.to_owned());
    }
    let modules = all_modules(traces);
    if let Some(program) = traces.iter().find_map(program) {
        let program = quoted(Path::new(&text::name(program)));
        return Err(ModuleError::NotRecorded { program, modules: listed(&modules) });
    }
    match modules.as_slice() {
        [] => Err(ModuleError::NamesOnly),
        [only] => Ok((*only).to_owned()),
        _ => Err(ModuleError::NothingTold { modules: listed(&modules) }),
    }
}

/// The path of the module that is meant by `wanted`: its path, its file name, or a part of its path.
///
/// # Errors
/// There is none, or there are several.
pub fn named(traces: &[FunctionTrace], wanted: &str) -> Result<String, ModuleError> {
    let modules = all_modules(traces);
    let is_meant: [fn(&str, &str) -> bool; 3] = [
        |path, wanted| path == wanted,
        |path, wanted| file_name(path) == wanted,
        |path, wanted| path.contains(wanted),
    ];
    for is_meant in is_meant {
        let found = modules.iter().copied().filter(|path| is_meant(path, wanted));
        let found: Vec<&str> = found.collect();
        // A library that was updated, or is traced on several machines, has several paths.
        if let Some(first) = found.first() {
            return match found.iter().all(|path| file_name(path) == file_name(first)) {
                true => Ok((*first).to_owned()),
                false => Err(ModuleError::SeveralModules {
                    wanted: wanted.to_owned(),
                    modules: listed(&found),
                }),
            };
        }
    }
    match modules.is_empty() {
        true => Err(ModuleError::NoModules),
        false => Err(ModuleError::NoSuchModule(wanted.to_owned())),
    }
}

/// The module of the program that this trace's launch executed first.
fn executed(trace: &FunctionTrace) -> Option<&str> {
    let paths = || trace.modules.iter().map(|module| module.path.as_str());
    let at = |wanted: &str| paths().find(|path| *path == wanted);
    let of_name = |wanted: &str| paths().find(|path| file_name(path) == file_name(wanted));
    // A trace that tells the file needs no guess: another one may be the interpreter of a script.
    if let Some(launched) = &trace.launched {
        return at(launched).or_else(|| of_name(launched));
    }
    let by_name = trace.command.first().and_then(|name| of_name(name));
    by_name.or_else(|| at(&trace.programs.first()?.path))
}

/// The launched program, where the trace tells it.
fn program(trace: &FunctionTrace) -> Option<&String> {
    let executed = trace.programs.first().map(|program| &program.path);
    trace.launched.as_ref().or(trace.command.first()).or(executed)
}

/// The modules of all traces, each once.
fn all_modules(traces: &[FunctionTrace]) -> Vec<&str> {
    let mut seen = rustc_hash::FxHashSet::default();
    let modules = traces.iter().flat_map(|trace| &trace.modules).map(|module| module.path.as_str());
    modules.filter(|path| !path.is_empty() && seen.insert(*path)).collect()
}

fn listed(modules: &[&str]) -> String {
    let shown = modules.iter().take(NAMED).map(|path| quoted(Path::new(&text::name(path))));
    let shown = shown.collect::<Vec<String>>().join(", ");
    match modules.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ExecutedProgram, FunctionModule};

    fn trace(launched: Option<&str>, command: &[&str], modules: &[&str]) -> FunctionTrace {
        let module = |path: &&str| FunctionModule { path: (*path).into(), ..Default::default() };
        FunctionTrace {
            launched: launched.map(str::to_owned),
            command: command.iter().map(|&word| word.to_owned()).collect(),
            modules: modules.iter().map(module).collect(),
            ..FunctionTrace::default()
        }
    }

    fn executed(path: &str, trace: FunctionTrace) -> FunctionTrace {
        let program = ExecutedProgram { pid: 1, path: path.to_owned(), forked_from: None };
        FunctionTrace { programs: vec![program], ..trace }
    }

    #[test]
    fn the_launched_program_is_found_wherever_it_is_listed() {
        let found = |trace: FunctionTrace| launched(&[trace]).unwrap();
        assert_eq!(found(trace(None, &["app.exe"], &["/wine64", "/x/app.exe"])), "/x/app.exe");
        let linked = trace(Some("/usr/bin/vim.basic"), &["vim"], &["/ld.so", "/usr/bin/vim.basic"]);
        assert_eq!(found(linked), "/usr/bin/vim.basic");
        let older = executed("/bin/busybox", trace(None, &["ls"], &["/ld.so", "/bin/busybox"]));
        assert_eq!(found(older), "/bin/busybox");
        assert_eq!(found(trace(None, &[], &["splmi.dll"])), "splmi.dll");
        let silent = trace(None, &[], &[""]);
        assert_eq!(launched(&[silent, trace(None, &["a"], &["/b", "/a"])]).unwrap(), "/a");
    }

    #[test]
    fn no_other_module_takes_the_place_of_the_program() {
        let error = |trace: FunctionTrace| launched(&[trace]).unwrap_err();
        let lost = executed("/x/a\nb", trace(None, &["./a\nb"], &["/lib/ld.so"]));
        let modules = "/lib/ld.so".to_owned();
        let program = quoted("./a\nb");
        assert_eq!(error(lost), ModuleError::NotRecorded { program, modules });
        let script = executed("/bin/sh", trace(Some("/x/run.sh"), &["./run.sh"], &["/bin/sh"]));
        assert!(matches!(error(script), ModuleError::NotRecorded { .. }));
        assert_eq!(error(trace(None, &[], &[])), ModuleError::NoModules);
        assert_eq!(error(trace(None, &[], &[""])), ModuleError::NamesOnly);
        let several = ModuleError::NothingTold { modules: "a.so, b.so".to_owned() };
        assert_eq!(error(trace(None, &[], &["a.so", "b.so"])), several);
    }

    #[test]
    fn a_part_of_a_path_names_one_module() {
        let traces = [trace(None, &[], &["/a/lib.so", "/a/lib.so.1", "/b/lib.so", "/b/other"])];
        let found = |wanted: &str| named(&traces, wanted);
        assert_eq!(found("/b/lib.so").unwrap(), "/b/lib.so");
        assert_eq!(found("lib.so").unwrap(), "/a/lib.so");
        assert_eq!(found("oth").unwrap(), "/b/other");
        let several = found("lib").unwrap_err();
        assert!(
            several.to_string().ends_with("one: /a/lib.so, /a/lib.so.1, /b/lib.so"),
            "{several}"
        );
        assert_eq!(found("x").unwrap_err(), ModuleError::NoSuchModule("x".to_owned()));
    }
}
