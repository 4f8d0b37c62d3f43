//! Why a library was not loaded, and what is to be known about the times of the others.

use os::library_loads::{LoadEnding, TimedLoads};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Why a library was not loaded; `None` where it was. `given`: what the loader was given.
pub fn error(ending: &LoadEnding, given: &OsStr, timeout: Duration) -> Option<String> {
    Some(match ending {
        LoadEnding::Loaded => return None,
        LoadEnding::Refused(text) => text.clone(),
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
            "{} ended the process or {} given up: what follows in the list was loaded by a new process, \
             which first loaded again, untimed, what was loaded before (where that was possible)",
            model::figures::plural(ended as u64, "library", "libraries"),
            if ended == 1 { "was" } else { "were" }
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
    fn every_end_of_the_process_has_its_words() {
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
