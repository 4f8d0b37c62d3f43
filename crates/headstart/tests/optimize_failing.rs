//! `headstart optimize` of programs that fail, or write something else each time: what cannot be
//! shown to be right never wins.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr};
use serde_json::Value;
use std::path::Path;

fn built(folder: &Path, name: &str, main: &str) -> Option<String> {
    // By the kernel's chance: words that follow each other by the clock are often the same.
    let head = "#include <stdio.h>\n#include <signal.h>\n#include <string.h>\n#include <unistd.h>\n\
        #include <sys/random.h>\n\
        const char *words[] = {\"heads\", \"tails\", \"edge\", \"hand\"};\n\
        static const char *word(void) { unsigned char r = 0; getrandom(&r, 1, 0);\n\
        return words[r % 4]; }\n int main(void) { (void)word;";
    let cc = testkit::tool("cc")?;
    let path = testkit::compile(&cc, folder, name, &format!("{head}{main} }}"), &["-w"]);
    Some(path.to_str().unwrap().to_owned())
}

/// States of the variants that keep ASLR, by `--only relr,bundle`.
fn found(program: &str, options: &[&str]) -> Value {
    let words = ["optimize", "--json", "--runs", "10", "--only", "relr,bundle"];
    json(&[&words[..], options, &["--", program]].concat())
}

fn states(found: &Value) -> Vec<&str> {
    let variants = found["variants"].as_array().unwrap().iter();
    let others = variants.filter(|variant| variant["name"] != "default");
    others.map(|variant| variant["state"].as_str().unwrap()).collect()
}

#[test]
fn output_that_cannot_be_compared_lets_nothing_win() {
    let folder = tempfile::tempdir().unwrap();
    let body = "for (int i = 0; i < 16; i++) fprintf(stderr, \"%s \", word());\n\
        fprintf(stderr, \"\\n\"); return 1;";
    let Some(program) = built(folder.path(), "coin", body) else { return };
    let uncompared = found(&program, &["-i"]);
    assert_eq!(uncompared["best"], "default", "{uncompared:#}");
    assert_eq!(states(&uncompared), ["declined", "declined"], "{uncompared:#}");
    let reason = uncompared["variants"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("stderr") && reason.contains("--check"), "{reason}");
    let notes = uncompared["notes"].to_string();
    assert!(notes.contains("none is offered"), "{notes}");
    let check = "sh -c '$HEADSTART_PROGRAM; test $? = 1'";
    let tested = found(&program, &["-i", "--check", check]);
    assert_eq!(states(&tested), ["verified", "verified"], "{tested:#}");
}

#[test]
fn programs_that_fail_in_the_same_way_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let bodies = [
        ("quiet", "return 1;"),
        ("process", "printf(\"process %d at %p\\n\", getpid(), (void *)&words); return 2;"),
        ("killed", "puts(\"before\"); fflush(stdout); raise(11); return 0;"),
    ];
    for (name, body) in bodies {
        let Some(program) = built(folder.path(), name, body) else { return };
        let found = found(&program, &["-i"]);
        assert_eq!(states(&found), ["verified", "verified"], "{name}: {found:#}");
        let refused = run(&["optimize", "--runs", "3", "--", &program]);
        assert_eq!(refused.status.code(), Some(4), "{name}: {}", stderr(&refused));
    }
}

#[test]
fn what_the_loader_cannot_start_is_refused_with_i_too() {
    let folder = tempfile::tempdir().unwrap();
    // The symbol is looked for at its first call, which no static look finds missing.
    let Some(cc) = testkit::tool("cc") else { return };
    let library = |source: &str| {
        let flags = ["-shared", "-fPIC", "-Wl,-soname,libl.so"];
        testkit::compile(&cc, folder.path(), "libl.so", source, &flags);
    };
    library("int nowhere(void) { return 0; }");
    let source = "int nowhere(void); int main(void) { return nowhere(); }";
    let flags = ["-L.", "-ll", "-Wl,-z,lazy,--no-as-needed,-rpath,$ORIGIN"];
    let program = testkit::compile(&cc, folder.path(), "lacking", source, &flags);
    library("int elsewhere(void) { return 0; }");
    let refused = run(&["optimize", "-i", "--runs", "3", "--", program.to_str().unwrap()]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("symbol lookup error") && said.contains("loader cannot"), "{said}");
}

/// The user's test may do anything to the variant: that is no reason to end.
#[test]
fn a_check_that_removes_the_variant_fails_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path(), "steady", "return 0;") else { return };
    let check = "sh -c 'test $HEADSTART_VARIANT = default || rm -f $HEADSTART_PROGRAM'";
    let tested = found(&program, &["--check", check]);
    assert_eq!(states(&tested), ["failed", "failed"], "{tested:#}");
    assert_eq!(tested["best"], "default", "{tested:#}");
    let reason = tested["variants"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("after --check") && reason.contains("does not exist"), "{reason}");
    // One that is gone only when it is measured.
    let count = folder.path().join("count");
    let body = format!(
        "char own[999] = {{0}}; FILE *count; readlink(\"/proc/self/exe\", own, 998);\n\
         if (!strstr(own, \"headstart-optimize\")) return 0;\n\
         count = fopen(\"{}\", \"a\"); fputs(\"x\", count);\n\
         if (ftell(count) > 20) unlink(own); return 0;",
        count.display()
    );
    let Some(program) = built(folder.path(), "vanishing", &body) else { return };
    let only = ["optimize", "--json", "--runs", "40", "--only", "relr", "--", &program];
    let tested = json(&only);
    assert_eq!(states(&tested), ["failed"], "{tested:#}");
    let reason = tested["variants"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("while it was measured"), "{reason}");
}

/// Whatever the limit, what is wrong is said, and what to do.
#[test]
fn a_limit_on_open_files_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path(), "steady", "return 0;") else { return };
    for limit in 5..24 {
        for verb in ["measure -r 10", "optimize --runs 10 --only relr,bundle --", "explain"] {
            let line = format!("ulimit -n {limit}; exec \"$0\" {verb} \"$1\"");
            let headstart = env!("CARGO_BIN_EXE_headstart");
            let mut shell = std::process::Command::new("sh");
            let output = shell.args(["-c", &line, headstart, &program]).output().unwrap();
            let said = stderr(&output);
            assert!(
                output.status.success() || said.contains("ulimit -n"),
                "{verb} with {limit}: {said}"
            );
        }
    }
}
