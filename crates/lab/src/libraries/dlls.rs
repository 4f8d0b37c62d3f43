//! From a list of DLLs to what their loads took, by Windows or under Wine.
//!
//! A program that has the names in it loads one after the other (`workload::pe::loads`). It writes a
//! record behind each load, so the library behind the last record is the one that has ended the
//! process or hangs. Then the next program first loads again, untimed, what was loaded before.

use super::dll_arrivals::{self, Arrivals};
use super::dll_host::{self, DllHost};
use super::{dll_words, words};
use crate::LabError;
use crate::schedule::fresh_seed;
use model::{Ending, LIBRARY_LOADS_SCHEMA, LibraryLoad, LibraryLoadReport, text};
use os::library_loads::{LoadEnding, TimedLoad, TimedLoads};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use workload::pe::load_records::{LoadMark, LoadRecord, records};
use workload::pe::loads;

/// How long the start of a program may take.
const FIRST_LIMIT: Duration = Duration::from_secs(60);
/// Bytes that libraries may print beside the records.
const PRINTED_LIMIT: usize = 256 << 20;
/// Processes that load again what was loaded before.
const REPEATING: u32 = 10;

/// What to load.
#[derive(Clone, Debug)]
pub struct DllListRequest {
    /// The list's own name, for the report.
    pub list: String,
    /// What it names.
    pub names: Vec<OsString>,
    /// A library that takes longer is given up.
    pub timeout: Duration,
}

/// Loads everything and gives what it took; on Linux under Wine, in a prefix of its own. `observe` is
/// told the share that is done.
///
/// # Errors
/// Wine is not there or does not work, the program cannot be written or started, or the user wants to
/// stop.
pub fn load_dlls(
    request: &DllListRequest,
    observe: &mut dyn FnMut(f64),
) -> Result<LibraryLoadReport, LabError> {
    let host = DllHost::start()?;
    let (found, arrivals) = Session::new(request, &host).load(observe)?;
    host.check()?;
    let libraries: Vec<LibraryLoad> = request
        .names
        .iter()
        .zip(&found.loads)
        .map(|(name, load)| LibraryLoad {
            name: text::text(name),
            us: load.us,
            error: dll_words::error(&load.ending, name, request.timeout),
            path: load.path.as_ref().map(|path| text::text(path.as_os_str())),
            modules: load.us.map(|_| load.modules),
            came_with: load.came_with.clone(),
            minor_faults: None,
            major_faults: None,
            read_bytes: None,
        })
        .collect();
    let mut notes = vec![host.note()];
    notes.extend(words::notes(&found, "the program that loads them"));
    notes.extend(arrivals.notes());
    Ok(LibraryLoadReport {
        schema: LIBRARY_LOADS_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        list: request.list.clone(),
        loader: host.loader().to_owned(),
        cold: None,
        read_ahead: None,
        total_us: libraries.iter().filter_map(|library| library.us).sum(),
        libraries,
        notes,
    })
}

struct Session<'a> {
    host: &'a DllHost,
    request: &'a DllListRequest,
    /// What LoadLibrary is given for each name.
    given: Vec<Vec<u16>>,
    mark: LoadMark,
    loads: Vec<TimedLoad>,
    processes: u32,
    /// Whether a new process loads again what was loaded before.
    repeats: bool,
    arrivals: Arrivals,
}

impl<'a> Session<'a> {
    fn new(request: &'a DllListRequest, host: &'a DllHost) -> Session<'a> {
        let random = [fresh_seed().to_le_bytes(), fresh_seed().to_le_bytes()];
        let mut mark = [0; 16];
        mark.copy_from_slice(random.as_flattened());
        Session {
            host,
            request,
            given: request.names.iter().map(|name| dll_host::given(name)).collect(),
            mark: LoadMark(mark),
            loads: Vec::new(),
            processes: 0,
            repeats: true,
            arrivals: Arrivals::default(),
        }
    }

    fn load(mut self, observe: &mut dyn FnMut(f64)) -> Result<(TimedLoads, Arrivals), LabError> {
        while self.loads.len() < self.given.len() {
            self.process(observe)?;
        }
        let loads = TimedLoads {
            loads: self.loads,
            modules: Vec::new(),
            processes: self.processes,
            threads: 0,
            left_running: 0,
        };
        Ok((loads, self.arrivals))
    }

    /// One process, until it has loaded everything or a library has ended it.
    fn process(&mut self, observe: &mut dyn FnMut(f64)) -> Result<(), LabError> {
        self.processes += 1;
        self.repeats &= self.processes <= REPEATING;
        let done = self.loads.len();
        let again = (0..done)
            .filter(|at| self.repeats && self.loads[*at].ending == LoadEnding::Loaded)
            .collect::<Vec<_>>();
        let names = again.iter().copied().chain(done..self.given.len());
        let names: Vec<Vec<u16>> = names.map(|at| self.given[at].clone()).collect();
        let (found, ending) = self.run(&names, &mut |loaded| {
            let share = done + loaded.saturating_sub(again.len());
            observe(share as f64 / self.given.len() as f64);
        })?;
        for record in found.iter().skip(again.len()) {
            let name = &self.request.names[self.loads.len()];
            let loaded =
                || self.loads.iter().filter_map(|load| load.path.clone()).collect::<Vec<_>>();
            let ending = record.error.map(|code| dll_words::refused(code, name, &loaded()));
            let ending = ending.map_or(LoadEnding::Loaded, LoadEnding::Refused);
            self.arrivals.count(record);
            self.loads.push(timed(ending, Some(record)));
        }
        if found.len() < again.len() {
            // What was loaded well in one process has ended the next: then without it.
            self.repeats = false;
        } else if found.len() < names.len() {
            self.loads.push(timed(ending, None));
        }
        Ok(())
    }

    /// Runs the program for these names; the records of their loads, and how it ended. Once in some
    /// thousands of launches Wine does not begin; then once more.
    fn run(
        &self,
        names: &[Vec<u16>],
        loaded: &mut dyn FnMut(usize),
    ) -> Result<(Vec<LoadRecord>, LoadEnding), LabError> {
        let folder = tempfile::tempdir().map_err(LabError::NoTemporaryFolder)?;
        let program = folder.path().join(loads::PROGRAM);
        let image = loads::program(names, self.mark)?;
        std::fs::write(&program, image)
            .map_err(|source| LabError::Workloads { path: program.clone(), source })?;
        let mut last = None;
        for _ in 0..2 {
            let mut scan = Scan { mark: self.mark, at: 0, count: 0 };
            let output = self.host.output(
                &program,
                [FIRST_LIMIT, self.request.timeout],
                PRINTED_LIMIT,
                &mut |bytes| {
                    let any = scan.look(bytes);
                    loaded(scan.count.saturating_sub(1));
                    any
                },
            )?;
            let mut found = records(&output.bytes, self.mark).into_iter();
            if found.next().is_some_and(|first| first.number.is_none()) {
                let numbered = |(at, record): &(usize, LoadRecord)| record.number == Some(*at);
                // A library can print records, too.
                let found = found.take(names.len()).enumerate().take_while(numbered);
                let found = found.map(|(_, record)| record);
                let found = found.collect();
                return Ok((found, load_ending(output.ending, output.bytes.len())));
            }
            last = output.ending;
        }
        let how = last.map_or("did not begin".to_owned(), |ending| ending.words());
        let found = format!("the program that loads libraries {how} before the first of them");
        Err(self.host.not_begun(&program, found))
    }
}

