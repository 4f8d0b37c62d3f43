//! What a sealed bundle carries, where the command that makes it again fails or is killed.

use crate::common::{stderr, stdout};
use crate::killed::{at_every_call, injected};
use crate::place::Place;
use crate::sealed::{built, text};
use crate::stage::{command, headstart, names, run};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use testkit::WhenFree;

/// A sealed bundle in `out`, of a program that opens a plug-in.
struct Carrying {
    place: Place,
    out: String,
    program: String,
    plug: String,
    deep: String,
}

impl Carrying {
    fn new() -> Option<Carrying> {
        let place = built()?;
        let [out, program, plug, deep] =
            ["out", "tree/program", "tree/plugins/plug.so", "tree/lib/libdeep.so.1"]
                .map(|name| text(&place.path(name)));
        Some(Carrying { place, out, program, plug, deep })
    }

    /// The words that make it, so that it carries this.
    fn words<'a>(&'a self, include: &'a str) -> [&'a str; 7] {
        ["bundle", "--sealed", "--out", &self.out, "--include", include, &self.program]
    }

    fn make(&self, include: &str) {
        let made = run(&self.words(include));
        assert!(made.status.success(), "{}", stderr(&made));
    }

    /// The bundle that is there has all that it carries.
    fn is_whole(&self, moment: &str) {
        let told = run(&["verify", &self.out]);
        assert!(told.status.success(), "{moment}: {}", stdout(&told));
        let output = command(&self.place.path("out/run")).output_when_free();
        assert_eq!(stdout(&output), "own\n", "{moment}");
    }

    /// What is there besides the bundle's own three files.
    fn folders(&self) -> Vec<String> {
        let mut names = names(&self.place.path("out"));
        names.retain(|name| !["headstart.json", "run", "symbols.gdb"].contains(&name.as_str()));
        names
    }
}

/// The new `run` has its name already, and needs the new libraries.
#[test]
fn an_error_at_any_call_leaves_a_whole_bundle() {
    let Some(carrying) = Carrying::new() else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let mut of_new = 0;
    for call in ["linkat", "rename", "renameat2", "fsync", "unlink"] {
        let mut successes = 0;
        let mut time = 0;
        while successes < 2 {
            time += 1;
            assert!(time < 40, "{call} does not end");
            carrying.make(&carrying.plug);
            let before = fs::read(carrying.place.path("out/run")).unwrap();
            let output =
                injected(&strace, (call, "error=ENOSPC", time), &carrying.words(&carrying.deep));
            carrying.is_whole(&format!("{call} {time}: {}", stderr(&output)));
            let is_new = fs::read(carrying.place.path("out/run")).unwrap() != before;
            of_new += usize::from(is_new && !output.status.success());
            successes = if output.status.success() { successes + 1 } else { 0 };
        }
    }
    assert!(of_new > 0, "no error came after the new name");
}

/// Killed at any moment, it leaves no folder of libraries that nobody removes.
#[test]
fn what_a_killed_command_leaves_is_removed() {
    let Some(carrying) = Carrying::new() else { return };
    carrying.make(&carrying.plug);
    let with = carrying.folders();
    assert_eq!(with.len(), 1);
    at_every_call(&carrying.words(&carrying.deep), &|moment| {
        carrying.is_whole(&format!("{moment:?}"));
        carrying.make(&carrying.plug);
        assert_eq!(carrying.folders(), with, "{moment:?}");
    });
    // Also where the next one carries nothing.
    at_every_call(&carrying.words(&carrying.deep), &|moment| {
        let made = run(&["bundle", "--out", &carrying.out, &carrying.program]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert_eq!(carrying.folders(), Vec::<String>::new(), "{moment:?}");
    });
    // A folder with anything else in it stays.
    carrying.make(&carrying.plug);
    let theirs = carrying.place.path("out/lib-0123456789ab");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("notes"), "of the user").unwrap();
    carrying.make(&carrying.deep);
    assert!(carrying.folders().contains(&"lib-0123456789ab".to_owned()));
    assert_eq!(fs::read(theirs.join("notes")).unwrap(), b"of the user");
}

