//! Symbols that several merged libraries define, asked for by a library's handle.

use crate::common::stderr;
use crate::place::Place;
use crate::stage::{command, json, outcome, run};
use std::path::PathBuf;
use testkit::WhenFree;

const MAIN: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int one(void), two(void);
int main(void) {
    void *handle = dlopen("libtwo.so", RTLD_NOW);
    int (*begin)(void) = handle ? (int (*)(void))dlsym(handle, "begin") : 0;
    return printf("%d %d %d\n", one(), two(), begin ? begin() : -1) < 0;
}
"#;
const SILENT: &str = "int one(void), two(void); int main(void) { return one() + two() != 3; }";

/// Libraries `one` and `two`, and the program; both libraries define what `common` says.
fn built(place: &Place, main: &str, common: &str) -> PathBuf {
    for (name, number) in [("one", 1), ("two", 2)] {
        let source = format!("int {name}(void) {{ return {number}; }}\n{common}")
            .replace("NUMBER", &number.to_string());
        let soname = format!("-Wl,-soname,lib{name}.so");
        place.built(&format!("lib{name}.so"), &source, &["-shared", "-fPIC", &soname]);
    }
    let folder = format!("-Wl,-rpath,{}", place.folder.path().display());
    place.built("program", main, &["-L.", "-lone", "-ltwo", &folder])
}

const BEGIN: &str = "int begin(void) { return NUMBER; }";

/// It got the first library's, and nothing was said.
#[test]
fn what_a_handle_no_longer_tells_apart_is_said() {
    let Some(place) = Place::new() else { return };
    let program = built(&place, MAIN, BEGIN);
    let original = outcome(&command(&program).output_when_free());
    let (out, name) = (place.path("out").display().to_string(), program.to_str().unwrap());
    let made = json(&["bundle", "--json", "--out", &out, name]);
    let says = "libone.so and libtwo.so both define 'begin', named in program, where dlsym is \
        called: if that asks for it by the handle of libtwo.so, it gets what libone.so defines. \
        To be sure, keep the library apart: --outside libtwo.so";
    assert_eq!(made["warnings"], serde_json::json!([says]));
    let bundle = command(&place.path("out/run")).output_when_free();
    assert_ne!(outcome(&bundle), original, "there is nothing to warn of any more");
    let made = run(&["bundle", "--out", &out, name]);
    let text = String::from_utf8(made.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&format!("warning: {says}")), "{text}");
    // The advice helps.
    let made = json(&["bundle", "--json", "--out", &out, "--outside", "libtwo.so", name]);
    assert!(made.get("warnings").is_none(), "{made}");
    let bundle = command(&place.path("out/run")).output_when_free();
    assert_eq!(outcome(&bundle), original, "{}", stderr(&bundle));
}

#[test]
fn nothing_is_said_where_nobody_asks() {
    let Some(place) = Place::new() else { return };
    let silent = |main: &str, common: &str| {
        let program = built(&place, main, common);
        let out = place.path("out").display().to_string();
        let made = json(&["bundle", "--json", "--out", &out, program.to_str().unwrap()]);
        assert!(made.get("warnings").is_none(), "{made}");
    };
    // Nobody calls dlsym; it is another name; only the library itself sees it.
    silent(SILENT, BEGIN);
    silent(MAIN, "int begins(void) { return NUMBER; }");
    silent(MAIN, "__attribute__((visibility(\"hidden\"))) int begin(void) { return NUMBER; }");
    silent(&MAIN.replace("\"begin\"", "\"to begin\""), BEGIN);
}