/// Counts marks in bytes that become more.
struct Scan {
    mark: LoadMark,
    at: usize,
    count: usize,
}

impl Scan {
    /// Whether there are new marks.
    fn look(&mut self, bytes: &[u8]) -> bool {
        let mark = &self.mark.0;
        let found = bytes[self.at..].windows(mark.len()).filter(|window| *window == mark).count();
        // A mark that has come in part is looked at again.
        self.at = (bytes.len() + 1).saturating_sub(mark.len()).max(self.at);
        self.count += found;
        found > 0
    }
}

/// `printed`: bytes that the program has written.
fn load_ending(ending: Option<Ending>, printed: usize) -> LoadEnding {
    match ending {
        None if printed > PRINTED_LIMIT => LoadEnding::Refused(format!(
            "it printed more than {} while it was loaded, and was given up",
            model::figures::bytes(PRINTED_LIMIT as u64)
        )),
        Some(Ending::Code(code)) => LoadEnding::Exited(code),
        Some(Ending::Signal(signal)) => LoadEnding::Killed(signal),
        Some(Ending::Status(status)) => LoadEnding::Status(status),
        Some(Ending::Ready | Ending::TimedOut) | None => LoadEnding::TimedOut,
    }
}

fn timed(ending: LoadEnding, record: Option<&LoadRecord>) -> TimedLoad {
    let path = record.filter(|record| !record.path.is_empty());
    let path = path.map(|record| dll_arrivals::path(&record.path, record.has_whole_path));
    TimedLoad {
        ending,
        us: record.map(|record| record.us),
        path: path.map(PathBuf::from),
        modules: record.map_or(0, |record| record.modules),
        came_with: record.and_then(|record| record.arrivals.as_deref().map(dll_arrivals::told)),
        minor_faults: 0,
        major_faults: 0,
        read_bytes: 0,
        has_side_effects: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_come_in_parts_are_counted_once() {
        let mark = LoadMark(*b"0123456789abcdef");
        let all = [&mark.0[..], b"...", &mark.0, &mark.0].concat();
        let mut scan = Scan { mark, at: 0, count: 0 };
        let new: usize = (0..=all.len()).filter(|end| scan.look(&all[..*end])).count();
        assert_eq!((new, scan.count), (3, 3));
    }

    #[test]
    fn common_libraries_load_and_others_have_their_reason() {
        #[cfg(unix)]
        if testkit::tool("wine64").is_none() {
            return;
        }
        let names = ["kernel32.dll", "user32.dll", "no-such.dll", "gdi32.dll", "shell32.dll"];
        let request = DllListRequest {
            list: "a list".to_owned(),
            names: names.map(OsString::from).to_vec(),
            timeout: Duration::from_secs(20),
        };
        let report = load_dlls(&request, &mut |_| ()).unwrap();
        let failed: Vec<bool> =
            report.libraries.iter().map(|library| library.error.is_some()).collect();
        assert_eq!(failed, [false, false, true, false, false], "{report:?}");
        let user = &report.libraries[1];
        assert_eq!(user.path.as_deref(), Some("C:\\windows\\system32\\user32.dll"));
        assert!(user.modules.unwrap() >= 1 && user.us.unwrap() > 0.0, "{user:?}");
        assert_eq!(report.libraries[0].modules, Some(0), "it was there from the beginning");
        assert_eq!(report.libraries[3].modules, Some(0), "user32 needs it");
        let sum: f64 = report.libraries.iter().filter_map(|library| library.us).sum();
        assert_eq!(report.total_us, sum);
    }
}