/// So it is where plug-ins are merged; what they were merged into can always be made again.
#[test]
fn what_a_killed_command_leaves_of_plug_ins_is_removed() {
    let Some(carrying) = Carrying::new() else { return };
    let Carrying { out, program, plug, deep, .. } = &carrying;
    let one = ["bundle", "--out", out, "--include", deep, program];
    let make = |words: &[&str]| {
        let made = run(words);
        assert!(made.status.success(), "{}", stderr(&made));
        carrying.folders()
    };
    let both = || make(&["bundle", "--out", out, "--include", plug, "--include", deep, program]);
    let with = both();
    assert_eq!(with.len(), 1);
    let merged = || names(&carrying.place.path("out").join(&with[0])).len();
    assert_eq!(merged(), 2);
    let killed = at_every_call(&one, &|moment| {
        carrying.is_whole(&format!("{moment:?}"));
        assert_eq!((both(), merged()), (with.clone(), 2), "{moment:?}");
    });
    let wanted = ["mkdir", "rename", "unlinkat"];
    assert!(killed.is_empty() || wanted.iter().all(|call| killed.contains(call)), "{killed:?}");
    // Also where the next one has none, or others.
    for (step, next) in [&["bundle", "--out", out, program][..], &one].into_iter().enumerate() {
        let after = make(next);
        assert_eq!(after.len(), step);
        both();
        at_every_call(next, &|moment| assert_eq!(make(next), after, "{moment:?}"));
    }
}

/// The loader looks at what is in the merged file, and the bundle then opens the original.
#[test]
fn a_merged_file_that_is_no_library_is_told_and_not_used() {
    let Some(carrying) = Carrying::new() else { return };
    let Carrying { place, out, program, plug, .. } = &carrying;
    assert!(run(&["bundle", "--out", out, "--include", plug, program]).status.success());
    let [with] = carrying.folders().try_into().unwrap();
    let with = place.path("out").join(with);
    for file in names(&with) {
        fs::write(with.join(file), "junk").unwrap();
    }
    let told = run(&["verify", out]);
    assert_eq!(told.status.code(), Some(1), "{}", stdout(&told));
    let said = stdout(&told).split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "run starts the merged code; it opens the merged files of plug-ins as they are \
                    now, and the original of a plug-in of which that fails";
    assert!(said.contains(sentence), "{said}");
    let output = |start: &Path| stdout(&command(start).arg(plug).output_when_free());
    assert_eq!(output(&place.path("out/run")), output(Path::new(program)));
}

/// Also beside a bundle, where the next one is made to be launched.
#[test]
fn what_is_left_beside_a_bundle_does_not_stay() {
    let Some(carrying) = Carrying::new() else { return };
    carrying.make(&carrying.plug);
    let [with] = carrying.folders().try_into().unwrap();
    let beside = carrying.place.path("out/.headstart.next");
    let copied = beside.join(&with);
    fs::create_dir_all(&copied).unwrap();
    for name in names(&carrying.place.path("out").join(&with)) {
        fs::copy(carrying.place.path("out").join(&with).join(&name), copied.join(&name)).unwrap();
    }
    fs::create_dir(beside.join(".lib.next")).unwrap();
    carrying.make(&carrying.plug);
    assert_eq!(carrying.folders(), [with]);
}

/// The loader looks there first, for everything.
#[test]
fn what_was_put_beside_the_copies_is_told() {
    let Some(carrying) = Carrying::new() else { return };
    carrying.make(&carrying.plug);
    let [with] = carrying.folders().try_into().unwrap();
    let theirs = carrying.place.path("out").join(&with).join("libm.so.6");
    fs::write(&theirs, "another").unwrap();
    let told = run(&["verify", "--json", &carrying.out]);
    assert_eq!(told.status.code(), Some(1), "{}", stdout(&told));
    let found: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(found["current"], false);
    assert_eq!(found["changes"][0]["path"], text(&theirs), "{found}");
    assert!(found["remedy"].as_str().unwrap().contains("lib-"), "{found}");
    let made = run(&carrying.words(&carrying.plug));
    assert!(!made.status.success() && stderr(&made).contains(&with), "{}", stderr(&made));
    fs::remove_file(theirs).unwrap();
    carrying.is_whole("as before");
}

