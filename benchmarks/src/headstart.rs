//! Driving the built command and reading its JSON.

use anyhow::{Context, Result, ensure};
use model::{Explanation, Results};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::{Command, Output};
use testkit::workspace::SET_BY_CARGO;

/// The built command, and where it may leave its runs.
#[derive(Clone, Debug)]
pub struct Headstart {
    /// The program.
    pub program: PathBuf,
    /// A folder of the bar's own, writable by the user below.
    pub scratch: PathBuf,
    /// Run it as `nobody` instead of the present user.
    pub as_nobody: bool,
    /// Run it without environment variables, which the kernel copies at every exec.
    pub empty_environment: bool,
    /// Environment variables that are set.
    pub environment: Vec<(String, String)>,
}

impl Headstart {
    /// `headstart measure --json` with these options and this command.
    ///
    /// # Errors
    /// As [`Headstart::json`].
    pub fn measure(&self, options: &[&str], command: &[&str]) -> Result<Results> {
        self.json(&[&["measure", "--json"], options, &["--"], command].concat())
    }

    /// `headstart compare --json` with these options and these commands, one argument each.
    ///
    /// # Errors
    /// As [`Headstart::json`].
    pub fn compare(&self, options: &[&str], commands: &[&str]) -> Result<Results> {
        self.json(&[&["compare", "--json"], options, &["--"], commands].concat())
    }

    /// `headstart explain --json` with these options and this command.
    ///
    /// # Errors
    /// As [`Headstart::json`].
    pub fn explain(&self, options: &[&str], command: &[&str]) -> Result<Explanation> {
        self.json(&[&["explain", "--json"], options, &["--"], command].concat())
    }

    /// Runs the command and reads what it prints.
    ///
    /// # Errors
    /// It cannot be run, fails, or prints something else.
    pub fn json<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T> {
        let stdout = self.run(arguments)?;
        serde_json::from_str(&stdout).with_context(|| format!("{arguments:?} printed: {stdout}"))
    }

    /// Runs the command; what it prints.
    ///
    /// # Errors
    /// It cannot be run, or fails.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let command = self.command(arguments);
        ensure!(output.status.success(), "{command:?} failed, {}: {stderr}", output.status);
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the command; how it ends and what it prints.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn output(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command(arguments);
        command.output().with_context(|| format!("{command:?} cannot be run"))
    }

    /// The same with an environment variable more.
    pub fn with(&self, name: &str, value: &str) -> Headstart {
        let mut with = self.clone();
        with.environment.push((name.to_owned(), value.to_owned()));
        with
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = if self.as_nobody {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
            command.arg(&self.program).env("HOME", &self.scratch);
            command
        } else {
            Command::new(&self.program)
        };
        if self.empty_environment {
            command.env_clear();
        }
        command.env_remove(SET_BY_CARGO);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(arguments).env("XDG_CACHE_HOME", &self.scratch).current_dir(&self.scratch);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{RESULTS_SCHEMA, Reading, Rules, Summary, VariantResult};

    fn results() -> Results {
        let us = 900.0;
        let summary = Summary {
            runs: 2,
            min_us: us,
            p10_us: us,
            median_us: us,
            p90_us: us,
            max_us: us,
            spread: 0.0,
            median_low_us: us,
            median_high_us: us,
        };
        let variant = VariantResult {
            name: "true".to_owned(),
            command: "true".to_owned(),
            title: None,
            parameters: std::collections::BTreeMap::new(),
            unused: Vec::new(),
            summary,
            private_kib: Reading::Value(90),
            peak_rss_kib: Reading::Value(1200),
            minor_faults: Reading::unavailable("no", ""),
            major_faults: Reading::Value(0),
            read_bytes: Reading::Value(0),
            user_us: Reading::Value(0.0),
            system_us: Reading::Value(0.0),
            cpu_us: Reading::Value(us),
            endings: Vec::new(),
            left_running: 0,
            cold: None,
            times_us: vec![us, us],
            samples: Vec::new(),
        };
        Results {
            schema: RESULTS_SCHEMA,
            headstart: "0".to_owned(),
            run: None,
            seed: 1,
            rules: Rules::default(),
            variants: vec![variant],
            effects: Vec::new(),
            notes: Vec::new(),
            unit: None,
        }
    }

    fn stand_in(program: PathBuf) -> Headstart {
        Headstart {
            program,
            scratch: std::env::temp_dir(),
            as_nobody: false,
            empty_environment: false,
            environment: Vec::new(),
        }
    }

    #[test]
    fn what_it_prints_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let json = serde_json::to_string(&results()).unwrap();
        let text =
            format!("#!/bin/sh\n[ \"$*\" = 'measure --json -n 2 -- true' ] && echo '{json}'\n");
        let program = testkit::script(folder.path(), "headstart", &text);
        let read = stand_in(program).measure(&["-n", "2"], &["true"]).unwrap();
        assert_eq!(read, results());
    }

    #[test]
    fn a_failure_is_told_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let program =
            testkit::script(folder.path(), "headstart", "#!/bin/sh\necho why >&2; exit 3");
        let error = stand_in(program.clone()).explain(&[], &["true"]).unwrap_err().to_string();
        assert!(error.contains("why") && error.contains("exit status: 3"), "{error}");
        let program = testkit::script(folder.path(), "wordy", "#!/bin/sh\necho words");
        let error = stand_in(program).compare(&[], &["a", "b"]).unwrap_err().to_string();
        assert!(error.contains("printed: words"), "{error}");
    }
}
