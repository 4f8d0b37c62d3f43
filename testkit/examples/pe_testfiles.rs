//! Makes the images of `testfiles/pe`: `cargo run -p testkit --example pe_testfiles -- FOLDER`.

use std::path::Path;
use testkit::pe::{Image, Machine, Tools, mingw};

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
const DELAYING: &str = "__declspec(dllimport) int one(void), two(void);\n\
                        int call(void) { return one() + two(); }\n";

fn main() {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("name the folder");
        std::process::exit(2);
    };
    let (folder, Some(tools)) = (Path::new(&folder).to_owned(), Tools::find()) else {
        std::process::exit(1);
    };
    let Ok(scratch) = tempfile::tempdir() else { std::process::exit(1) };
    let keep = |name: &str, as_name: &str| {
        let copied = std::fs::copy(scratch.path().join(name), folder.join(as_name));
        if let Err(error) = copied {
            eprintln!("{as_name}: {error}");
            std::process::exit(1);
        }
    };
    let machines = [
        (Machine::X86_64, "x86_64"),
        (Machine::I686, "i686"),
        (Machine::Arm64, "arm64"),
        (Machine::Arm, "arm"),
    ];
    for (machine, name) in machines {
        let dll = Image::new("a.dll", LIBRARY).machine(machine).exports(EXPORTS).checksum();
        tools.build(scratch.path(), &dll.link("/debug").link("/pdbaltpath:a.pdb"));
        keep("a.dll", &format!("{name}.dll"));
        let program = Image::new("p.exe", PROGRAM).machine(machine).against("a.dll").speaking();
        tools.build(scratch.path(), &program.guarded());
        keep("p.exe", &format!("{name}-guarded.exe"));
        let delaying = Image::new("d.dll", DELAYING).machine(machine).exports("call");
        let delaying = delaying.delayed("a.dll").thread_local(2).base(0x6000_0000);
        tools.build(scratch.path(), &delaying.file_alignment(1024));
        keep("d.dll", &format!("{name}-delaying.dll"));
    }
    tools.build(scratch.path(), &Image::new("a.dll", LIBRARY).exports(EXPORTS));
    tools.build(scratch.path(), &Image::new("c.dll", CALLER).against("a.dll").exports("call"));
    keep("c.dll", "calling.dll");
    for (machine, name) in [(Machine::X86_64, "mingw.dll"), (Machine::I686, "mingw-i686.dll")] {
        let source = "static int n = 4;\nint *where = &n;\n\
                      __declspec(dllexport) int one(void) { return *where; }\n\
                      int __stdcall DllMain(void *m, unsigned r, void *p) { return 1; }\n";
        let map = format!("-fdebug-prefix-map={}=.", scratch.path().display());
        let flags = ["-shared", "-nostdlib", "-g", "-O1", "-e", entry(machine), &map];
        if mingw(scratch.path(), machine, name, source, &flags).is_some() {
            keep(name, name);
        }
    }
}

fn entry(machine: Machine) -> &'static str {
    if machine == Machine::I686 { "_DllMain@12" } else { "DllMain" }
}
