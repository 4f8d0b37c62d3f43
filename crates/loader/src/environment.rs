//! What the environment tells the loader.

use model::Command;
use std::ffi::{OsStr, OsString};

/// What the environment tells the loader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// LD_LIBRARY_PATH.
    pub library_path: Option<OsString>,
    /// LD_PRELOAD.
    pub preload: Option<OsString>,
    /// LD_BIND_NOW is set, and not empty.
    pub bind_now: bool,
}

impl Environment {
    /// That of this process.
    pub fn own() -> Environment {
        let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            library_path: value("LD_LIBRARY_PATH"),
            preload: value("LD_PRELOAD"),
            bind_now: value("LD_BIND_NOW").is_some(),
        }
    }

    /// The value of a variable as this environment has it; of one that is not in it, what this
    /// process has.
    pub fn value(&self, name: &OsStr) -> Option<OsString> {
        match name.to_str() {
            Some("LD_LIBRARY_PATH") => self.library_path.clone(),
            Some("LD_PRELOAD") => self.preload.clone(),
            _ => std::env::var_os(name),
        }
    }

    /// That of a launch of this command.
    pub fn of(command: &Command) -> Environment {
        let own = Environment::own();
        let value = |name: &str, own: Option<OsString>| {
            let set = command.environment.iter().rev().find(|(set, _)| set == name);
            set.map_or(own, |(_, value)| value.clone().filter(|value| !value.is_empty()))
        };
        let bind_now = own.bind_now.then(OsString::new);
        Environment {
            library_path: value("LD_LIBRARY_PATH", own.library_path),
            preload: value("LD_PRELOAD", own.preload),
            bind_now: value("LD_BIND_NOW", bind_now).is_some(),
        }
    }
}
