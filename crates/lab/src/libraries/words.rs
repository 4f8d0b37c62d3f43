//! Why a library was not loaded, and what is to be known about the times of the others.

use os::library_loads::{LoadEnding, TimedLoads};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Why a library was not loaded; `None` where it was. `given`: what dlopen was given.
pub fn error(ending: &LoadEnding, given: &OsStr, timeout: Duration) -> Option<String> {
    Some(match ending {
        LoadEnding::Loaded => return None,
        LoadEnding::Refused(text) => refused(text, given),
        LoadEnding::Exited(code) => {
            format!("it ended the process with exit code {code} while it was loaded")
        }
        LoadEnding::Killed(signal) => {
            let name = signal_name(*signal);
            format!("it crashed while it was loaded: the process was killed by {name}")
        }
        LoadEnding::Status(status) => {
            let how = model::nt_status::words(*status);
            format!("the process ended with {how} while it was loaded")
        }
        LoadEnding::Traced(signal) => {
            let name = signal_name(*signal);
            format!(
                "it asked to be traced (PTRACE_TRACEME) while it was loaded and stopped at {name}, as \
                 no debugger let it go on"
            )
        }
        LoadEnding::TimedOut => {
            let path = Path::new(given);
            let is_other = path.is_absolute() && path.exists() && !path.is_file();
            let file = if is_other { identified(path) } else { String::new() };
            format!("it was not loaded within {} s and was given up{file}", timeout.as_secs_f64())
        }
    })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// The loader's words, without the name that stands beside them, and with what the file is where
/// the loader does not tell.
fn refused(text: &str, given: &OsStr) -> String {
    let name = given.to_string_lossy();
    let reason = text.strip_prefix(&*name).and_then(|rest| rest.strip_prefix(": "));
    let reason = reason.unwrap_or(text);
    let vague = ["invalid ELF header", "wrong ELF class", "file too short", "No such file"];
    let path = Path::new(given);
    if !path.is_absolute() || !vague.iter().any(|part| reason.contains(part)) {
        let next = if super::is_dll_name(given) {
            "; only a list of nothing but DLLs is loaded by Wine"
        } else if reason.contains("No such file") && reason.starts_with("cannot open") {
            "; check the name, or give its path"
        } else {
            ""
        };
        return format!("{reason}{next}");
    }
    if reason.contains("No such file") && path.exists() {
        // That is what the loader says of a library for another machine.
        return format!("the loader does not accept the file{}", identified(path));
    }
    format!("{reason}{}", identified(path))
}

/// What the file is, in parentheses; nothing where it cannot be read.
pub fn identified(path: &Path) -> String {
    image::identify::identify(path)
        .map_or_else(|_| String::new(), |it| format!(" (it is {}: {})", it.kind.word(), it.detail))
}

/// Notes on loads as a whole. `loader`: what else may need a library.
pub fn notes(found: &TimedLoads, loader: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let there = found.loads.iter().filter(|load| load.ending == LoadEnding::Loaded);
    let there = there.filter(|load| load.modules == 0).count();
    if there > 0 {
        let (were, their) = match there {
            1 => ("1 library was", "its time is that of finding it"),
            _ => (&*format!("{there} libraries were"), "their times are those of finding them"),
        };
        notes.push(format!(
            "{were} in the process already, because a library before or {loader} needs \
             {}: {their}",
            if there == 1 { "it" } else { "them" }
        ));
    }
    let ended = |load: &&os::library_loads::TimedLoad| load.us.is_none();
    let ended = found.loads.iter().filter(ended).count();
    if ended > 0 {
        notes.push(format!(
            "{} ended the process: a new one was started behind {}, which first loaded again, \
             untimed, what was loaded before",
            model::figures::plural(ended as u64, "library", "libraries"),
            if ended == 1 { "it" } else { "each" }
        ));
    }
    if found.processes > 10 {
        notes.push(
            "from the 11th process on nothing was loaded again: libraries that others need were \
             loaded with the next one that needs them"
                .to_owned(),
        );
    }
    if found.threads > 0 {
        notes.push(format!(
            "libraries started {}, which ran while later ones were loaded",
            model::figures::plural(found.threads.into(), "thread", "threads")
        ));
    }
    if found.left_running > 0 {
        let processes = model::figures::plural(found.left_running.into(), "process", "processes");
        notes.push(format!("libraries started {processes}, ended by headstart"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_without_the_name_and_with_what_the_file_is() {
        let told = |text: &str, name: &str| {
            error(&LoadEnding::Refused(text.to_owned()), OsStr::new(name), Duration::from_secs(1))
        };
        let missing = "liba.so: cannot open shared object file: No such file or directory";
        assert_eq!(
            told(missing, "liba.so").unwrap(),
            "cannot open shared object file: No such file or directory; check the name, or give \
             its path"
        );
        let other = "libb.so: undefined symbol: x";
        assert_eq!(told(other, "liba.so").unwrap(), other);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.so");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        let path = path.to_str().unwrap();
        let found = told(&format!("{path}: invalid ELF header"), path).unwrap();
        assert!(found.starts_with("invalid ELF header (it is script: "), "{found}");
        let traced = error(&LoadEnding::Traced(5), OsStr::new("a"), Duration::from_secs(1));
        assert!(traced.unwrap().contains("stopped at signal 5 (SIGTRAP)"));
        let ending = error(&LoadEnding::Killed(11), OsStr::new("a"), Duration::from_secs(1));
        assert!(ending.unwrap().ends_with("signal 11 (SIGSEGV)"));
        let ending = LoadEnding::Status(0xc000_0142);
        assert_eq!(
            error(&ending, OsStr::new("a"), Duration::from_secs(1)).unwrap(),
            "the process ended with status c0000142 (DLL initialization failed) while it was loaded"
        );
    }
}
