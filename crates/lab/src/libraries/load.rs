//! From a list to what its loads took.

use super::{dlopen_words, files_ahead, words};
use model::{
    AheadWhen, ColdCheck, FilesAhead, LIBRARY_LOADS_SCHEMA, LibraryLoad, LibraryLoadReport, text,
};
use os::LaunchError;
use os::library_loads::{LibraryLoads, LoadRequest, TimedLoads, c_name};
use os::prefetch::AheadPlan;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct LoadListRequest {
    /// The list's own name, for the report.
    pub list: String,
    /// What it names.
    pub names: Vec<OsString>,
    /// A library that takes longer is given up.
    pub timeout: Duration,
    /// Whether the files leave memory first.
    pub cold: bool,
    /// Whether and when they are read ahead.
    pub ahead: Option<AheadWhen>,
}

/// Loads everything and gives what it took. `observe` is told the share that is done.
///
/// # Errors
/// Processes cannot be made, or the user wants to stop.
pub fn load_libraries(
    request: &LoadListRequest,
    observe: &mut dyn FnMut(f64),
) -> Result<LibraryLoadReport, LaunchError> {
    let needs_files = request.cold || request.ahead.is_some();
    let mut session = Session::new(&request.names, request.timeout);
    if needs_files {
        session.find_files(&mut |share| observe(share / 2.0))?;
    }
    let half = if needs_files { 0.5 } else { 0.0 };
    let mut second = |share: f64| observe(half + share * (1.0 - half));
    let loaded = session.load(request.cold, request.ahead, &mut second)?;
    let Loaded { cold, read_ahead, found } = loaded;
    let names = request.names.iter().zip(&session.given);
    let loads = names.zip(&found.loads);
    let libraries: Vec<LibraryLoad> = loads
        .map(|((name, given), load)| LibraryLoad {
            name: text::text(name),
            us: load.us,
            error: dlopen_words::error(&load.ending, given, request.timeout),
            path: load.path.as_ref().map(|path| text::text(path.as_os_str())),
            modules: load.us.map(|_| load.modules),
            came_with: None,
            minor_faults: load.us.map(|_| load.minor_faults),
            major_faults: load.us.map(|_| load.major_faults),
            read_bytes: load.us.map(|_| load.read_bytes),
        })
        .collect();
    Ok(LibraryLoadReport {
        schema: LIBRARY_LOADS_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        list: request.list.clone(),
        loader: "dlopen".to_owned(),
        total_us: libraries.iter().filter_map(|library| library.us).sum(),
        cold,
        read_ahead,
        libraries,
        notes: words::notes(&found, "headstart itself"),
    })
}

/// One way of loading a list, and what it took.
pub struct Loaded {
    pub cold: Option<ColdCheck>,
    pub read_ahead: Option<FilesAhead>,
    pub found: TimedLoads,
}

impl Loaded {
    /// From when files began to be read ahead to the last load, in microseconds, without what is
    /// between the loads.
    pub fn total_us(&self) -> f64 {
        let loads: f64 = self.found.loads.iter().filter_map(|load| load.us).sum();
        let before = self.read_ahead.iter().filter(|ahead| ahead.when == AheadWhen::Before);
        loads + before.map(|ahead| ahead.us).sum::<f64>()
    }
}

/// A list that is loaded several times.
pub struct Session {
    /// What dlopen is given for each name.
    given: Vec<OsString>,
    names: Vec<CString>,
    timeout: Duration,
    /// Files of all modules, in order of their loading.
    pub files: Vec<PathBuf>,
    /// What is read ahead of them; all of each where there is none.
    pub recorded: Option<AheadPlan>,
}

impl Session {
    pub fn new(names: &[OsString], timeout: Duration) -> Session {
        let folder = std::env::current_dir().ok();
        let given: Vec<OsString> =
            names.iter().map(|name| given(name, folder.as_deref())).collect();
        // Names of lists have no NUL byte.
        let names = given.iter().map(|name| c_name(name).unwrap_or_default()).collect();
        Session { given, names, timeout, files: Vec::new(), recorded: None }
    }

    /// What dlopen is given for the name at `index`.
    pub fn given(&self, index: usize) -> &OsStr {
        &self.given[index]
    }

