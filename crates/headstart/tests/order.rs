//! `headstart trace` and `headstart order …`, on programs that are built here.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Functions of the program; every tenth is called, in an order that is not that of the file.
const FUNCTIONS: usize = 600;

/// A folder with a program whose functions are scattered.
struct World(TempDir);

impl World {
    /// `None`, said loudly, without a tool.
    fn new() -> Option<World> {
        testkit::tool("gcc")?;
        testkit::tool("ld.lld-19")?;
        let world = World(tempfile::tempdir().unwrap());
        fs::write(world.path("program.c"), source()).unwrap();
        let compile = "gcc -O1 -ffunction-sections -fno-inline -c program.c -o program.o";
        assert!(world.shell(compile).status.success());
        assert!(world.shell(&link("program", "")).status.success());
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn shell(&self, line: &str) -> Output {
        std::process::Command::new("sh").args(["-c", line]).current_dir(&self.0).output().unwrap()
    }

    fn headstart(&self, arguments: &[&str]) -> Output {
        let mut command = headstart(&self.path("cache"), arguments);
        command.current_dir(&self.0).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.headstart(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Functions of the program in order of address.
    fn symbols(&self, program: &str) -> Vec<String> {
        let output = self.shell(&format!("nm -n {program}"));
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
        names.filter(|name| name.starts_with("f_")).map(str::to_owned).collect()
    }
}

/// A command that links `to`, for `sh`.
fn link(to: &str, more: &str) -> String {
    format!("gcc -fuse-ld=lld -B {} {more} -o {to} program.o", lld_folder().display())
}

/// Where the linker has the name by which gcc looks for it.
fn lld_folder() -> PathBuf {
    Path::new("/usr/lib/llvm-19/bin").to_owned()
}

/// Functions of 1,500 bytes or so, of which `main` calls every tenth, those with odd tens last.
fn source() -> String {
    let mut text = "static volatile int sink;\n".to_owned();
    for number in 0..FUNCTIONS {
        let body = "sink += sink * 3;".repeat(60);
        let linkage = if number % 20 == 0 { "static " } else { "" };
        text += &format!("{linkage}__attribute__((noinline)) void f_{number}(void) {{ {body} }}\n");
    }
    text += "int main(int argc, char **argv) {\n";
    let called = |odd: usize| (0..FUNCTIONS).step_by(10).filter(move |n| n / 10 % 2 == odd);
    for number in called(0).chain(called(1)) {
        text += &format!("f_{number}();\n");
    }
    text + "return argc > 5; }\n"
}

/// The functions that `main` calls, in that order.
fn called() -> Vec<String> {
    let half = |odd: usize| (0..FUNCTIONS).step_by(10).filter(move |n| n / 10 % 2 == odd);
    half(0).chain(half(1)).map(|number| format!("f_{number}")).collect()
}

#[test]
fn a_trace_has_the_functions_in_order_and_the_order_puts_them_first() {
    let Some(world) = World::new() else { return };
    let report = world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    let module = &report["modules"][0];
    assert!(report["first_calls"].as_u64().unwrap() > 60, "{report}");
    assert!(module["path"].as_str().is_some(), "{report}");
    let listed = world.headstart(&["trace", "--functions", "--", "./program"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').nth(3));
    let names: Vec<&str> = names.filter(|name| name.starts_with("f_")).collect();
    assert_eq!(names, called());
    let write = ["order", "write", "--linker", "lld", "--out", "order", "--json", "t"];
    let order = world.json(&write);
    assert_eq!(order["unmatched"], 0, "{order}");
    let pages = |of: &str| order[of]["pages"].as_f64().unwrap();
    assert!(pages("predicted") < 0.6 * pages("now"), "{order}");
    let option = "-Wl,--symbol-ordering-file=order";
    assert!(world.shell(&link("ordered", option)).status.success());
    assert_eq!(world.symbols("ordered")[..60], called());
    // The prediction is what the new build has.
    let again = world.json(&["trace", "--json", "--out", "t2", "--", "./ordered"]);
    let own = again["modules"].as_array().unwrap().iter();
    let own = own.into_iter().find(|m| m["path"].as_str().unwrap().ends_with("/ordered")).unwrap();
    assert_eq!(own["touched_pages"].as_f64().unwrap(), pages("predicted"), "{own} {order}");
}

#[test]
fn a_trace_tells_how_the_program_ended() {
    let Some(world) = World::new() else { return };
    let script = |line: &'static str| ["trace", "--out", "t", "--", "sh", "-c", line];
    for (line, code, ending, words) in [
        ("exit 0", 0, serde_json::json!({"code": 0}), None),
        ("exit 3", 4, serde_json::json!({"code": 3}), Some("The program ended with exit code 3.")),
        ("kill -9 $$", 4, serde_json::json!({"signal": 9}), Some("was killed by signal 9.")),
    ] {
        let output = world.headstart(&script(line));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("The program "), words.is_some(), "{said}");
        assert!(words.is_none_or(|words| said.contains(words)), "{said}");
        let trace = fs::read_to_string(world.path("t")).unwrap();
        let header: Value = serde_json::from_str(trace.lines().next().unwrap()).unwrap();
        assert_eq!(header["ending"], ending);
    }
}

#[test]
fn a_program_whose_name_has_a_line_feed_is_traced_and_no_other_is_ordered_in_its_place() {
    let Some(world) = World::new() else { return };
    fs::copy(world.path("program"), world.path("pro\ngram")).unwrap();
    world.json(&["trace", "--json", "--out", "t", "--", "./pro\ngram"]);
    let write = ["order", "write", "--linker", "lld", "t"];
    let order = stdout(&world.headstart(&write));
    let names: Vec<&str> = order.lines().filter(|name| name.starts_with("f_")).collect();
    assert_eq!(names, called());
    let trace = fs::read_to_string(world.path("t")).unwrap();
    fs::write(world.path("t"), trace.replacen("/pro\\ngram\",\"build_id", "/x\",\"build_id", 1))
        .unwrap();
    let output = world.headstart(&write);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(
        stderr(&output).contains("no functions of the launched program"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn one_command_orders_links_and_verifies() {
    let Some(world) = World::new() else { return };
    let relink = link("program", "-Wl,--symbol-ordering-file=@ORDER@");
    let arguments = [
        &["order", "try", "--json", "--snippet", "make", "--runs", "3"][..],
        &["--cold-runs", "0", "--relink", &relink],
    ]
    .concat();
    let found = world.json(&[&arguments[..], &["--", "./program"]].concat());
    let verification = &found["verification"];
    assert_eq!(verification["verdict"], "better", "{found}");
    let pages = |side: &str| verification[side]["pages"].as_u64().unwrap();
    assert!(pages("new") < pages("old") * 6 / 10, "{verification}");
    assert_eq!(pages("new") as f64, found["order"]["predicted"]["pages"].as_f64().unwrap());
    assert_eq!(verification["resolved_percent"], 100.0, "{verification}");
    assert!(world.path("headstart.order").is_file());
    let piece = found["snippet"].as_str().unwrap();
    assert!(piece.starts_with("ORDER_FILE := headstart.order\n"), "{piece}");
    let left: Vec<_> = fs::read_dir(&world.0).unwrap().flatten().map(|e| e.file_name()).collect();
    let hidden = |name: &std::ffi::OsString| name.to_string_lossy().starts_with('.');
    assert!(!left.iter().any(hidden), "{left:?}");
}

#[test]
fn an_order_that_is_worse_is_rejected() {
    let Some(world) = World::new() else { return };
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("order"), ordered).unwrap();
    let option = "-Wl,--symbol-ordering-file=order";
    assert!(world.shell(&link("ordered", option)).status.success());
    let verify = ["order", "verify", "--runs", "0", "--cold-runs", "0", "--json"];
    let output = world.headstart(&[&verify[..], &["./ordered", "./program"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["verdict"], "rejected");
    assert!(found["notes"][0].as_str().unwrap().starts_with("more pages: "), "{found}");
    let good = world.headstart(&[&verify[..], &["./program", "./ordered"]].concat());
    assert_eq!(good.status.code(), Some(0));
}

/// Arguments of `order try` that time nothing.
fn try_with<'a>(relink: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let first = ["order", "try", "--runs", "0", "--cold-runs", "0", "--relink", relink];
    [&first[..], more, &["--", "./program"]].concat()
}

/// What is in the folder of `world`, whose program is `before`.
fn nothing_is_left(world: &World, before: &[u8]) {
    assert_eq!(fs::read(world.path("program")).unwrap(), before);
    let names = fs::read_dir(&world.0).unwrap().flatten().map(|entry| entry.file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn a_program_that_a_failed_relink_has_lost_is_put_back() {
    let Some(world) = World::new() else { return };
    let before = fs::read(world.path("program")).unwrap();
    let again = "is as it was before the relink again";
    let cases: [(&str, &[&str]); 6] = [
        ("rm program; exit 3 # @ORDER@", &["code 3", again]),
        ("rm program # @ORDER@", &["there is no file", again]),
        ("echo part > program # @ORDER@", &[again]),
        ("rm program; kill -INT $PPID # @ORDER@", &["there is no file", again]),
        ("exit 3 # @ORDER@", &["its output is above\n"]),
        ("cp program x && cp x program # @ORDER@", &["has the same bytes"]),
    ];
    for (relink, words) in cases {
        let output = world.headstart(&try_with(relink, &[]));
        let said = stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{relink}: {said}");
        assert!(words.iter().all(|words| said.contains(words)), "{relink}: {said}");
        nothing_is_left(&world, &before);
    }
}

#[test]
fn a_killed_attempt_leaves_the_program_and_no_copy() {
    let Some(world) = World::new() else { return };
    let before = fs::read(world.path("program")).unwrap();
    let relink = "rm program; touch begun; sleep 1000 # @ORDER@";
    let mut command = headstart(&world.path("cache"), &try_with(relink, &[]));
    let mut running = command.current_dir(&world.0).spawn().unwrap();
    common::wait_for("the relink", || world.path("begun").exists());
    running.kill().unwrap();
    running.wait().unwrap();
    common::wait_for("the program", || world.path("program").exists());
    nothing_is_left(&world, &before);
}

#[test]
fn launches_of_other_programs_are_refused() {
    let Some(world) = World::new() else { return };
    fs::copy(world.path("program"), world.path("copy")).unwrap();
    let before = fs::read(world.path("program")).unwrap();
    let relink = link("program", "-Wl,--symbol-ordering-file=@ORDER@");
    let cases: [(&[&str], &str); 3] = [
        (&["--held-out", "./copy 1"], "starts another program than './program'"),
        (&["--also", "true"], "'true' calls no function of './program'"),
        (&["--held-out", "./program 1 2 3 4 5"], "ended with exit code 1"),
    ];
    for (more, words) in cases {
        let output = world.headstart(&try_with(&relink, more));
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(2 | 4)), "{said}");
        assert!(said.contains(words), "{said}");
        let is_relinked = fs::read(world.path("program")).unwrap() != before;
        assert_eq!(is_relinked, words.starts_with("ended"), "{more:?}");
    }
    fs::write(world.path("program"), &before).unwrap();
    let through_a_shell = ["--also", "sh -c './program 1'", "--held-out", "./program 2"];
    let output = world.headstart(&try_with(&relink, &through_a_shell));
    let said = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(said.contains("it was made from 2 launches"), "{said}");
    assert!(said.contains("./program 2") && !said.contains("headstart-"), "{said}");
}

#[test]
fn what_the_relink_wrote_is_told_apart_from_what_was_there() {
    let Some(world) = World::new() else { return };
    assert!(world.shell(&link("new", "-Wl,--build-id=0x12")).status.success());
    let there = ["--out", "new"];
    let stale = world.headstart(&try_with("true @ORDER@ @OUT@", &there));
    assert!(stderr(&stale).contains("did not write 'new'"), "{}", stderr(&stale));
    let relink = link("program", "-Wl,--symbol-ordering-file=@ORDER@") + " && cp program @OUT@";
    let moved = world.headstart(&try_with(&relink, &there));
    assert!(stderr(&moved).contains("has changed './program' itself"), "{}", stderr(&moved));
    assert_eq!((stale.status.code(), moved.status.code()), (Some(4), Some(4)));
}

/// Arguments of `order verify` that time nothing.
const VERIFY: [&str; 7] = ["order", "verify", "--runs", "0", "--cold-runs", "0", "--json"];

/// A program of other functions, fewer of which are called.
const OTHER: &str = "static volatile int sink;
void other_0(void) { sink += 1; }
void other_1(void) { sink += 2; }
int main(void) { other_0(); other_1(); return 0; }
";

#[test]
fn programs_that_cannot_be_compared_get_no_verdict() {
    let Some(world) = World::new() else { return };
    fs::write(world.path("other.c"), OTHER).unwrap();
    let build = "gcc -O1 -fno-inline -o other other.c && strip -o stripped program";
    assert!(world.shell(build).status.success());
    let unrelated = world.headstart(&[&VERIFY[..], &["./program", "./other"]].concat());
    assert_eq!(unrelated.status.code(), Some(2), "{}", stdout(&unrelated));
    assert!(stderr(&unrelated).contains("not builds of the same program"));
    for builds in [["./program", "./stripped"], ["./stripped", "./program"]] {
        let output = world.headstart(&[&VERIFY[..], &builds].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["verdict"], "unavailable", "{found}");
        assert!(found["notes"][0].as_str().unwrap().contains("have no name"), "{found}");
    }
}

/// The exit code of the program is the number of its arguments, from 5 on.
#[test]
fn a_build_that_ends_in_another_way_is_not_better() {
    let Some(world) = World::new() else { return };
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("order"), ordered).unwrap();
    let option = "-Wl,--symbol-ordering-file=order";
    assert!(world.shell(&link("ordered", option)).status.success());
    let failing = "./ordered 1 2 3 4 5";
    let verify = |more: &[&str]| world.headstart(&[&VERIFY[..], more].concat());
    let output = verify(&["./program", failing]);
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&output));
    assert!(stderr(&output).contains("'./ordered 1 2 3 4 5' ended with exit code 1"));
    let output = verify(&["--ignore-failure", "./program", failing]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("the new build does something else"));
    let output = verify(&["./program", "./ordered", "--held-out", "1 2 3 4 5"]);
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&output));
    let both = ["-i", "--arguments", "1 2 3 4 5", "./program", "./ordered"];
    let found = world.json(&[&VERIFY[..], &both].concat());
    assert_eq!((&found["verdict"], &found["traces"]), (&"better".into(), &3.into()), "{found}");
    assert!(found["notes"][0].as_str().unwrap().contains("both builds fail"), "{found}");
}

/// Half of the functions that it may call, by the clock.
const VARYING: &str =
    "struct timespec now; clock_gettime(CLOCK_REALTIME, &now); srand(now.tv_nsec);";

#[test]
fn what_launches_of_one_build_differ_by_is_no_difference() {
    let Some(world) = World::new() else { return };
    let steady = source();
    let main = steady.find("int main").unwrap();
    let body = steady[main..].replace("f_", "if (rand() % 2) f_").replacen('{', "{ @", 1);
    let headers = "#include <stdlib.h>\n#include <time.h>\n";
    let text = format!("{headers}{}{}", &steady[..main], body.replace('@', VARYING));
    fs::write(world.path("program.c"), text).unwrap();
    let compile = "gcc -O1 -ffunction-sections -fno-inline -c program.c -o program.o";
    assert!(world.shell(compile).status.success());
    assert!(world.shell(&link("one", "")).status.success());
    assert!(world.shell(&link("two", "-Wl,--build-id=0x12")).status.success());
    let found = world.json(&[&VERIFY[..], &["./one", "./two"]].concat());
    assert_eq!((&found["verdict"], &found["traces"]), (&"same".into(), &9.into()), "{found}");
    assert!(found["notes"].to_string().contains("pages vary from launch to launch"), "{found}");
}

/// The script starts the build whose name it has, unless it gets an argument.
#[test]
fn what_a_script_starts_is_compared_and_a_launch_without_it_is_told() {
    let Some(world) = World::new() else { return };
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("order"), ordered).unwrap();
    let option = "-Wl,--symbol-ordering-file=order";
    assert!(world.shell(&link("program.new", option)).status.success());
    fs::write(world.path("start"), "[ \"$2\" ] || \"./program$1\"\n").unwrap();
    let builds = ["sh start ''", "sh start .new"];
    let found = world.json(&[&VERIFY[..], &builds].concat());
    assert_eq!(found["verdict"], "better", "{found}");
    let output = world.headstart(&[&VERIFY[..], &builds, &["--held-out", "x"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("'sh start .new x' calls no function of a relinked module"), "{said}");
}

#[test]
fn versions_of_a_library_are_compared() {
    let Some(world) = World::new() else { return };
    let text =
        source().replace("int main(", "int lib(").replace("int argc, char **argv", "int argc");
    fs::write(world.path("lib.c"), text).unwrap();
    let main = "int lib(int); int main(void) { return lib(1); }";
    fs::write(world.path("main.c"), main).unwrap();
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("order"), ordered).unwrap();
    let lld = format!(
        "gcc -O1 -ffunction-sections -fno-inline -fPIC -shared -fuse-ld=lld -B {}",
        lld_folder().display()
    );
    let build = format!(
        "mkdir old new && {lld} -Wl,-soname,lib.so.1 -o old/lib.so.1.2 lib.c &&
         {lld} -Wl,-soname,lib.so.1 -Wl,--symbol-ordering-file=order -o new/lib.so.1.3 lib.c &&
         ln -s lib.so.1.2 old/lib.so.1 && ln -s lib.so.1.3 new/lib.so.1 &&
         gcc -o main main.c old/lib.so.1"
    );
    let built = world.shell(&build);
    assert!(built.status.success(), "{}", stderr(&built));
    let builds = ["LD_LIBRARY_PATH=old ./main", "LD_LIBRARY_PATH=new ./main"];
    let found = world.json(&[&VERIFY[..], &builds].concat());
    assert_eq!(found["verdict"], "better", "{found}");
    assert_eq!(found["resolved_percent"], 100.0, "{found}");
}

#[test]
fn what_a_build_needs_is_printed_with_the_order() {
    let Some(world) = World::new() else { return };
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    let write = |linker: &str, more: &[&str]| {
        let words = ["order", "write", "--linker", linker, "t"];
        world.headstart(&[&words[..], more].concat())
    };
    let plain = stdout(&write("lld", &["--out", "order"]));
    let last = plain.lines().last().unwrap();
    assert!(last.contains(" -Wl,--symbol-ordering-file=order;"), "{plain}");
    assert!(last.contains("--snippet NAME"), "{plain}");
    let cmake = stdout(&write("bfd", &["--out", "script", "--snippet", "cmake"]));
    let (_, piece) = cmake.split_once("For CMakeLists.txt").expect(&cmake);
    assert!(piece.contains("get_filename_component(ORDER_FILE \"script\" ABSOLUTE)"), "{cmake}");
    assert!(piece.contains("\"-fuse-ld=bfd\""), "{cmake}");
    assert!(!cmake.contains("--snippet"), "{cmake}");
    // The order alone is on standard output.
    let both = write("lld", &["--snippet", "make"]);
    assert_eq!(stdout(&both), fs::read_to_string(world.path("order")).unwrap());
    assert!(stderr(&both).contains("\nORDER_FILE := program.order\n"), "{}", stderr(&both));
    assert!(!stderr(&write("lld", &[])).contains("ORDER_FILE"));
    let json = ["order", "write", "--linker", "lld", "--out", "order", "--json", "t"];
    assert_eq!(world.json(&json).get("snippet"), None);
    let found = world.json(&[&json[..], &["--snippet", "shell"]].concat());
    let piece = found["snippet"].as_str().unwrap();
    assert!(piece.starts_with("order_file=order\n"), "{piece}");
}

/// Nothing is written, and what there is instead is named.
#[test]
fn a_piece_that_does_not_exist_is_refused() {
    let Some(world) = World::new() else { return };
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    let cases = [
        ("objcopy", "meson", "--linker ld-script"),
        ("gold", "cargo", "--linker lld"),
        ("llvm", "make", "--linker lld"),
    ];
    for (linker, name, instead) in cases {
        let words = ["order", "write", "--out", "order", "t", "--linker", linker, "--snippet"];
        let output = world.headstart(&[&words[..], &[name]].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(instead), "{said}");
        assert!(!world.path("order").exists());
    }
    for (name, file, sign) in [("make", "my order", "a blank"), ("cmake", "a,b", "a comma")] {
        let words = ["order", "write", "t", "--linker", "lld", "--snippet", name, "--out", file];
        let output = world.headstart(&words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(sign) && said.contains("give a path of letters"), "{said}");
        assert!(!world.path(file).exists());
    }
}

/// The functions of a file without sections of their own, two of which are called.
const WHOLE: &str = "static volatile int sink;
void w_0(void) { sink += 1; }
void w_1(void) { sink += 2; }
void w_2(void) { sink += 3; }
void w_3(void) { sink += 4; }
void w_4(void) { sink += 5; }
";

#[test]
fn what_moves_along_is_told_by_the_map() {
    let Some(world) = World::new() else { return };
    let main = "void w_1(void); void w_3(void); int main(void) { w_1(); w_3(); return 0; }\n";
    fs::write(world.path("program.c"), main).unwrap();
    fs::write(world.path("whole.c"), WHOLE).unwrap();
    let compile = "gcc -O1 -c whole.c -o whole.o && gcc -O1 -ffunction-sections -c program.c";
    assert!(world.shell(compile).status.success());
    let linked = world.shell(&link("program", "-Wl,-Map=map whole.o"));
    assert!(linked.status.success(), "{}", stderr(&linked));
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    let notes = |linker: &str, map: &[&str]| {
        let words = ["order", "write", "--out", "order", "--json", "t", "--linker", linker];
        let report = world.json(&[&words[..], map].concat());
        let notes = report["notes"].as_array().unwrap().iter();
        let notes = notes.filter_map(Value::as_str).filter(|note| note.contains("move along"));
        notes.map(str::to_owned).collect::<Vec<String>>()
    };
    let found = notes("lld", &["--map", "map"]);
    let words = "3 functions that no trace contains move along: they share an input section or a \
                 name with an ordered function, such as w_0";
    assert_eq!(found, [words]);
    // gold moves sections by their names, and leaves one that is called .text as all are.
    assert!(notes("gold", &["--map", "map"]).is_empty());
    assert!(notes("lld", &[]).is_empty(), "without the map nobody can tell");
}

#[test]
fn what_is_read_is_not_replaced() {
    let Some(world) = World::new() else { return };
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    assert!(world.shell(&link("program", "-Wl,-Map=map")).status.success());
    assert!(
        world.shell("ln -s t link; cp program library.so; chmod -x library.so").status.success()
    );
    let cases: [&[&str]; 6] = [
        &["order", "write", "--linker", "lld", "--out", "link", "t"],
        &["order", "write", "--linker", "lld", "--map", "map", "--out", "map", "t"],
        &["order", "write", "--linker", "lld", "--out", "library.so", "t"],
        &["trace", "--export", "proftext", "--out", "t", "t"],
        &["trace", "--out", "t", "--", "./program", "--input=t"],
        &["trace", "--out", "library.so", "--", "./program"],
    ];
    let contents = || ["t", "map", "library.so"].map(|name| fs::read(world.path(name)).unwrap());
    let before = contents();
    for arguments in cases {
        let output = world.headstart(arguments);
        assert_eq!(output.status.code(), Some(6), "{arguments:?}: {}", stderr(&output));
        assert!(contents() == before, "{arguments:?}");
    }
}

/// A build is known by its build-id under any name, and another one only by its names.
#[test]
fn it_is_told_how_the_image_was_found_in_each_trace_and_what_is_not_used() {
    let Some(world) = World::new() else { return };
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    world.json(&["trace", "--json", "--out", "other", "--", "true"]);
    fs::rename(world.path("program"), world.path("same")).unwrap();
    assert!(world.shell(&link("another", "-Wl,-z,now -Wl,--build-id=0x1234")).status.success());
    let write = |image: &str, more: &[&str]| {
        let words = ["order", "write", "--linker", "lld", "--out", "order", "--json"];
        let report = world.json(&[&words[..], &["--image", image, "t", "other"], more].concat());
        let notes = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
        (report["runs"].as_u64().unwrap(), notes.collect::<Vec<_>>().join("\n"))
    };
    let (runs, notes) = write("same", &[]);
    assert_eq!(runs, 1, "{notes}");
    assert!(notes.contains("/program is taken for the image by the build-id"), "{notes}");
    assert!(notes.contains("other: not used: none of its modules"), "{notes}");
    let (runs, notes) = write("another", &["--module", "program"]);
    assert_eq!(runs, 1, "{notes}");
    assert!(notes.contains("as --module says; it is another build"), "{notes}");
    fs::remove_file(world.path("order")).unwrap();
    assert_eq!(write("another", &[]).0, 0);
}

#[test]
fn an_empty_order_is_told_and_replaces_no_other() {
    let Some(world) = World::new() else { return };
    world.json(&["trace", "--json", "--out", "t", "--", "./program"]);
    let trace = fs::read_to_string(world.path("t")).unwrap();
    let empty = trace.lines().next().unwrap().to_owned() + "\n{\"calls\":0}\n";
    fs::write(world.path("empty"), empty).unwrap();
    let write = |trace: &str| {
        world.headstart(&["order", "write", "--linker", "lld", "--out", "order", trace])
    };
    let first = write("empty");
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stdout(&first).contains("the order has no functions"), "{}", stdout(&first));
    assert_eq!(fs::read(world.path("order")).unwrap(), b"");
    let option = "-Wl,--symbol-ordering-file=order";
    assert!(world.shell(&link("same", option)).status.success());
    assert_eq!(write("t").status.code(), Some(0), "an empty order is replaced");
    let good = fs::read(world.path("order")).unwrap();
    let refused = write("empty");
    assert_eq!(refused.status.code(), Some(6));
    assert!(stderr(&refused).contains("no trace has a call into"), "{}", stderr(&refused));
    assert!(fs::read(world.path("order")).unwrap() == good);
}

#[test]
fn mistakes_are_told_with_the_next_step() {
    let Some(world) = World::new() else { return };
    fs::write(world.path("no-trace"), "hello\nworld\n").unwrap();
    let cases: [(&[&str], i32, &str); 7] = [
        (&["order", "write", "--linker", "lld", "no-trace"], 6, "no-trace, line 1"),
        (&["order", "write", "--linker", "lld", "missing"], 6, "missing"),
        (&["order", "verify", "./program", "./program"], 2, "no module of"),
        (&["order", "try", "--relink", "true", "--", "./program"], 2, "@ORDER@"),
        (&["order", "try", "--relink", "true @ORDER@", "--", "./program"], 4, "is the same file"),
        (&["order", "try", "--relink", "exit 3 # @ORDER@", "--", "./program"], 4, "code 3"),
        (&["trace", "--until", "signal:KILL", "--", "./program"], 2, "signal"),
    ];
    for (arguments, code, words) in cases {
        let output = world.headstart(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
