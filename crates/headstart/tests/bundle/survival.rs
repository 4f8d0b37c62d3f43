//! What tools do to a bundle, and what they see of it: afterwards it still runs as the bundle.

use crate::common::{stderr, stdout};
use crate::stage::{FIXED, KINDS, Stage, command, outcome, run};
use std::path::Path;
use std::process::Command;
use testkit::WhenFree;

/// Exceptions that a library throws and the program catches, and the other way round.
const THROWS: &str = "#include <stdexcept>\n#include <string>\n\
    struct Odd : std::runtime_error { using runtime_error::runtime_error; };\n\
    extern \"C\" void throws(int n) { struct D { ~D() {} } d; if (n % 2) throw Odd(\"odd\"); }\n\
    extern \"C\" int calls(int (*back)(int), int n) { try { return back(n); } catch (int e) { return -e; } }";
const CATCHES: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
extern "C" void throws(int);
extern "C" int calls(int (*)(int), int);
static int back(int n) { if (n > 1) throw n; return n; }
int main() {
    char line[4096];
    bool apart = false;
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) apart |= strstr(line, "/libthrows.so") || strstr(line, "/libstdc++");
    fclose(file);
    if (getenv("SHOW_MAPS")) return puts(apart ? "apart" : "merged") < 0;
    for (int n = 0; n < 2; n++) try { throws(n); puts("none"); } catch (const std::runtime_error &e) { puts(e.what()); }
    printf("%d %d\n", calls(back, 1), calls(back, 5));
}
"#;

/// Stages: the small program, and one in C++ beside it, with bundles of either kind.
fn stages() -> Option<Vec<(Stage, &'static str)>> {
    let stage = Stage::bundled()?;
    let gxx = testkit::tool("g++")?;
    let thrown = Stage::bare()?;
    let write = |name: &str, text: &str| std::fs::write(thrown.path(name), text).unwrap();
    write("throws.cc", THROWS);
    write("catches.cc", CATCHES);
    let build = |words: &[&str]| {
        let output = Command::new(&gxx).args(words).current_dir(thrown.folder.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    build(&["-shared", "-fPIC", "-O1", "-o", "first/libthrows.so", "throws.cc"]);
    let search = "-Wl,-rpath,$ORIGIN/first";
    build(&["-o", "program", "catches.cc", "-Lfirst", "-lthrows", search]);
    thrown.bundle();
    Some(vec![(stage, "two-v1/three-v1"), (thrown, "odd\n1 -5")])
}

fn survives(tool: &str, arguments: &[&str]) {
    let Some(tool) = testkit::tool(tool) else { return };
    let Some(stages) = stages() else { return };
    for (stage, says) in &stages {
        let original = outcome(&stage.start("program").output_when_free());
        assert!(original.contains(says), "{original}");
        for kind in KINDS {
            let run = stage.path(&format!("{kind}/run"));
            let changed = Command::new(&tool).args(arguments).arg(&run).output_when_free();
            assert!(changed.status.success(), "{kind}: {}", stderr(&changed));
            assert_eq!(outcome(&command(&run).output_when_free()), original, "{tool:?} {kind}");
            assert!(stage.runs_merged(kind), "{tool:?} {arguments:?} {kind}");
            // patchelf leaves headers of which readelf says something, whatever the file was.
            if !tool.ends_with("patchelf") {
                is_well_formed(&run);
            }
        }
    }
}

/// Readers of ELF files have nothing to say against it.
fn is_well_formed(file: &Path) {
    for (reader, words) in [("readelf", &["-aW"][..]), ("llvm-readobj-19", &["--all"])] {
        let Some(reader) = testkit::tool(reader) else { continue };
        let said = Command::new(&reader).args(words).arg(file).output_when_free();
        assert!(said.status.success() && said.stderr.is_empty(), "{reader:?}: {}", stderr(&said));
    }
}

#[test]
fn as_it_is_made() {
    let Some(stages) = stages() else { return };
    for (stage, _) in &stages {
        for kind in KINDS {
            is_well_formed(&stage.path(&format!("{kind}/run")));
        }
    }
}

#[test]
fn strip() {
    survives("strip", &[]);
}

#[test]
fn strip_of_debug_information() {
    survives("strip", &["-g"]);
}

#[test]
fn llvm_strip() {
    survives("llvm-strip-19", &[]);
}

#[test]
fn llvm_strip_of_debug_information() {
    survives("llvm-strip-19", &["-g"]);
}

#[test]
fn objcopy() {
    survives("objcopy", &["--strip-unneeded"]);
}

#[test]
fn patchelf_of_the_search_path() {
    survives("patchelf", &["--set-rpath", "/nowhere/at/all"]);
}

#[test]
fn patchelf_of_a_need() {
    survives("patchelf", &["--add-needed", "libm.so.6"]);
}

#[test]
fn stripped_of_its_moving_words_it_cannot_be_moved() {
    let Some(strip) = testkit::tool("strip") else { return };
    let Some(stage) = Stage::bundled() else { return };
    let file = stage.path("made/fixed/run");
    assert!(Command::new(strip).arg(&file).status().unwrap().success());
    let moved = run(&["rerandomize", &stage.text(FIXED)]);
    // Either its words are still known, or it says what to do; it runs in any case.
    assert!(moved.status.success() || stderr(&moved).contains("make the bundle again"));
    assert!(stage.runs_merged(FIXED));
}

/// Name and address of a function of a merged library.
fn symbol(file: &Path, name: &str) -> Option<u64> {
    let readelf = testkit::tool("readelf")?;
    let text = stdout(&Command::new(readelf).args(["-sW"]).arg(file).output_when_free());
    let line =
        text.lines().find(|line| line.ends_with(&format!(" {name}")) && line.contains("FUNC"));
    let address = line.unwrap_or_else(|| panic!("no {name} in\n{text}")).split_whitespace().nth(1);
    Some(u64::from_str_radix(address.unwrap(), 16).unwrap())
}

#[test]
fn functions_of_libraries_have_their_names() {
    let Some(addr2line) = testkit::tool("addr2line") else { return };
    let Some(stage) = Stage::bundled() else { return };
    for kind in KINDS {
        let file = stage.path(&format!("{kind}/run"));
        for name in ["main", "one", "two", "padding"] {
            let Some(address) = symbol(&file, name) else { return };
            let mut command = Command::new(&addr2line);
            let inside = format!("{:#x}", address + 3);
            let said = command.arg("-fe").arg(&file).arg(inside).output_when_free();
            assert_eq!(stdout(&said).lines().next(), Some(name), "{kind}");
        }
    }
}

/// Frames of libraries and of the program, in their order, where `breakpoint` stops.
fn frames(gdb: &Path, run: &Path, breakpoint: &str, script: Option<&str>) -> Vec<String> {
    let mut command = command(gdb);
    command.args([
        "-nx",
        "-batch",
        "-ex",
        "set pagination off",
        "-ex",
        "set debuginfod enabled off",
    ]);
    // With the commands beside the bundle it is started already.
    let (commands, start) = match script {
        Some(script) => (["-x", script], "continue"),
        None => (["-ex", "set confirm off"], "run"),
    };
    command.args(commands).args(["-ex", &format!("break {breakpoint}"), "-ex", start, "-ex", "bt"]);
    let text = stdout(&command.arg(run).output_when_free());
    let lines = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with('(')).unwrap();
        words[at - 1].to_owned()
    };
    let names = lines.map(name).collect();
    assert!(script.is_none() || text.contains("libdeep.so.c:1"), "{text}");
    names
}