fn plug_in(place: &Place, name: &str, flags: &[&str]) -> String {
    let source = "const char *plug(void) { return \"plugged\"; }";
    text(&place.built(name, source, &[&["-shared", "-fPIC"], flags].concat()))
}

#[test]
fn a_copy_has_every_name_or_there_is_none() {
    let Some(carrying) = Carrying::new() else { return };
    let long = format!("{}.so", "l".repeat(220));
    let long = plug_in(&carrying.place, &long, &["-Wl,-soname,short.so"]);
    let made = run(&carrying.words(&long));
    assert_eq!(made.status.code(), Some(1));
    assert!(stderr(&made).contains("too long"), "{}", stderr(&made));
    assert!(!carrying.place.path("out").exists());
    // A name that is not UTF-8.
    let plain = plug_in(&carrying.place, "odd.so", &["-Wl,-soname,soname.so"]);
    let odd = carrying.place.folder.path().join(OsStr::from_bytes(b"odd\xff.so"));
    fs::rename(plain, &odd).unwrap();
    let [words @ .., _, program] = carrying.words("");
    let made = headstart(&words).arg(&odd).arg(program).output_when_free();
    assert!(made.status.success(), "{}", stderr(&made));
    carrying.is_whole("odd");
    let [with] = carrying.folders().try_into().unwrap();
    let copy = carrying.place.path("out").join(with).join(odd.file_name().unwrap());
    assert!(copy.exists(), "{copy:?}");
    carrying.make(&carrying.plug);
    assert_eq!(carrying.folders().len(), 1);
}

/// What is said of a bundle, in one line.
fn said(words: &[&str]) -> String {
    let made = run(words);
    assert!(made.status.success(), "{}", stderr(&made));
    stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_needed_and_not_carried_is_told() {
    let Some(carrying) = Carrying::new() else { return };
    let place = &carrying.place;
    let source = "#include <math.h>\ndouble root(double of) { return cbrt(of); }";
    let flags = ["-shared", "-fPIC", "-fno-builtin", "-Wl,-soname,libroot.so.1", "-lm"];
    place.built("libroot.so.1", source, &[&flags[..], &["-Wl,--no-as-needed"]].concat());
    let source = "double root(double of); int main(void) { return root(27.0) != 3.0; }";
    let program = text(&place.built("roots", source, &["libroot.so.1", "-Wl,-rpath,$ORIGIN"]));
    let words = ["bundle", "--sealed", "--outside", "libroot", "--out", &carrying.out, &program];
    let said = said(&words);
    let sentence = "libm.so.6 is needed, and is not carried: it comes with the C library.";
    assert!(said.contains(sentence), "{said}");
    assert!(!said.contains("libc.so.6 is needed"), "{said}");
}

#[test]
fn only_the_c_librarys_own_files_are_taken_for_it() {
    let Some(carrying) = Carrying::new() else { return };
    let theirs = plug_in(&carrying.place, "libutil.so.3", &["-Wl,-soname,libutil.so.3"]);
    let said = said(&carrying.words(&theirs));
    assert!(!said.contains("not carried: it comes"), "{said}");
    let [with] = carrying.folders().try_into().unwrap();
    assert!(carrying.place.path("out").join(with).join("libutil.so.3").exists());
}

#[test]
fn libraries_of_one_name_are_told() {
    let Some(carrying) = Carrying::new() else { return };
    let [first, second] = ["first.so", "second.so"]
        .map(|name| plug_in(&carrying.place, name, &["-Wl,-soname,plugin.so"]));
    let [words @ .., program] = carrying.words(&first);
    let said = said(&[&words[..], &["--include", &second, program]].concat());
    let sentence = format!(
        "{second} and {first} have the same name, plugin.so (DT_SONAME), by which the latter is found."
    );
    assert!(said.contains(&sentence), "{said}");
}
