//! One image of each form that readers must know.

use super::{Image, Machine, Tools, mingw};
use std::path::{Path, PathBuf};

const LIBRARY: &str = "int number = 4;\nint *where = &number;\nint one(void) { return 1; }\n\
                       int two(void) { return *where - 2; }\nint *(*table[3])(void);\n";
const EXPORTS: &str = "one\ntwo @7 NONAME\nnumber @9 DATA\naway = kernel32.GetTickCount";
const CALLER: &str = "__declspec(dllimport) int one(void), two(void);\n\
                      extern __declspec(dllimport) int number;\n\
                      int call(void) { return one() + two() + number; }\n";
const PROGRAM: &str = "__declspec(dllimport) int one(void), two(void);\n\
                       int pick(int n) { return n ? one() : two(); }\n\
                       int (*volatile chosen)(int) = pick;\n\
                       void start(void) { say(\"hello\\n\"); leave(chosen(1)); }\n";
const MINGW: &str = "static int n = 4;\nint *where = &n;\n\
                     __declspec(dllexport) int one(void) { return *where; }\n\
                     int __stdcall DllMain(void *m, unsigned r, void *p) { return 1; }\n";
const DELAYING: &str = "__declspec(dllimport) int one(void), two(void);\n\
                        int call(void) { return one() + two(); }\n";

/// Builds the images in a folder, without anything else in it; `None`, after a loud line, where a
/// tool is missing.
///
/// # Panics
/// Where a tool fails, or the folder cannot be written.
pub fn samples(folder: &Path) -> Option<Vec<PathBuf>> {
    let tools = Tools::find()?;
    let scratch = tempfile::tempdir().unwrap_or_else(|error| panic!("a folder: {error}"));
    let mut kept = Vec::new();
    let mut keep = |built: PathBuf, name: &str| {
        let path = folder.join(name);
        std::fs::copy(built, &path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        kept.push(path);
    };
    for (machine, name) in [
        (Machine::X86_64, "x86_64"),
        (Machine::I686, "i686"),
        (Machine::Arm64, "arm64"),
        (Machine::Arm, "arm"),
    ] {
        let dll = Image::new("a.dll", LIBRARY).machine(machine).exports(EXPORTS).checksum();
        let dll = dll.link("/debug").link("/pdbaltpath:a.pdb");
        keep(tools.build(scratch.path(), &dll), &format!("{name}.dll"));
        let program = Image::new("p.exe", PROGRAM).machine(machine).against("a.dll").speaking();
        keep(tools.build(scratch.path(), &program.guarded()), &format!("{name}-guarded.exe"));
        let delaying = Image::new("d.dll", DELAYING).machine(machine).exports("call");
        let delaying = delaying.delayed("a.dll").thread_local(2).base(0x6000_0000);
        let delaying = tools.build(scratch.path(), &delaying.file_alignment(1024));
        keep(delaying, &format!("{name}-delaying.dll"));
    }
    tools.build(scratch.path(), &Image::new("a.dll", LIBRARY).exports(EXPORTS));
    let calling = Image::new("c.dll", CALLER).against("a.dll").exports("call");
    keep(tools.build(scratch.path(), &calling), "calling.dll");
    let map = format!("-fdebug-prefix-map={}=.", scratch.path().display());
    for (machine, name, entry) in [
        (Machine::X86_64, "mingw.dll", "DllMain"),
        (Machine::I686, "mingw-i686.dll", "_DllMain@12"),
    ] {
        let flags = ["-shared", "-nostdlib", "-g", "-O1", "-e", entry, &map];
        keep(mingw(scratch.path(), machine, name, MINGW, &flags)?, name);
    }
    Some(kept)
}