#[test]
fn gdb_stops_in_libraries_and_sees_their_callers() {
    let Some(gdb) = testkit::tool("gdb") else { return };
    let Some(stage) = Stage::bare() else { return };
    let Some(cc) = testkit::tool("cc") else { return };
    // Frames of odd sizes, without a frame pointer: only unwind information leads through them.
    let library = "int deepest(int n) { volatile char a[3000]; a[n] = 1; return a[n] + n; }\n\
        int deep(int (*f)(int), int n) { volatile char a[777]; a[n] = f(n); return a[n] + 1; }";
    let program = "#include <stdio.h>\nint deep(int (*)(int), int); int deepest(int);\n\
        __attribute__((noinline)) static int back(int n) { volatile int a[99]; a[n] = deepest(n); return a[n] + 1; }\n\
        int main(void) { volatile int a = deep(back, 3); printf(\"%d\\n\", a); return 0; }";
    let flags = ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-g"];
    let folder = stage.folder.path();
    let shared = [&flags[..], &["-shared", "-fPIC"]].concat();
    testkit::compile(&cc, folder, "first/libdeep.so", library, &shared);
    let own = [&flags[..], &["-Lfirst", "-ldeep", "-Wl,-rpath,$ORIGIN/first"]].concat();
    testkit::compile(&cc, folder, "program", program, &own);
    stage.bundle();
    for kind in KINDS {
        let run = stage.path(&format!("{kind}/run"));
        assert_eq!(frames(&gdb, &run, "deepest", None)[0], "deepest", "{kind}");
        let script = stage.text(&format!("{kind}/symbols.gdb"));
        let all = frames(&gdb, &run, "deepest", Some(&script));
        assert_eq!(all, ["deepest", "back", "deep", "main"], "{kind}");
    }
}