    /// Loads everything once to learn which files that takes.
    pub fn find_files(&mut self, observe: &mut dyn FnMut(f64)) -> Result<(), LaunchError> {
        self.files = self.watched(observe)?.modules;
        Ok(())
    }

    /// Loads everything, and looks at what each library does besides.
    pub fn watched(&self, observe: &mut dyn FnMut(f64)) -> Result<TimedLoads, LaunchError> {
        self.prepare(true)?.load(&mut |done| observe(self.share(done)))
    }

    /// Evicts the files if `cold`, reads them ahead as asked, and loads everything.
    pub fn load(
        &self,
        cold: bool,
        ahead: Option<AheadWhen>,
        observe: &mut dyn FnMut(f64),
    ) -> Result<Loaded, LaunchError> {
        // Before there are threads.
        let ready = self.prepare(false)?;
        let cold = cold.then(|| os::cache::emptied_of(&self.files));
        let mut observe = |done| observe(self.share(done));
        let (found, read_ahead) = match ahead {
            None => (ready.load(&mut observe)?, None),
            Some(AheadWhen::Before) => {
                let read = files_ahead::ask(&self.files, self.recorded.as_ref(), AheadWhen::Before);
                (ready.load(&mut observe)?, Some(read))
            }
            Some(AheadWhen::Meanwhile) => std::thread::scope(|scope| {
                let (files, recorded) = (&self.files, self.recorded.as_ref());
                let read =
                    scope.spawn(move || files_ahead::ask(files, recorded, AheadWhen::Meanwhile));
                let found = ready.load(&mut observe)?;
                Ok::<_, LaunchError>((found, read.join().ok()))
            })?,
        };
        Ok(Loaded { cold, read_ahead, found })
    }

    fn share(&self, done: usize) -> f64 {
        done as f64 / self.names.len().max(1) as f64
    }

    fn prepare(&self, watch: bool) -> Result<LibraryLoads, LaunchError> {
        let (names, timeout) = (self.names.clone(), self.timeout);
        LibraryLoads::prepare(&LoadRequest { names, timeout, watch })
    }
}

/// What dlopen is given for a name: a path stays one, whatever folder a library changes to; a name
/// is a file of the present folder, even one that cannot be loaded, or else one that the loader
/// searches for.
fn given(name: &OsStr, folder: Option<&Path>) -> OsString {
    let Some(folder) = folder else { return name.to_owned() };
    let path = folder.join(name);
    let is_here = path.symlink_metadata().is_ok() && !path.is_dir();
    if name.as_bytes().contains(&b'/') || is_here { path.into() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_files_of_the_folder_or_searched_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        std::fs::write(at.join("here.so"), "").unwrap();
        std::fs::create_dir(at.join("libc.so.6")).unwrap();
        let given = |name: &str| given(OsStr::new(name), Some(at));
        assert_eq!(given("here.so"), at.join("here.so"));
        std::os::unix::fs::symlink("loop.so", at.join("loop.so")).unwrap();
        assert_eq!(given("loop.so"), at.join("loop.so"));
        assert_eq!(given("libc.so.6"), "libc.so.6");
        assert_eq!(given("sub/x.so"), at.join("sub/x.so"));
        assert_eq!(given("/lib/x.so"), "/lib/x.so");
    }

    #[test]
    fn the_sum_is_that_of_the_loads() {
        let names = ["libm.so.6", "no-such.so", "libc.so.6"].map(OsString::from).to_vec();
        let request = LoadListRequest {
            list: "a list".to_owned(),
            names,
            timeout: Duration::from_secs(20),
            cold: false,
            ahead: Some(AheadWhen::Meanwhile),
        };
        let report = load_libraries(&request, &mut |_| ()).unwrap();
        let sum: f64 = report.libraries.iter().filter_map(|library| library.us).sum();
        assert_eq!(report.total_us, sum);
        let failed: Vec<bool> =
            report.libraries.iter().map(|library| library.error.is_some()).collect();
        assert_eq!(failed, [false, true, false]);
        assert_eq!(report.read_ahead.unwrap().failed, 0);
    }
}
