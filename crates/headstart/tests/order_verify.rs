//! `headstart order verify`, on builds of programs that are made here.
#![allow(clippy::unwrap_used)]

mod common;

use common::scattered::{VERIFY, World, called, link, lld_folder, source};
use common::{stderr, stdout};
use serde_json::Value;
use std::fs;

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

/// The program with this `main`, linked so that each called function is in the first pages.
fn build_with(world: &World, name: &str, main: &str) {
    let text = source();
    let functions = &text[..text.find("int main").unwrap()];
    fs::write(world.path("program.c"), format!("{functions}{main}")).unwrap();
    let compile = "gcc -O1 -ffunction-sections -fno-inline -c program.c -o program.o";
    assert!(world.shell(compile).status.success());
    let ordered: String = called().iter().map(|name| format!("{name}\n")).collect();
    fs::write(world.path("order"), ordered).unwrap();
    assert!(world.shell(&link(name, "-Wl,--symbol-ordering-file=order")).status.success());
}

#[test]
fn a_build_that_no_longer_does_the_work_is_not_better() {
    let Some(world) = World::new() else { return };
    let text = source();
    let main = &text[text.find("int main").unwrap()..];
    let with_argument = main.replacen("f_300();", "if (argc == 2) return 0; f_300();", 1);
    build_with(&world, "lazy", &with_argument.replacen("argc == 2", "argc >= 1", 1));
    build_with(
        &world,
        "held",
        &with_argument.replacen("argc == 2", "argc == 2 && argv[0][2] == 'h'", 1),
    );
    for (builds, which) in [(["./program", "./lazy"], "new"), (["./lazy", "./program"], "old")] {
        let output = world.headstart(&[&VERIFY[..], &builds].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["verdict"], "unavailable", "{found}");
        let words = format!("no launch of the {which} build calls 45, such as f_");
        assert!(found["notes"][0].as_str().unwrap().contains(&words), "{found}");
    }
    let builds = ["./program", "./held"];
    let good = world.json(&[&VERIFY[..], &builds].concat());
    assert_eq!(good["verdict"], "better", "{good}");
    let output = world.headstart(&[&VERIFY[..], &builds, &["--held-out", "x"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("the builds do not do the same"), "{}", stdout(&output));
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
