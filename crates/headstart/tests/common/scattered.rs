//! A program of scattered functions, for `headstart trace` and `headstart order`.

use super::{headstart, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Functions of the program; every tenth is called, in an order that is not that of the file.
const FUNCTIONS: usize = 600;

/// A folder with a program whose functions are scattered.
pub struct World(pub TempDir);

impl World {
    /// `None`, said loudly, without a tool.
    pub fn new() -> Option<World> {
        testkit::tool("gcc")?;
        testkit::tool("ld.lld-19")?;
        let world = World(tempfile::tempdir().unwrap());
        fs::write(world.path("program.c"), source()).unwrap();
        let compile = "gcc -O1 -ffunction-sections -fno-inline -c program.c -o program.o";
        assert!(world.shell(compile).status.success());
        assert!(world.shell(&link("program", "")).status.success());
        Some(world)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn shell(&self, line: &str) -> Output {
        std::process::Command::new("sh").args(["-c", line]).current_dir(&self.0).output().unwrap()
    }

    pub fn headstart(&self, arguments: &[&str]) -> Output {
        let mut command = headstart(&self.path("cache"), arguments);
        command.current_dir(&self.0).output().unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.headstart(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Functions of the program in order of address.
    pub fn symbols(&self, program: &str) -> Vec<String> {
        let output = self.shell(&format!("nm -n {program}"));
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
        names.filter(|name| name.starts_with("f_")).map(str::to_owned).collect()
    }
}

/// A command that links `to`, for `sh`.
pub fn link(to: &str, more: &str) -> String {
    format!("gcc -fuse-ld=lld -B {} {more} -o {to} program.o", lld_folder().display())
}

/// Where the linker has the name by which gcc looks for it.
pub fn lld_folder() -> PathBuf {
    Path::new("/usr/lib/llvm-19/bin").to_owned()
}

/// Functions of 1,500 bytes or so, of which `main` calls every tenth, those with odd tens last.
pub fn source() -> String {
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
pub fn called() -> Vec<String> {
    let half = |odd: usize| (0..FUNCTIONS).step_by(10).filter(move |n| n / 10 % 2 == odd);
    half(0).chain(half(1)).map(|number| format!("f_{number}")).collect()
}

/// Arguments of `order try` that time nothing.
pub fn try_with<'a>(relink: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let first = ["order", "try", "--runs", "0", "--cold-runs", "0", "--relink", relink];
    [&first[..], more, &["--", "./program"]].concat()
}

/// What is in the folder of `world`, whose program is `before`.
pub fn nothing_is_left(world: &World, before: &[u8]) {
    assert_eq!(fs::read(world.path("program")).unwrap(), before);
    let names = fs::read_dir(&world.0).unwrap().flatten().map(|entry| entry.file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

/// Arguments of `order verify` that time nothing.
pub const VERIFY: [&str; 7] = ["order", "verify", "--runs", "0", "--cold-runs", "0", "--json"];
