//! The finding on scattered functions, on a program that is built here, in link order and ordered.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use tempfile::TempDir;

/// Functions of the program; every tenth is called.
const FUNCTIONS: usize = 3000;
/// Each function's size or so: nearly every called one lies in pages of its own.
const BYTES: usize = 1400;

/// A folder with a program whose functions are scattered.
struct World(TempDir);

impl World {
    /// `None`, said loudly, without a tool.
    fn new() -> Option<World> {
        testkit::tool("gcc")?;
        testkit::tool("ld.lld-19")?;
        let world = World(tempfile::tempdir().unwrap());
        let mut text = String::new();
        for number in 0..FUNCTIONS {
            let body = format!("__asm__ volatile(\".skip {BYTES}, 0x90\");");
            writeln!(text, "void f_{number}(void) {{ {body} }}").unwrap();
        }
        text += "int main(void) {\n";
        (0..FUNCTIONS).step_by(10).for_each(|number| writeln!(text, "f_{number}();").unwrap());
        text += "return 0; }\n";
        fs::write(world.0.path().join("program.c"), text).unwrap();
        world.shell("gcc -O1 -ffunction-sections -fno-inline -c program.c -o program.o");
        world.link("");
        Some(world)
    }

    fn shell(&self, line: &str) {
        let mut shell = std::process::Command::new("sh");
        assert!(
            shell.args(["-c", line]).current_dir(&self.0).status().unwrap().success(),
            "{line}"
        );
    }

    fn link(&self, more: &str) {
        self.shell(&format!(
            "gcc -fuse-ld=lld -B /usr/lib/llvm-19/bin {more} -o program program.o"
        ));
    }

    fn output(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = headstart(&self.0.path().join("cache"), arguments);
        let output = command.current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        output.stdout
    }

    fn explained(&self) -> Value {
        let explain = ["explain", "--json", "-r", "1", "--", "./program"];
        serde_json::from_slice(&self.output(&explain)).unwrap()
    }
}

fn finding(found: &Value) -> Option<&Value> {
    let findings = found["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["id"] == "scattered-code")
}

/// What the launch calls of the program itself.
fn program(found: &Value) -> &Value {
    let modules = found["called_code"]["modules"].as_array();
    let modules = modules.unwrap_or_else(|| panic!("{}", found["called_code"]));
    let own = |module: &&Value| module["path"].as_str().unwrap().ends_with("/program");
    modules.iter().find(own).unwrap()
}

/// What is said beside the variants of the program.
fn notes(world: &World) -> String {
    let optimize = ["optimize", "--json", "--only", "relr", "-r", "1", "--", "./program"];
    let found: Value = serde_json::from_slice(&world.output(&optimize)).unwrap();
    found["notes"].to_string()
}

#[test]
fn scattered_functions_are_told_until_they_are_ordered() {
    let Some(world) = World::new() else { return };
    let found = world.explained();
    let module = program(&found);
    let figure = |name: &str| module[name].as_u64().unwrap();
    let (touched, floor) = (figure("touched_pages"), figure("floor_pages"));
    let calls = FUNCTIONS as u64 / 10;
    assert!(figure("called") >= calls && figure("watched") >= FUNCTIONS as u64, "{module}");
    assert!(touched >= calls && floor < touched / 2, "{module}");
    let ordered = |name: &str| module["ordered"][name].as_u64().unwrap();
    assert!(ordered("pages") < floor + 16, "{module}");
    assert!(ordered("reads") < ordered("reads_now") / 2, "{module}");
    let scattered = finding(&found).unwrap_or_else(|| panic!("{}", found["findings"]));
    let cause = scattered["cause"].as_str().unwrap();
    assert!(cause.contains(&format!("are spread over {touched} pages")), "{cause}");
    let remedy = scattered["remedy"].as_str().unwrap();
    assert!(remedy.contains("headstart order try --relink 'COMMAND with @ORDER@' -- ./program"));
    assert!(scattered["cost_us"]["unavailable"].is_string(), "{scattered}");
    let source = found["sources"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&source["figures"], &source["mechanism"]),
        (&Value::from("functions"), &Value::from("ptrace, breakpoints"))
    );

    assert!(notes(&world).contains("headstart order try --relink"), "{}", notes(&world));
    world.output(&["trace", "--out", "t", "--", "./program"]);
    world.output(&["order", "write", "--linker", "lld", "--out", "order", "t"]);
    world.link("-Wl,--symbol-ordering-file=order");
    let again = world.explained();
    assert!(finding(&again).is_none(), "{}", again["findings"]);
    assert!(!notes(&world).contains("scattered"), "{}", notes(&world));
    // The prediction is what the new build has.
    assert_eq!(program(&again)["touched_pages"].as_u64().unwrap(), ordered("pages"));
}

#[test]
fn small_programs_do_not_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["explain", "--json", "-r", "1", "--", "true"];
    let output = headstart(folder.path(), &arguments).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["called_code"]["modules"].is_array(), "{}", found["called_code"]);
    assert!(finding(&found).is_none(), "{}", found["findings"]);
}
