//! Where launches are made, in which state of the caches, and with what before them.

use super::tasks::{PACKAGES, Task};
use super::ways::Way;
use crate::cold_lab::{self, HEADSTART, Lab, Medium, RECORDS, USUAL_READ_AHEAD_KIB, run};
use crate::context::Context;
use crate::slow_device::DeviceModel;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Keeps the image of the laboratory from run to run.
const KEPT_VARIABLE: &str = "HEADSTART_COLD_LAB";

/// The disk that the programs are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The machine's own disk, as it is set up.
    ThisDisk,
    /// The laboratory's.
    Lab(Medium),
}

impl Place {
    pub fn name(self) -> &'static str {
        match self {
            Place::ThisDisk => "this disk",
            Place::Lab(Medium::Plain) => "lab on this disk",
            Place::Lab(Medium::Modeled(model)) => model.name(),
        }
    }
}

/// A place of a model.
pub const fn modeled(model: DeviceModel) -> Place {
    Place::Lab(Medium::Modeled(model))
}

/// What is in a recording, as `headstart record --json` prints it.
#[derive(Debug, Deserialize)]
pub struct Recorded {
    pub files: Vec<RecordedRanges>,
    pub mode: String,
    /// Of the recorded launch.
    pub total_us: f64,
    /// What is not known.
    pub notes: Vec<String>,
}

/// What was read of a file.
#[derive(Debug, Deserialize)]
pub struct RecordedRanges {
    pub path: String,
    /// Where each begins, and how many bytes it has.
    pub ranges: Vec<(u64, u64)>,
}

/// What a launch took.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    pub ms: f64,
    /// Of the laboratory's disk; 0 on this one.
    pub reads: u64,
    pub bytes: u64,
}

/// What launches need.
pub struct Bed<'a> {
    pub context: &'a Context,
    pub lab: Lab,
    pub place: Place,
}

impl<'a> Bed<'a> {
    /// Mounts the laboratory, and copies headstart into it.
    ///
    /// # Errors
    /// Only root can mount.
    pub fn make(context: &'a Context) -> Result<Bed<'a>> {
        let kept = match std::env::var_os(KEPT_VARIABLE) {
            Some(folder) => PathBuf::from(folder),
            None => testkit::workspace::built_headstart()?.with_file_name("cold-lab"),
        };
        let mut lab = Lab::open(&kept, &context.scratch.join("lab"), &PACKAGES)?;
        lab.make_writable()?;
        let inside = lab.root().join(HEADSTART.trim_start_matches('/'));
        fs::copy(&context.headstart.program, inside)?;
        lab.unmount()?;
        fs::create_dir_all(context.scratch.join("records"))?;
        let bed = Bed { context, lab, place: Place::ThisDisk };
        fs::create_dir_all(bed.home_outside())?;
        Ok(bed)
    }

    /// Launches happen there from now on.
    ///
    /// # Errors
    /// The modeled device cannot be started.
    pub fn go_to(&mut self, place: Place) -> Result<()> {
        if let Place::Lab(medium) = place {
            self.lab.put_on(medium)?;
        }
        self.place = place;
        self.forget()
    }

    /// Nothing of the programs is in memory.
    ///
    /// # Errors
    /// The laboratory is in use.
    pub fn forget(&mut self) -> Result<()> {
        match self.place {
            Place::Lab(_) => self.lab.make_cold(USUAL_READ_AHEAD_KIB),
            Place::ThisDisk => {
                rustix::fs::sync();
                fs::write("/proc/sys/vm/drop_caches", "3").context("drop_caches")?;
                Ok(())
            }
        }
    }

    /// One launch, with all that comes before the program.
    ///
    /// # Errors
    /// It fails.
    pub fn launch(&mut self, task: &Task, way: Way) -> Result<Launched> {
        self.fresh_home(task)?;
        if way == Way::Warm {
            self.timed(task, way)?;
            self.fresh_home(task)?;
        } else {
            self.forget()?;
            // A remount has emptied the home.
            self.fresh_home(task)?;
        }
        self.timed(task, way)
    }

    fn timed(&self, task: &Task, way: Way) -> Result<Launched> {
        let words = self.words(task, way);
        let mut command = self.command(&words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let before = self.read_so_far()?;
        let began = Instant::now();
        let status = command.status().with_context(|| format!("{words:?} cannot be run"))?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        ensure!(status.success(), "{words:?} on {}: {status}", self.place.name());
        let after = self.read_so_far()?;
        Ok(Launched { ms, reads: after.0 - before.0, bytes: after.1 - before.1 })
    }

    /// Of the laboratory's disk; other programs read from this machine's.
    fn read_so_far(&self) -> Result<(u64, u64)> {
        match self.place {
            Place::ThisDisk => Ok((0, 0)),
            Place::Lab(_) => self.lab.read_so_far(),
        }
    }

    /// The home is empty but for the input.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn fresh_home(&self, task: &Task) -> Result<()> {
        let home = self.home_outside();
        match self.place {
            Place::Lab(_) => self.lab.empty_home()?,
            Place::ThisDisk => {
                fs::remove_dir_all(&home)?;
                fs::create_dir_all(&home)?;
            }
        }
        if let Some((name, content)) = task.input {
            fs::write(home.join(name), content)?;
        }
        Ok(())
    }

    fn home_outside(&self) -> PathBuf {
        match self.place {
            Place::ThisDisk => self.context.scratch.join("home"),
            Place::Lab(_) => self.outside(cold_lab::HOME),
        }
    }

    /// A path of the system that is launched from, as this process sees it.
    pub fn outside(&self, path: &str) -> PathBuf {
        match self.place {
            Place::ThisDisk => PathBuf::from(path),
            Place::Lab(_) => self.lab.root().join(path.trim_start_matches('/')),
        }
    }

    /// Words of the launch itself.
    pub fn program_words(&self, task: &Task) -> Vec<String> {
        let home = match self.place {
            Place::ThisDisk => self.home_outside().display().to_string(),
            Place::Lab(_) => cold_lab::HOME.to_owned(),
        };
        task.words.iter().map(|word| word.replace("HOME", &home)).collect()
    }

    /// A command of the system, with the home of this place.
    pub fn command<Word: AsRef<str>>(&self, words: &[Word]) -> Command {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        match (self.place, words.split_first()) {
            (Place::ThisDisk, Some((program, arguments))) => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear().env("HOME", self.home_outside());
                command.env("PATH", "/usr/bin:/usr/sbin:/bin:/sbin").current_dir("/");
                command
            }
            _ => self.lab.command(&words),
        }
    }

