//! `headstart order try`, on programs that are built here: what it does, and what it leaves.
#![allow(clippy::unwrap_used)]

mod common;

use common::scattered::{World, called, link, nothing_is_left, try_with};
use common::{headstart, stderr, stdout};
use serde_json::Value;
use std::fs;

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
    assert_eq!(
        (&found["old_program"], &found["new_program"]),
        (&"replaced".into(), &"./program".into())
    );
    let piece = found["snippet"].as_str().unwrap();
    assert!(piece.starts_with("ORDER_FILE := headstart.order\n"), "{piece}");
    let left: Vec<_> = fs::read_dir(&world.0).unwrap().flatten().map(|e| e.file_name()).collect();
    let hidden = |name: &std::ffi::OsString| name.to_string_lossy().starts_with('.');
    assert!(!left.iter().any(hidden), "{left:?}");
}

#[test]
fn a_program_that_a_failed_relink_has_lost_is_put_back() {
    let Some(world) = World::new() else { return };
    let before = fs::read(world.path("program")).unwrap();
    let again = "is as it was before the relink again";
    // With the codes of docs/formats.md.
    let cases: [(&str, &[&str], i32); 8] = [
        ("rm program; exit 3 # @ORDER@", &["code 3", again], 4),
        ("kill -KILL $$ # @ORDER@", &["signal 9"], 4),
        ("rm program # @ORDER@", &["there is no file", again], 2),
        ("true @ORDER@", &["did not write './program'"], 2),
        ("echo part > program # @ORDER@", &[again], 1),
        ("rm program; kill -INT $PPID # @ORDER@", &["there is no file", again], 2),
        ("exit 3 # @ORDER@", &["its output is above\n"], 4),
        ("cp program x && cp x program # @ORDER@", &["has the same bytes"], 1),
    ];
    for (relink, words, code) in cases {
        let output = world.headstart(&try_with(relink, &[]));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{relink}: {said}");
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

/// Linkers, cp and others may write into the file that is there.
#[test]
fn other_names_of_a_program_lead_to_the_old_one_again() {
    let Some(world) = World::new() else { return };
    assert!(world.shell("ln program other && cp /bin/true true").status.success());
    let before = fs::read(world.path("program")).unwrap();
    let set_aside = world.path("program.headstart-new");
    for (relink, new) in [
        ("echo broken > program; exit 1 # @ORDER@", None),
        ("cp true program # @ORDER@", Some("true")),
    ] {
        let output = world.headstart(&try_with(relink, &[]));
        let said = (stdout(&output) + &stderr(&output)).replace('\n', " ");
        assert!(said.contains("is as it was before the relink again"), "{relink}: {said}");
        nothing_is_left(&world, &before);
        assert!(fs::read(world.path("other")).unwrap() == before, "{relink}");
        assert!(world.shell("test program -ef other").status.success(), "{relink}");
        let new = new.map(|new| fs::read(world.path(new)).unwrap());
        assert!(fs::read(&set_aside).ok() == new, "{relink}: {said}");
    }
}

/// What is put back is the link, whatever took its place.
#[test]
fn a_link_that_a_failed_relink_has_lost_is_put_back() {
    let Some(world) = World::new() else { return };
    assert!(
        world.shell("mkdir real && mv program real/p && ln -s real/p program").status.success()
    );
    let before = fs::read(world.path("program")).unwrap();
    let lost = "rm program; echo garbage > program;";
    let output = world.headstart(&try_with(&format!("{lost} exit 3 # @ORDER@"), &[]));
    let said = stderr(&output);
    assert!(said.contains("'./program' is as it was before the relink again"), "{said}");
    assert_eq!(fs::read_link(world.path("program")).unwrap().to_str(), Some("real/p"));
    let relink = format!("{lost} touch begun; sleep 1000 # @ORDER@");
    let mut command = headstart(&world.path("cache"), &try_with(&relink, &[]));
    let mut running = command.current_dir(&world.0).spawn().unwrap();
    common::wait_for("the relink", || world.path("begun").exists());
    running.kill().unwrap();
    running.wait().unwrap();
    common::wait_for("the link", || world.path("program").is_symlink());
    nothing_is_left(&world, &before);
    // The copy goes last.
    let entries = || fs::read_dir(world.path("real")).unwrap().count();
    common::wait_for("the end of the guardian", || entries() == 1);
}

#[test]
fn where_there_is_nothing_to_order_no_order_is_replaced() {
    let Some(world) = World::new() else { return };
    let relink = link("program", "-Wl,--symbol-ordering-file=@ORDER@");
    fs::write(world.path("good"), "f_0\n").unwrap();
    let same = ["--order", "good", "--out", "./good"];
    let output = world.headstart(&try_with(&(relink.clone() + " @OUT@"), &same));
    assert!(stderr(&output).contains("name the same file"), "{}", stderr(&output));
    assert!(world.shell("strip program").status.success());
    let before = fs::read(world.path("program")).unwrap();
    let output = world.headstart(&try_with(&relink, &["--order", "good"]));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no order to try"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(world.path("good")).unwrap(), "f_0\n");
    nothing_is_left(&world, &before);
}

/// A program that crashes.
const CRASHING: &str = "int main(void) { return *(volatile int *)0; }";

#[test]
fn a_new_build_that_cannot_be_compared_gives_its_place_back() {
    let Some(world) = World::new() else { return };
    fs::write(world.path("crash.c"), CRASHING).unwrap();
    assert!(world.shell("gcc -o crash crash.c && cp /bin/true other").status.success());
    let before = fs::read(world.path("program")).unwrap();
    let relinked = link("program", "-Wl,--symbol-ordering-file=@ORDER@");
    let cases = [
        ("cp crash program # @ORDER@".to_owned(), "killed by signal 11", "program.headstart-new"),
        (relinked + " && chmod -x program", "program", "program.headstart-new"),
        ("rm program; cp other program # @ORDER@".to_owned(), "", "program.headstart-new"),
        // What somebody else's link leads to stays where it is.
        ("ln -sf other program # @ORDER@".to_owned(), "", "other"),
    ];
    for (relink, words, new) in cases {
        let output = world.headstart(&try_with(&relink, &[]));
        let said = stdout(&output) + &stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{relink}: {said}");
        assert!(said.contains(words), "{relink}: {said}");
        let state = "'./program' is as it was before the relink again; the new build is '";
        let said = said.replace('\n', " ");
        assert!(said.contains(state) && said.contains(&format!("/{new}'")), "{relink}: {said}");
        assert!(world.path(new).is_file(), "{relink}");
        nothing_is_left(&world, &before);
    }
    assert_eq!(fs::read(world.path("other")).unwrap(), fs::read("/bin/true").unwrap());
}

#[test]
fn a_build_that_is_rejected_gives_its_place_back() {
    let Some(world) = World::new() else { return };
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("good"), ordered).unwrap();
    let option = "-Wl,--symbol-ordering-file=good";
    assert!(world.shell(&link("program", option)).status.success());
    let before = fs::read(world.path("program")).unwrap();
    let relink = link("program", "") + " # @ORDER@";
    let output = world.headstart(&try_with(&relink, &["--json"]));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["verification"]["verdict"], "rejected", "{found}");
    assert_eq!(found["old_program"], "put_back");
    assert!(found["new_program"].as_str().unwrap().ends_with("/program.headstart-new"));
    nothing_is_left(&world, &before);
}

