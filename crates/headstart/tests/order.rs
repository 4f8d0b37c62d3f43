//! `headstart trace` and `headstart order write`, on programs that are built here.
#![allow(clippy::unwrap_used)]

mod common;

use common::scattered::{World, called, link};
use common::{stderr, stdout};
use serde_json::Value;
use std::fs;

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
        (&["order", "try", "--relink", "true @ORDER@", "--", "./program"], 2, "is the same file"),
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
