//! A launchable stand-in for a bundle: built once a test, given a preamble by writing into the file.

use startup::{Addresses, FileRecord, Preamble, Protected, Tables, Variable};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Bytes that bundle.c leaves for the preamble.
const ROOM: usize = 65536;

/// Gives `merged` a version, by a file that every bench has.
pub const VERSION_FLAG: &str = "-Wl,--version-script=versions";

/// A folder with `run` (the bundle), `original`, and the offsets that tables need.
pub struct Bench {
    folder: tempfile::TempDir,
    /// Offsets from the preamble of symbols of the bundle.
    symbols: BTreeMap<String, i64>,
    /// Where the preamble is in the bundle's file.
    place: usize,
}

impl Bench {
    /// A position-independent bundle; `None` after a loud line where a tool is missing.
    pub fn new() -> Option<Bench> {
        Bench::linked(&["-fPIE", "-pie"])
    }

    /// A bundle at a fixed address.
    pub fn fixed() -> Option<Bench> {
        Bench::linked(&["-fno-pie", "-no-pie"])
    }

    fn linked(kind: &[&str]) -> Option<Bench> {
        let (cc, readelf) = (testkit::tool("gcc")?, testkit::tool("readelf")?);
        let folder = tempfile::tempdir().unwrap();
        // The folder's own path may lead through links.
        let at = folder.path().canonicalize().unwrap();
        let entry = format!("-DENTRY={}", startup::entry());
        std::fs::write(at.join("versions"), "MERGED_1 { global: merged; };").unwrap();
        let flags = ["-O1", "-rdynamic", "-U_FORTIFY_SOURCE", "-w", VERSION_FLAG, &entry];
        let flags = [kind, &flags].concat();
        let bundle = testkit::compile(&cc, &at, "run", include_str!("bundle.c"), &flags);
        testkit::compile(&cc, &at, "original", include_str!("original.c"), &[]);
        let (symbols, place) = symbols(&readelf, &bundle);
        Some(Bench { folder, symbols, place })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn record(&self, name: &str) -> FileRecord {
        FileRecord::of(&self.path(name)).unwrap()
    }

    /// Tables of a bundle that has nothing to check.
    pub fn tables(&self) -> Tables {
        Tables {
            original: self.path("original"),
            original_file: "/usr/lib/original-file".into(),
            own_name: "run".into(),
            environment: Variable::of_the_loader(|_| None),
            ..Tables::default()
        }
    }

    /// With slots of the C library's functions, and no names.
    pub fn addresses(&self) -> Addresses {
        let dynamic = self.symbols["_DYNAMIC"];
        Addresses { dynamic, slots: self.symbols["slots"], ..Addresses::default() }
    }

    /// With names for the loader.
    pub fn with_names(&self) -> Addresses {
        Addresses { names: Some(self.symbols["nodes"]), ..self.addresses() }
    }

    /// With slots of a function that notes its arguments.
    pub fn with_probes(&self) -> Addresses {
        Addresses { slots: self.symbols["probes"], ..self.addresses() }
    }

    pub fn constants(&self) -> Protected {
        Protected { offset: self.symbols["constants"], length: 4096 }
    }

    /// Gives the bundle a preamble of these tables.
    pub fn install(&self, tables: &Tables) {
        self.install_at(tables, &self.addresses());
    }

    /// The same, for these addresses.
    pub fn install_at(&self, tables: &Tables, addresses: &Addresses) {
        let preamble = Preamble::new(tables).unwrap().bytes(addresses);
        assert!(preamble.len() <= ROOM, "{}", preamble.len());
        let mut file = std::fs::read(self.path("run")).unwrap();
        file[self.place..self.place + preamble.len()].copy_from_slice(&preamble);
        std::fs::write(self.path("written"), file).unwrap();
        self.place_executable("written", "run");
    }

    /// Puts the file `written`, made executable, in the place of `name`.
    ///
    /// Another program copies it: a child that another test starts at the same time could hold
    /// a file open that this process has written, and the kernel would not execute it.
    pub fn place_executable(&self, written: &str, name: &str) {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(written), mode).unwrap();
        let (from, fresh) = (self.path(written), self.path("fresh"));
        let copied = Command::new("cp").arg("--preserve=mode").args([&from, &fresh]).status();
        assert!(copied.unwrap().success());
        std::fs::rename(fresh, self.path(name)).unwrap();
    }

    /// The bundle, to be started by its absolute path in a clean environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("run"));
        command.args(arguments).env_clear().env("HOME", "/").current_dir(self.path(""));
        command
    }

    /// Launches the bundle without arguments.
    pub fn launch(&self) -> Launched {
        launch(&mut self.command(&[]))
    }

    /// Installs the tables, then launches.
    pub fn launch_with(&self, tables: &Tables) -> Launched {
        self.install(tables);
        self.launch()
    }
}

/// Symbols as offsets from `preamble`, and the file offset of `preamble`.
fn symbols(readelf: &Path, bundle: &Path) -> (BTreeMap<String, i64>, usize) {
    let output = Command::new(readelf).args(["-sSW"]).arg(bundle).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |text: &str| i64::from_str_radix(text, 16).unwrap();
    let mut addresses = BTreeMap::new();
    let mut section = None;
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let Some(at) = fields.iter().position(|&field| field == ".preamble") {
            section = Some((number(fields[at + 2]), number(fields[at + 3])));
        } else if let [_, address, .., name] = fields[..]
            && ["slots", "probes", "nodes", "preamble", "constants", "_DYNAMIC"].contains(&name)
        {
            addresses.insert(name.to_owned(), number(address));
        }
    }
    let preamble = addresses["preamble"];
    let (address, offset) = section.unwrap();
    let symbols = addresses.into_iter().map(|(name, address)| (name, address - preamble)).collect();
    (symbols, (preamble - address + offset) as usize)
}

/// How a launch ended.
#[derive(Debug)]
pub struct Launched {
    pub stdout: String,
    pub stderr: String,
    pub status: std::process::ExitStatus,
}

impl Launched {
    pub fn is_bundle(&self) -> bool {
        self.status.code() == Some(0) && self.stdout.starts_with("bundle\n")
    }

    pub fn is_original(&self) -> bool {
        self.status.code() == Some(5) && self.stdout.starts_with("original\n")
    }

    /// The one line of an end with status 127.
    pub fn refusal(&self) -> &str {
        assert_eq!((self.status.code(), self.stdout.as_str()), (Some(127), ""), "{self:?}");
        assert_eq!(self.stderr.matches('\n').count(), 1, "{self:?}");
        self.stderr.trim_end()
    }

    /// What follows `name` in its line of the report.
    pub fn line(&self, name: &str) -> &str {
        let found = self.stdout.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("no {name} in {self:?}")).trim()
    }
}

pub fn launch(command: &mut Command) -> Launched {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Launched { stdout: text(stdout), stderr: text(stderr), status }
}

/// The command under another name.
pub fn named<'a>(command: &'a mut Command, name: &str) -> &'a mut Command {
    command.arg0(name)
}