#[test]
fn an_order_that_the_relink_has_removed_is_not_said_to_be_there() {
    let Some(world) = World::new() else { return };
    let relink = link("program", "-Wl,--symbol-ordering-file=@ORDER@") + " && rm @ORDER@";
    let output = world.headstart(&try_with(&relink, &[]));
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(
        said.contains("the relink command has removed the order file headstart.order"),
        "{said}"
    );
    assert!(!said.contains("The order is in") && !said.contains("--snippet"), "{said}");
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
        assert!(fs::read(world.path("program")).unwrap() == before, "{more:?}");
        assert!(!world.path("program.headstart-new").exists(), "{more:?}: it was relinked");
    }
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
    let before = fs::read(world.path("program")).unwrap();
    let moved = world.headstart(&try_with(&relink, &there));
    assert!(stderr(&moved).contains("'./program' is as it was before"), "{}", stderr(&moved));
    nothing_is_left(&world, &before);
    assert!(stderr(&moved).contains("has changed './program' itself"), "{}", stderr(&moved));
    assert_eq!((stale.status.code(), moved.status.code()), (Some(2), Some(2)));
}

/// The relink command fails: what is written before that is looked at.
#[test]
fn the_order_is_written_where_links_lead_and_into_devices() {
    let Some(world) = World::new() else { return };
    let made = "mkdir d && ln -s d/far near && ln -s real d/far && ln -s /dev/null void";
    assert!(world.shell(made).status.success());
    for order in ["near", "void"] {
        let output = world.headstart(&try_with("exit 3 # @ORDER@", &["--order", order]));
        assert!(stderr(&output).contains("code 3"), "{}", stderr(&output));
        assert!(world.path(order).is_symlink(), "{order}");
    }
    assert!(world.path("d/far").is_symlink());
    assert!(fs::read_to_string(world.path("d/real")).unwrap().contains("f_10\n"));
}

#[test]
fn what_the_commands_name_is_not_replaced_by_the_order() {
    let Some(world) = World::new() else { return };
    let script = link("program", "-Wl,--symbol-ordering-file=$1");
    for (name, relink, more) in [
        ("link.sh", "sh link.sh @ORDER@", &[][..]),
        ("link.sh", "cat x; sh -c '. ./link.sh' @ORDER@", &[]),
        ("options", "gcc -fuse-ld=lld -Wl,@options @ORDER@", &[]),
        ("input", "true @ORDER@", &["--also", "./program --input=input"]),
        ("input", "true @ORDER@", &["--held-out", "./program input"]),
    ] {
        fs::write(world.path(name), &script).unwrap();
        let more = [&["--order", name][..], more].concat();
        let output = world.headstart(&try_with(relink, &more));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{relink} {more:?}: {said}");
        assert!(said.contains("the command reads this file"), "{said}");
        assert_eq!(fs::read_to_string(world.path(name)).unwrap(), script);
    }
    // An order of an earlier run is replaced.
    fs::write(world.path("ORDER"), "f_0\n").unwrap();
    let output = world.headstart(&try_with("sh link.sh @ORDER@", &["--order", "ORDER"]));
    assert!(output.status.success(), "{}", stderr(&output));
}
