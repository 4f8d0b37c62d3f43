//! Small programs of every compiler and linker here, and what glibc's own loader does with them.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use loader::log::{LoggedBinding, bound};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use testkit::WhenFree;

/// A folder to build in, a compiler, and options that choose a linker.
pub struct Bench {
    pub folder: tempfile::TempDir,
    cc: PathBuf,
    options: Vec<String>,
}

impl Bench {
    pub fn new(cc: &str, options: &[&str]) -> Option<Bench> {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Some(Bench { folder: tempfile::tempdir().unwrap(), cc: testkit::tool(cc)?, options })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn cc(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let file = self.path(&format!("{}.c", name.replace('/', "-")));
        fs::write(&file, source).unwrap();
        let mut command = Command::new(&self.cc);
        command.current_dir(self.folder.path()).arg("-o").arg(name).arg(file).arg("-L.");
        command.arg("-Wl,--no-as-needed").args(options).args(&self.options);
        let output = command.output_when_free();
        assert!(output.status.success(), "{command:?} {}", String::from_utf8_lossy(&output.stderr));
        self.path(name)
    }

    /// A library with its name as DT_SONAME.
    pub fn library(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let soname = format!("-Wl,-soname,{name}");
        self.cc(name, source, &[&["-shared", "-fPIC", &soname], options].concat())
    }

    /// A program that finds libraries beside itself.
    pub fn program(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        self.cc(name, source, &[&["-Wl,-rpath,$ORIGIN"], options].concat())
    }
}

/// Both compilers and every linker that is here, with functions bound at start and later.
pub fn benches() -> Vec<Bench> {
    let mut all = vec![
        Bench::new("cc", &["-Wl,-z,lazy"]),
        Bench::new("cc", &["-Wl,-z,now", "-Wl,--hash-style=sysv"]),
    ];
    for (compiler, tool, name) in
        [("cc", "ld.lld-19", "lld"), ("clang-19", "ld.lld-19", "lld"), ("cc", "mold", "mold")]
    {
        let Some(linker) = testkit::find(tool) else { continue };
        let now = if name == "mold" { "-Wl,-z,now" } else { "-Wl,-z,lazy" };
        let bench = Bench::new(compiler, &[&format!("-fuse-ld={name}"), "-B.", now]);
        // Compilers know it by this name alone.
        let link = |bench: &Bench| symlink(&linker, bench.path(&format!("ld.{name}"))).unwrap();
        bench.iter().for_each(link);
        all.push(bench);
    }
    all.into_iter().flatten().collect()
}

/// Programs of this machine, small and large.
pub const PROGRAMS: [&str; 6] = ["git", "python3", "emacs", "clang-19", "gdb", "inkscape"];

/// The file of an installed program; a script of that name that comes first along PATH is none.
pub fn installed(name: &str) -> Option<PathBuf> {
    let system = Path::new("/usr/bin").join(name);
    let found = if system.is_file() { Some(system) } else { testkit::tool(name) };
    found.map(|path| path.canonicalize().unwrap())
}

/// What a program prints, and its code.
pub fn output(program: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD");
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output_when_free();
    let text = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    (status.code(), text.into_owned())
}

/// The loader's log of a launch with everything bound at start.
fn log(program: &Path, arguments: &[&str], what: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env("LD_BIND_NOW", "1").env("LD_DEBUG", what);
    command.env("LD_DEBUG_OUTPUT", folder.path().join("log"));
    command.env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let file = folder.path().join(format!("log.{}", child.id()));
    child.wait().unwrap();
    fs::read_to_string(file).unwrap()
}

/// Which file a module is: links followed, the program as such, copies as their originals.
pub struct Names {
    pub program: PathBuf,
    pub copies: BTreeMap<PathBuf, PathBuf>,
}

impl Names {
    pub fn of(program: &Path) -> Names {
        Names { program: program.to_owned(), copies: BTreeMap::new() }
    }

    /// With the copies of a folder that selfbind has written.
    pub fn of_folder(folder: &Path) -> Names {
        let folder = folder.canonicalize().unwrap();
        let text = fs::read_to_string(folder.join("libraries.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        let path = |value: &serde_json::Value| PathBuf::from(value.as_str().unwrap());
        let copies = manifest["libraries"].as_array().unwrap().iter().map(|library| {
            let original = path(&library["original"]).canonicalize().unwrap();
            (folder.join(path(&library["copy"])), original)
        });
        Names { program: folder.join("run"), copies: copies.collect() }
    }

    fn name(&self, module: &str) -> String {
        let path = Path::new(module);
        if path == self.program || module.is_empty() {
            return "the program".to_owned();
        }
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.copies.get(&real).unwrap_or(&real).display().to_string()
    }
}

/// What glibc's loader binds before the program runs.
pub fn bindings(names: &Names, arguments: &[&str]) -> BTreeSet<LoggedBinding> {
    let log = log(&names.program, arguments, "bindings,files");
    let before = log.lines().take_while(|line| !line.contains("calling init: "));
    let all: BTreeSet<LoggedBinding> = before
        .filter_map(bound)
        .map(|bound| LoggedBinding {
            object: names.name(&bound.object),
            definer: names.name(&bound.definer),
            ..bound
        })
        .collect();
    assert!(!all.is_empty(), "{}: nothing was bound", names.program.display());
    all
}

/// Files in the order in which the loader calls their initializers.
pub fn initialized(program: &Path) -> Vec<String> {
    let names = Names::of(program);
    let log = log(program, &[], "files");
    let before = log.lines().take_while(|line| !line.contains("initialize program: "));
    let calls = before.filter_map(|line| line.split_once("calling init: "));
    calls.map(|(_, path)| names.name(path.trim())).collect()
}

/// Numbers that look random, always the same.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: u64) -> u64 {
        // Knuth's MMIX; the upper bits are the good ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