    /// headstart, as the system that is launched from sees it.
    pub fn headstart(&self) -> String {
        match self.place {
            Place::ThisDisk => self.context.headstart.program.display().to_string(),
            Place::Lab(_) => HEADSTART.to_owned(),
        }
    }

    /// The path of a file that belongs to the recordings.
    pub fn kept(&self, name: String) -> String {
        match self.place {
            Place::ThisDisk => {
                self.context.scratch.join("records").join(name).display().to_string()
            }
            Place::Lab(_) => format!("{RECORDS}/{name}"),
        }
    }

    /// The recording of a task.
    pub fn record_of(&self, task: &Task) -> String {
        self.kept(format!("{}.rec", task.name))
    }

    /// Records each task where it is launched; the laboratory is on this disk, and can be written to.
    ///
    /// # Errors
    /// A recording fails.
    pub fn record(&mut self, tasks: &[&Task], place: Place) -> Result<()> {
        self.place = place;
        if place != Place::ThisDisk {
            self.lab.put_on(Medium::Plain)?;
            self.lab.make_writable()?;
            self.place = Place::Lab(Medium::Plain);
        }
        for task in tasks {
            self.fresh_home(task)?;
            self.record_to(task, &self.record_of(task))?;
            let files = self.recording(&self.record_of(task))?.files;
            ensure!(!files.is_empty(), "the recording of {} is empty", task.name);
            let paths: Vec<String> = files.into_iter().map(|file| file.path + "\n").collect();
            fs::write(self.outside(&self.list_of(task)), paths.concat())?;
            ["flash", "slow-flash", "hdd"]
                .into_iter()
                .try_for_each(|disk| self.install(task, disk))?;
        }
        Ok(())
    }

    /// One recording.
    ///
    /// # Errors
    /// It fails.
    pub fn record_to(&self, task: &Task, file: &str) -> Result<()> {
        self.record_with(task, file, &[])
    }

    /// The same with more options.
    ///
    /// # Errors
    /// It fails.
    pub fn record_with(&self, task: &Task, file: &str, options: &[&str]) -> Result<()> {
        let _ = fs::remove_file(self.outside(file));
        let mut words = vec![self.headstart(), "record".into(), "--out".into(), file.into()];
        // On a busy machine a launch without read-ahead takes longer than headstart waits by itself.
        words.extend(["--first".to_owned(), "60s".to_owned()]);
        words.extend(options.iter().map(|option| (*option).to_owned()));
        words.push("--".into());
        words.extend(self.program_words(task));
        run(&mut self.command(&words)).map(|_| ())
    }

    /// What is in a recording.
    ///
    /// # Errors
    /// headstart does not read it.
    pub fn recording(&self, file: &str) -> Result<Recorded> {
        let headstart = self.headstart();
        let printed = run(&mut self.command(&[headstart.as_str(), "record", "--json", file]))?;
        serde_json::from_str(&printed).with_context(|| format!("{file} is printed as: {printed}"))
    }
}

/// Whether a file is there.
pub fn is_there(path: &str) -> bool {
    Path::new(path).exists()
}
