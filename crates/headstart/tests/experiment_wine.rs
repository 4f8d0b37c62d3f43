//! `headstart experiment … --format pe`: launches under Wine, of which nothing stays.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, run, stderr, wait_for};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A home, a cache and a folder for temporary files of its own.
struct World {
    folder: TempDir,
    /// Folders of servers that were there before. An inode number that is used again would make
    /// one of them look like this world's.
    earlier_servers: HashSet<PathBuf>,
}

impl World {
    /// `None`, said loudly, without Wine.
    fn new() -> Option<World> {
        testkit::tool("wine64")?;
        let world = World {
            folder: tempfile::tempdir().unwrap(),
            earlier_servers: servers(Path::new("/tmp")).collect(),
        };
        for name in ["home", "tmp"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = headstart(&self.path("cache"), arguments);
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts a run that does not end by itself, and waits until it launches.
    fn begin(&self, arguments: &[&str], launches: &str) -> Child {
        let mut command = self.command(arguments);
        let said = self.path("said");
        let into_said = fs::File::create(&said).unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(into_said).spawn().unwrap();
        let launches = self.path(launches);
        wait_for("launches", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", fs::read_to_string(&said).unwrap());
            fs::metadata(&launches).is_ok_and(|data| data.len() > 500)
        });
        child
    }

    /// The only prefix, and the name of its server's folder.
    fn prefix(&self) -> (PathBuf, String) {
        let entries = fs::read_dir(self.path("tmp")).unwrap().flatten();
        let mut prefixes = entries.map(|entry| entry.path());
        let is_prefix = |path: &PathBuf| path.join("drive_c").is_dir();
        let prefix = prefixes.find(is_prefix).unwrap();
        let data = fs::metadata(&prefix).unwrap();
        (prefix, format!("server-{:x}-{:x}", data.dev(), data.ino()))
    }

    /// Whether a folder of temporary files holds this folder of a server. Debian's Wine heeds
    /// TMPDIR, others do not.
    fn has_server(&self, name: &str) -> bool {
        let folders = [PathBuf::from("/tmp"), self.path("tmp")];
        let mut servers = folders.iter().flat_map(|folder| servers(folder));
        servers.any(|server| server.ends_with(name) && !self.earlier_servers.contains(&server))
    }

    /// Processes with this world in their environment: headstart's own, Wine's, programs.
    fn processes(&self) -> Vec<PathBuf> {
        let tmp = self.path("tmp").display().to_string();
        let here = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.windows(tmp.len()).any(|part| part == tmp.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        processes.filter(here).collect()
    }

    fn assert_clean(&self) {
        wait_for("the last process", || self.processes().is_empty());
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(!self.path("home").join(".wine").exists());
    }
}

/// The folders of servers in the folders of this folder.
fn servers(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let folders = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let is_server = |name: &str| name.starts_with("server-");
    entries
        .map(|entry| entry.path())
        .filter(move |path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_server))
}

fn notes(found: &Value) -> String {
    let notes = found["notes"].as_array().unwrap().iter();
    notes.map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

const SMALL: [&str; 10] = [
    "experiment",
    "pietrek",
    "--format",
    "pe",
    "--dlls",
    "2",
    "--functions",
    "5",
    "--globals",
    "2",
];

#[test]
fn pietreks_table_of_pe_files() {
    let Some(world) = World::new() else { return };
    let kept = world.path("kept");
    let more = ["--runs", "3", "--json", "--save", kept.to_str().unwrap()];
    let found = world.json(&[&SMALL[..], &more].concat());
    let workload = found["workload"].as_str().unwrap();
    assert!(workload.contains("2 libraries of 5 functions"), "{workload}");
    assert!(workload.contains(", PE under wine-"), "{workload}");
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let published = ["default", "based", "default, by ordinal", "based, by ordinal"];
    assert_eq!(names[..4], published);
    assert_eq!(names[4..], ["based, zero hints", "based, page-aligned", "no libraries"]);
    let columns = found["columns"].as_array().unwrap();
    assert_eq!((columns.len(), columns[0]["cache"].as_str()), (1, Some("warm")));
    for cell in columns[0]["cells"].as_array().unwrap() {
        assert!(cell["fastest_us"].as_f64().unwrap() > 0.0, "{cell}");
    }
    assert!(
        notes(&found).contains("No row is bound, because Wine ignores bound imports"),
        "{found}"
    );
    for launch in fs::read_to_string(kept.join("warm/launches.jsonl")).unwrap().lines() {
        let launch: Value = serde_json::from_str(launch).unwrap();
        let left = launch["launch"].get("left_running").and_then(Value::as_u64);
        assert_eq!(left.unwrap_or(0), 0, "{launch}");
    }
    assert!(kept.join("warm.svg").is_file());
    world.assert_clean();
}

/// Prepared folders hold files of one format.
#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let prepared = folder.path().join("prepared");
    let prepared = prepared.to_str().unwrap();
    let output = headstart(folder.path(), &[&SMALL[..], &["--generate", prepared]].concat());
    assert!({ output }.output().unwrap().status.success());
    assert!(Path::new(prepared).join("based-by-ordinal/LoadTimeTest.exe").is_file());
    let as_elf = [&SMALL[..2], &SMALL[4..], &["--on", prepared]].concat();
    let cases: [(&[&str], &str); 4] = [
        (&as_elf, "each, PE, and 2 libraries"),
        (&["experiment", "dawson", "--format", "pe", "--until", "entry"], "omit --until"),
        (&["experiment", "dawson", "--file-alignment", "4096"], "add --format pe"),
        (&["experiment", "dawson", "--format", "pe", "--file-alignment", "3"], "512"),
    ];
    for (words, reason) in cases {
        let output = run(words);
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(reason), "{words:?}: {said}");
    }
}

#[test]
fn nothing_stays_when_headstart_is_killed() {
    let Some(world) = World::new() else { return };
    let kept = world.path("kept");
    let more = ["--runs", "100000", "--save", kept.to_str().unwrap()];
    let mut child = world.begin(&[&SMALL[..], &more].concat(), "kept/warm/launches.jsonl");
    let (prefix, server) = world.prefix();
    assert!(world.has_server(&server) && world.processes().len() >= 4, "{:?}", world.processes());
    child.kill().unwrap();
    child.wait().unwrap();
    world.assert_clean();
    assert!(!prefix.exists() && !world.has_server(&server));
}

/// Dawson's sizes, interrupted and gone on with by `scale`, which needs Wine again.
#[test]
fn dawsons_sizes_as_pe_files() {
    let Some(world) = World::new() else { return };
    let kept = world.path("kept");
    let kept = kept.to_str().unwrap();
    let words = ["experiment", "dawson", "--format", "pe", "--save", kept];
    let mut child = world.begin(&words, "kept/launches.jsonl");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    world.assert_clean();

    let found = world.json(&["scale", "--resume", kept, "--runs", "5", "--json"]);
    assert!(found["workload"].as_str().unwrap().starts_with("dawson, PE under wine-"), "{found}");
    let points = found["points"].as_array().unwrap();
    let sizes: Vec<u64> = points.iter().map(|point| point["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, (0..17).map(|step| step * 100).collect::<Vec<u64>>());
    assert!(notes(&found).contains("law of Windows"), "{found}");
    let workloads = fs::read_dir(Path::new(kept).join("workloads")).unwrap().flatten();
    assert!(workloads.map(|entry| entry.path()).all(|path| path.join("Dawson.exe").is_file()));
    world.assert_clean();
}
