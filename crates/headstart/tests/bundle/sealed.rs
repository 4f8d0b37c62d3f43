//! Bundles that run where their program and its libraries are not.

use crate::common::{stderr, stdout};
use crate::place::Place;
use crate::stage::run;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use testkit::WhenFree;

const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
const char *own(void);
static const char *call(const char *name) {
    void *library = dlopen(name, RTLD_NOW);
    const char *(*plug)(void) = library ? (const char *(*)(void))dlsym(library, "plug") : 0;
    return plug ? plug() : dlerror();
}
int main(int count, char **words) {
    printf("%s", own());
    for (int i = 1; i < count; i++)
        printf(", %s", call(words[i]));
    puts("");
    return 0;
}
"#;

/// `tree/program` with `tree/lib/libown.so.1`; plug-ins that need `tree/lib/libdeep.so.1` and the merged library.
pub fn built() -> Option<Place> {
    let place = Place::new()?;
    for folder in ["tree/lib", "tree/plugins"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let shared = |soname: &str| format!("-Wl,-soname,{soname}");
    let library = |path: &str, soname: &str, source: &str, more: &[&str]| {
        let named = shared(soname);
        place.built(path, source, &[&["-shared", "-fPIC", &named][..], more].concat());
    };
    library(
        "tree/lib/libown.so.1",
        "libown.so.1",
        "const char *own(void) { return \"own\"; }",
        &[],
    );
    library(
        "tree/lib/libdeep.so.1",
        "libdeep.so.1",
        "const char *deep(void) { return \"deep\"; }",
        &[],
    );
    let rpath = "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib";
    let plug = "const char *own(void), *deep(void);
        const char *plug(void) { return own()[0] == 'o' ? deep() : 0; }";
    let needed = ["tree/lib/libown.so.1", "tree/lib/libdeep.so.1", rpath];
    library("tree/plugins/plug.so", "plug.so", plug, &needed);
    place.built("tree/program", PROGRAM, &["tree/lib/libown.so.1", "-Wl,-rpath,$ORIGIN/lib"]);
    Some(place)
}

fn without_originals(place: &Place, words: &[&str]) -> Option<Output> {
    let unshare = testkit::tool("unshare")?;
    let script = "mount -t tmpfs none \"$1/tree\" && unset LD_LIBRARY_PATH && shift && exec \"$@\"";
    let mut command = Command::new(unshare);
    command.args(["-m", "sh", "-c", script, "sh"]).arg(place.folder.path()).args(words);
    let output = command.output_when_free();
    if stderr(&output).contains("not permitted") {
        testkit::skip("needs root: mounting");
        return None;
    }
    Some(output)
}

pub fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn what_it_was_told_to_carry_is_found_and_nothing_else_is_needed() {
    let Some(place) = built() else { return };
    let plug = text(&place.path("tree/plugins/plug.so"));
    for how in [&["--include", &plug][..], &["--learn"]] {
        let (out, program) = (text(&place.path("out")), text(&place.path("tree/program")));
        let learns = how == ["--learn"];
        let words = [&["bundle", "--sealed", "--out", &out], how, &["--", &program]].concat();
        let words = if learns { [&words[..], &[&plug]].concat() } else { words };
        let made = run(&words);
        assert!(made.status.success(), "{}", stderr(&made));
        let start = text(&place.path("out/run"));
        let Some(output) = without_originals(&place, &[&start, &plug, "plug.so"]) else { return };
        assert_eq!(stdout(&output), "own, deep, deep\n", "{how:?} {}", stderr(&output));
        // Where it cannot find its folder it takes what it is a copy of.
        let script = "umount -l /proc && exec \"$@\"";
        let words = ["-m", "sh", "-c", script, "sh", &start, &plug];
        let mut command = Command::new(testkit::tool("unshare").unwrap());
        let output = command.env_remove("LD_LIBRARY_PATH").args(words).output_when_free();
        assert_eq!(stdout(&output), "own, deep\n", "{how:?} {}", stderr(&output));
        let headstart = env!("CARGO_BIN_EXE_headstart");
        let verify = without_originals(&place, &[headstart, "verify", "--json", &out]).unwrap();
        let found: serde_json::Value = serde_json::from_slice(&verify.stdout).unwrap();
        assert_eq!((&found["used"], &found["current"]), (&true.into(), &true.into()), "{found}");
        let manifest = fs::read(place.path("out/headstart.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let carried = manifest["carried"].as_array().unwrap();
        let from: Vec<&str> = carried.iter().map(|file| file["from"].as_str().unwrap()).collect();
        let has = |name: &str| from.iter().any(|from| from.ends_with(name));
        assert!(has("libdeep.so.1") && has("plug.so") && !has("libown.so.1"), "{manifest}");
    }
}

#[test]
fn a_launch_to_learn_from_that_fails_is_told() {
    let Some(place) = built() else { return };
    let (out, program) = (text(&place.path("out")), text(&place.path("tree/failing")));
    place.built("tree/failing", "int main(int count, char **words) { return count; }", &[]);
    let made = run(&["bundle", "--sealed", "--out", &out, "--learn", "--", &program, "x", "y"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let said = stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The launch to learn from ended with exit code 3, so"), "{said}");
}

/// Files are replaced with the bundle, and nothing stays of those that it no longer carries.
#[test]
fn made_again_it_carries_what_it_is_told_now() {
    let Some(place) = built() else { return };
    let (out, program) = (text(&place.path("out")), text(&place.path("tree/program")));
    let plug = text(&place.path("tree/plugins/plug.so"));
    let folders = || {
        let entries = fs::read_dir(place.path("out")).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("lib-") || name.starts_with(".lib-"));
        names
    };
    let bundle = |more: &[&str]| {
        let made = run(&[&["bundle", "--sealed", "--out", &out], more, &[&program]].concat());
        assert!(made.status.success(), "{}", stderr(&made));
        folders()
    };
    let with = bundle(&["--include", &plug]);
    assert_eq!(with.len(), 1);
    assert_eq!(bundle(&["--include", &plug]), with);
    assert_eq!(bundle(&[]), Vec::<String>::new());
    assert_eq!(bundle(&["--include", &plug]), with);
    // What is not as it was left is not replaced, and verify says so.
    fs::write(place.path("out").join(&with[0]).join("plug.so"), "another").unwrap();
    let told = run(&["verify", &out]);
    assert_eq!(told.status.code(), Some(1));
    assert!(stdout(&told).contains("plug.so"), "{}", stdout(&told));
    let made = run(&["bundle", "--sealed", "--out", &out, "--include", &plug, &program]);
    assert!(!made.status.success() && stderr(&made).contains(&with[0]), "{}", stderr(&made));
}

/// A call of a plug-in without a version means the definition, not the stub by which a program that cannot
/// move knows the function's address.
#[test]
fn a_plug_in_calls_a_function_whose_address_the_program_takes() {
    let Some(place) = Place::new() else { return };
    place.file("versions", b"OLD_1 { global: old; }; NEW_2 { global: own; };");
    let source =
        "const char *old(void) { return \"old\"; } const char *own(void) { return \"own\"; }";
    let script = format!("-Wl,--version-script={}", text(&place.path("versions")));
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libown.so.1", &script];
    place.built("libown.so.1", source, &flags);
    let plug = "const char *own(void); const char *plug(void) { return own(); }";
    place.built("plug.so", plug, &["-shared", "-fPIC"]);
    stub_is_passed_over(&place);
}

/// A program that takes the address of a function of `libown.so.1` and a plug-in that calls it, as a bundle.
fn stub_is_passed_over(place: &Place) {
    let takes = "const char *(*volatile taken)(void);
        __attribute__((constructor)) static void take(void) { taken = own; }";
    let source = format!("{PROGRAM}\n{takes}");
    let flags = ["-no-pie", "-fno-pie", "libown.so.1", "-Wl,-rpath,$ORIGIN"];
    let program = place.built("program", &source, &flags);
    let (out, plug) = (text(&place.path("out")), text(&place.path("plug.so")));
    let made = run(&["bundle", "--fixed", "--out", &out, &text(&program)]);
    assert!(made.status.success(), "{}", stderr(&made));
    for start in [program, place.path("out/run")] {
        let output = crate::stage::command(&start).arg(&plug).output_when_free();
        assert_eq!(stdout(&output), "own, own\n", "{}", stderr(&output));
    }
}

/// What it carries has no names that lead elsewhere, and finds what is carried for it.
#[test]
fn names_and_search_paths_of_what_is_carried_lead_nowhere_else() {
    let Some(place) = Place::new() else { return };
    fs::create_dir(place.path("deep")).unwrap();
    let kept = place.file("kept", b"of the user");
    let shared = ["-shared", "-fPIC"];
    let deep = "const char *deep(void) { return \"deep\"; }";
    place.built("deep/libdeep.so.1", deep, &[&shared[..], &["-Wl,-soname,libdeep.so.1"]].concat());
    let plug = "const char *deep(void); const char *plug(void) { return deep(); }";
    let runpath = format!("-Wl,--enable-new-dtags,-rpath,{}", text(&place.path("deep")));
    let needs = ["deep/libdeep.so.1", &runpath, "-Wl,-soname,plugin.so"];
    let first = text(&place.built("first.so", plug, &[&shared[..], &needs].concat()));
    let plug = "const char *plug(void) { return \"second\"; }";
    let named = |name: &str| format!("-Wl,-soname,{name}");
    let name = named("plugin.so");
    let second = [&shared[..], &[&name]].concat();
    let second = text(&place.built("second.so", plug, &second));
    let source = format!("const char *own(void) {{ return \"own\"; }}\n{PROGRAM}");
    let program = text(&place.built("program", &source, &[]));
    let out = text(&place.path("out"));
    let bundle =
        |include: &str| run(&["bundle", "--sealed", "--out", &out, "--include", include, &program]);
    assert!(bundle(&first).status.success());
    fs::rename(place.path("deep"), place.path("moved")).unwrap();
    // The library of the same DT_SONAME, which is not carried, is another one.
    let mut start = crate::stage::command(&place.path("out/run"));
    let output = start.args([&second, &first]).output_when_free();
    assert_eq!(stdout(&output), "own, second, deep\n", "{}", stderr(&output));
    for name in ["../run", &text(&kept), "..", ".", "/etc/passwd"] {
        let flag = named(name);
        let odd = text(&place.built("odd.so", plug, &[&shared[..], &[&flag]].concat()));
        let made = bundle(&odd);
        assert_eq!(made.status.code(), Some(1), "{name}: {}", stderr(&made));
        assert!(place.path("out/run").exists(), "{name}");
        assert_eq!(fs::read(&kept).unwrap(), b"of the user", "{name}");
    }
    // Neither a manifest nor a link leads out of the folder.
    let manifest = place.path("out/headstart.json");
    let whole = fs::read_to_string(&manifest).unwrap();
    let at = whole.find("\"path\": \"lib-").unwrap() + 9;
    let end = at + whole[at..].find('"').unwrap();
    let edited = format!("{}{}{}", &whole[..at], text(&kept), &whole[end..]);
    fs::write(&manifest, edited).unwrap();
    let told = run(&["verify", &out]);
    assert!(!told.status.success() && stderr(&told).contains("no file of a bundle"), "{told:?}");
    assert!(!bundle(&second).status.success());
    fs::write(&manifest, &whole).unwrap();
    let folder = place.path("out").join(whole[at..end].split('/').next().unwrap());
    fs::rename(&folder, place.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere"), &folder).unwrap();
    let before = fs::read_dir(place.path("elsewhere")).unwrap().count();
    assert!(bundle(&second).status.success());
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), before);
}

/// Without a version script, the definition has no version either.
#[test]
fn a_plug_in_calls_such_a_function_without_versions() {
    let Some(place) = Place::new() else { return };
    let source = "const char *own(void) { return \"own\"; }";
    place.built("libown.so.1", source, &["-shared", "-fPIC", "-Wl,-soname,libown.so.1"]);
    let plug = "const char *own(void); const char *plug(void) { return own(); }";
    place.built("plug.so", plug, &["-shared", "-fPIC"]);
    stub_is_passed_over(&place);
}
