//! `headstart elf relr` and `headstart elf no-pie` as commands: output, undo, and being killed.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::WhenFree;

const SOURCE: &str = "#include <stdio.h>\nconst char *words[] = {\"here\", \"there\"};\n\
    int main(int count, char **all) { (void)all; return puts(words[count - 1]) < 0; }";

fn built(folder: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    Some(testkit::compile(&cc, folder, "program", SOURCE, &["-pie", "-fPIE"]))
}

fn says_here(program: &Path) -> bool {
    Command::new(program).output_when_free().stdout == b"here\n"
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_copy_is_written_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let out = folder.path().join("packed");
    let found = json(&["elf", "relr", "--json", "--out", &text(&out), &text(&program)]);
    assert!(found["packed"].as_u64().unwrap() >= 4 && found["schema"] == 1, "{found}");
    assert!(found["table_bytes_after"].as_u64() < found["table_bytes_before"].as_u64());
    assert!(says_here(&out));
    let again = run(&["elf", "relr", "--out", &text(&out), &text(&program)]);
    assert!(stderr(&again).contains("exists already") && again.status.code() == Some(6));
    let fixed = folder.path().join("fixed");
    let base = ["elf", "no-pie", "--base", "0x2000000000", "--out", &text(&fixed), &text(&program)];
    let said = stdout(&run(&base));
    assert!(
        said.contains("Fixed at 0x2000000000") && said.contains("no longer has ASLR"),
        "{said}"
    );
    assert!(says_here(&fixed));
    let declined = run(&["elf", "no-pie", "--in-place", &text(&fixed)]);
    let said = stderr(&declined);
    assert!(said.contains("is not rewritten: its addresses are already fixed"), "{said}");
    assert_eq!(declined.status.code(), Some(1));
    for words in [
        vec!["elf", "relr", "/bin/sh"],
        vec!["elf", "no-pie", "--base", "xyz", "--undo", "/bin/sh"],
    ] {
        assert_eq!(run(&words).status.code(), Some(2), "{words:?}");
    }
    let other = run(&["elf", "relr", "--out", "/tmp/never-written", "/etc/passwd"]);
    assert!(other.status.code() == Some(1) && stderr(&other).contains("/etc/passwd"), "{other:?}");
    for path in ["/no/such/file", "/"] {
        let output = run(&["elf", "relr", "--out", "/tmp/never-written", path]);
        assert!(output.status.code() == Some(6) && stderr(&output).contains(path), "{output:?}");
    }
}

#[test]
fn bases_differ_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let base = |name: &str| {
        let out = folder.path().join(name).display().to_string();
        json(&["elf", "no-pie", "--json", "--out", &out, program.to_str().unwrap()])["base"].clone()
    };
    assert_ne!(base("one"), base("two"));
}

#[test]
fn in_place_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let path = program.to_str().unwrap();
    let (old, time) = (fs::read(&program).unwrap(), modified(&program));
    for verb in ["relr", "no-pie"] {
        let done = stdout(&run(&["elf", verb, "--in-place", path]));
        assert!(done.contains("--undo restores it"), "{done}");
        assert!(says_here(&program) && fs::read(&program).unwrap() != old, "{verb}");
        let done = stdout(&run(&["elf", verb, "--undo", path]));
        assert!(done.contains("as it was before"), "{done}");
        assert_eq!((fs::read(&program).unwrap(), modified(&program)), (old.clone(), time));
        assert_eq!(names(folder.path()), ["program", "program.c"]);
    }
    let nothing = run(&["elf", "relr", "--undo", path]);
    assert!(stderr(&nothing).contains("headstart-undo") && nothing.status.code() == Some(6));
}

/// The disk fails at each call in turn that makes sure that something is on it.
#[test]
fn a_broken_disk_is_told_of_and_whether_the_file_has_been_written() {
    let Some(strace) = testkit::tool("strace") else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let path = program.to_str().unwrap();
    let old = fs::read(&program).unwrap();
    assert!(run(&["elf", "relr", "--in-place", path]).status.success());
    let new = fs::read(&program).unwrap();
    for (verb, before) in [("--in-place", &old), ("--undo", &new)] {
        let mut written = 0;
        for time in 1.. {
            prepare(&program, before, verb, &old);
            let mut command = Command::new(&strace);
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e"]);
            command.arg(format!("inject=fsync:error=EIO:when={time}"));
            command.args([env!("CARGO_BIN_EXE_headstart"), "elf", "relr", verb, path]);
            let failed = command.output_when_free();
            if failed.status.success() {
                break;
            }
            let (said, present) = (stderr(&failed), fs::read(&program).unwrap());
            let is_written = said.contains("the file itself has been written");
            assert_eq!(is_written, present != *before, "{verb} {time}: {said}");
            assert_eq!(said.contains("nothing was changed"), !is_written, "{verb} {time}: {said}");
            written += usize::from(is_written);
        }
        assert!(written > 0, "{verb}");
    }
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// The command is killed before each of its system calls in turn that changes files.
#[test]
fn killed_at_any_moment_it_leaves_the_old_file_or_the_new_one() {
    let Some(strace) = testkit::tool("strace") else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built(folder.path()) else { return };
    let path = program.to_str().unwrap();
    let old = fs::read(&program).unwrap();
    assert!(run(&["elf", "relr", "--in-place", path]).status.success());
    let new = fs::read(&program).unwrap();
    for (verb, before) in [("--in-place", &old), ("--undo", &new)] {
        let mut kills = Vec::new();
        for call in ["write", "fchmod", "fsync", "linkat", "unlinkat", "renameat2", "utimensat"] {
            for time in 1.. {
                let moment = format!("{call}:signal=SIGKILL:when={time}");
                prepare(&program, before, verb, &old);
                let mut command = Command::new(&strace);
                command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
                command.args(["-e", &format!("inject={moment}")]);
                command.args([env!("CARGO_BIN_EXE_headstart"), "elf", "relr", verb, path]);
                let status = command.output_when_free().status;
                whole(folder.path(), &old, &new, &moment);
                if status.success() {
                    break;
                }
                kills.push(call);
                assert!(kills.len() < 50, "{verb} {moment} does not end");
                // Whatever was left, the same command still works, unless it was done already.
                if fs::read(&program).unwrap() == *before {
                    let again = run(&["elf", "relr", verb, path]);
                    assert!(again.status.success(), "{verb} {moment}: {}", stderr(&again));
                }
                assert!(says_here(&program));
            }
        }
        let needed = ["write", "fsync", "linkat", "unlinkat", "renameat2"];
        assert!(needed.iter().all(|call| kills.contains(call)), "{verb}: {kills:?}");
    }
}

/// The file as it is before `verb`, with what a former command left.
fn prepare(program: &Path, before: &[u8], verb: &str, old: &[u8]) {
    let path = program.to_str().unwrap();
    let undo = program.with_file_name("program.headstart-undo");
    let _ = fs::remove_file(&undo);
    let present = fs::read(program).unwrap();
    if present != old {
        replace(program, old);
    }
    if verb == "--undo" {
        assert!(run(&["elf", "relr", "--in-place", path]).status.success());
    }
    assert_eq!(fs::read(program).unwrap(), before);
    fs::write(program.with_file_name(".program.headstart-new"), old).unwrap();
}

fn replace(program: &Path, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    fs::remove_file(program).unwrap();
    fs::write(program, bytes).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file in the folder is whole.
fn whole(folder: &Path, old: &[u8], new: &[u8], moment: &str) {
    for name in names(folder) {
        let bytes = fs::read(folder.join(&name)).unwrap();
        match name.as_str() {
            "program.c" => {}
            "program.headstart-undo" => assert!(bytes.len() > 100, "{moment}"),
            // Between the last two steps the new file has a name of its own.
            "program" | ".program.headstart-new" => {
                assert!(bytes == old || bytes == new, "{moment}")
            }
            other => panic!("{other} was left at {moment}"),
        }
    }
}

/// A library beside the program, which finds it along $ORIGIN.
fn with_library(folder: &Path, source: &str) -> Option<PathBuf> {
    with_libraries(folder, source, "")
}

/// The same with more in one of the libraries.
fn with_libraries(folder: &Path, source: &str, more: &str) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    fs::create_dir_all(folder.join("lib")).unwrap();
    let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let all = |form: &dyn Fn(&String) -> String| names.iter().map(form).collect::<String>();
    let library = all(&|name| format!("const char *{name}(void) {{ return \"found\"; }}\n"));
    let own = format!("const char *(*own[])(void) = {{ {} }};\n", names.join(", "));
    let idle = ["-shared", "-fPIC", "-Wl,-soname,libidle.so"];
    testkit::compile(&cc, folder, "lib/libidle.so", "int idle;", &idle);
    let busy = ["-shared", "-fPIC", "-Wl,-soname,libbusy.so"];
    testkit::compile(&cc, folder, "lib/libbusy.so", &(library + &own + more), &busy);
    let declared = all(&|name| format!("const char *{name}(void);\n"));
    let all = format!("const char *(*all[])(void) = {{ {} }};\n", names.join(", "));
    let source = format!("#include <stdio.h>\n{declared}{all}{source}");
    let flags = ["-Wl,--no-as-needed", "-Llib", "-lidle", "-lbusy", "-Wl,-rpath,$ORIGIN/lib"];
    Some(testkit::compile(&cc, folder, "program", &source, &flags))
}

const FINDS: &str = "int main(void) { return puts(all[3]()) < 0; }";
const ASKS: &str = "#include <unistd.h>\nint main(void) { char own[99]; \
    return readlink(\"/proc/self/exe\", own, 99) < 0 || puts(all[3]()) < 0; }";

/// Where the copy of a program is after a verb has written `out`.
fn copy_of(verb: &str, out: &Path) -> PathBuf {
    if verb == "selfbind" { out.join("run") } else { out.to_owned() }
}

#[test]
fn a_copy_in_another_folder_finds_its_libraries_and_tells_what_it_may_not_find() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = with_library(folder.path(), FINDS) else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    for verb in ["relr", "no-pie", "order-needed", "selfbind"] {
        let out = elsewhere.path().join(verb);
        let told = json(&["elf", verb, "--json", "--out", text(&out), text(&program)]);
        assert_eq!(run_of(&copy_of(verb, &out)), b"found\n", "{verb}");
        let note = told["notes"][0].as_str().unwrap();
        assert!(!note.contains("asks where its own file is"), "{verb}: {note}");
        assert!(note.contains(text(elsewhere.path())), "{verb}: {note}");
    }
}

/// Its plain copy would not start there, and what it looks for beside itself would be missing.
#[test]
fn a_program_that_finds_libraries_and_asks_for_its_own_path_is_not_parted_from_them() {
    let asking = "static const char *where(void) { return \"/proc/self/exe\"; }\n\
        const char *(*volatile its_own)(void) = where;\n";
    // The program asks; a library that came with it does.
    for (source, library) in [(ASKS, ""), (FINDS, asking)] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = with_libraries(folder.path(), source, library) else { return };
        let elsewhere = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        for verb in ["relr", "no-pie", "order-needed"] {
            let out = elsewhere.path().join(verb);
            let told = run(&["elf", verb, "--out", text(&out), text(&program)]);
            let reason = stderr(&told);
            assert_eq!(told.status.code(), Some(1), "{verb}: {reason}");
            assert!(reason.contains("asks where its own file is (/proc/self/exe)"), "{reason}");
            assert!(!out.exists(), "{verb}");
            // What it advises works, and there is nothing to tell.
            let advice = real.join(verb);
            assert!(reason.contains(&format!("--out {}", advice.display())), "{reason}");
            let told = json(&["elf", verb, "--json", "--out", text(&advice), text(&program)]);
            assert_eq!(told["notes"], serde_json::json!([]), "{verb}");
            assert_eq!(run_of(&advice), b"found\n", "{verb}");
        }
        // These copies keep their libraries beside them.
        let out = elsewhere.path().join("selfbind");
        let told = json(&["elf", "selfbind", "--json", "--out", text(&out), text(&program)]);
        assert_eq!(run_of(&copy_of("selfbind", &out)), b"found\n");
        let note = told["notes"][0].as_str().unwrap();
        assert!(note.contains("asks where its own file is (/proc/self/exe)"), "{note}");
    }
}

/// The name that is advised is free, and can be typed.
#[test]
fn the_advice_for_such_a_program_can_be_followed() {
    let folder = tempfile::tempdir().unwrap();
    let spaced = folder.path().canonicalize().unwrap().join("it's a folder");
    fs::create_dir(&spaced).unwrap();
    let Some(program) = with_library(&spaced, ASKS) else { return };
    let out = folder.path().join("program");
    for beside in ["program-changed", "program-changed-2"] {
        let told = run(&["elf", "relr", "--out", text(&out), text(&program)]);
        let reason = stderr(&told);
        let (_, advice) = reason.split_once("(--out ").unwrap();
        let (advice, _) = advice.split_once("), or").unwrap();
        let headstart = env!("CARGO_BIN_EXE_headstart");
        let line = format!("{headstart} elf relr \"$0\" --out {advice}");
        let shell = Command::new("sh").args(["-c", &line, text(&program)]).output_when_free();
        assert!(shell.status.success(), "{line}: {}", stderr(&shell));
        assert_eq!(run_of(&spaced.join(beside)), b"found\n");
    }
}

/// What decides is what a plain copy would find, not how the search path is written.
#[test]
fn only_libraries_that_a_copy_would_not_find_tie_a_program_to_its_folder() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let library = "const char *own(void) { return \"/proc/self/exe\"; }";
    let source = "#include <stdio.h>\nconst char *own(void);\n\
        int main(void) { return puts(own()) < 0; }";
    let anywhere = format!("-Wl,-rpath,{}:$ORIGIN", text(&real));
    let named = "-Wl,-soname,$ORIGIN/libown.so";
    let cases = [
        ("anywhere", "-Wl,-soname,libown.so", anywhere.as_str(), true),
        ("by its path", named, "-Wl,--as-needed", false),
    ];
    for (name, soname, flag, allowed) in cases {
        testkit::compile(&cc, &real, "libown.so", library, &["-shared", "-fPIC", soname]);
        let program = testkit::compile(&cc, &real, "program", source, &["-L.", "-lown", flag]);
        assert_eq!(run_of(&program), b"/proc/self/exe\n", "{name}");
        let elsewhere = tempfile::tempdir().unwrap();
        let out = elsewhere.path().join("copy");
        let told = run(&["elf", "no-pie", "--out", text(&out), text(&program)]);
        assert_eq!(told.status.success(), allowed, "{name}: {}", stderr(&told));
        if allowed {
            assert_eq!(run_of(&out), b"/proc/self/exe\n", "{name}");
        } else {
            assert!(stderr(&told).contains("libown.so"), "{name}: {}", stderr(&told));
        }
    }
}

/// One that such a library finds in a folder of its own came along as well.
#[test]
fn libraries_of_libraries_tie_a_program_to_its_folder() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("lib/deep")).unwrap();
    let asks = "const char *own(void) { return \"/proc/self/exe\"; }";
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libown.so"];
    testkit::compile(&cc, folder.path(), "lib/deep/libown.so", asks, &shared);
    let middle = "const char *own(void);\nconst char *middle(void) { return own(); }";
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libmiddle.so", "-Llib/deep", "-lown"];
    let flags = [&shared[..], &["-Wl,-rpath,$ORIGIN/deep"]].concat();
    testkit::compile(&cc, folder.path(), "lib/libmiddle.so", middle, &flags);
    let source = "#include <stdio.h>\nconst char *middle(void);\n\
        int main(void) { return puts(middle()) < 0; }";
    let flags = ["-Llib", "-lmiddle", "-Wl,-rpath-link,lib/deep", "-Wl,-rpath,$ORIGIN/lib"];
    let program = testkit::compile(&cc, folder.path(), "program", source, &flags);
    assert_eq!(run_of(&program), b"/proc/self/exe\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let out = elsewhere.path().join("copy");
    let told = run(&["elf", "no-pie", "--out", text(&out), text(&program)]);
    assert_eq!(told.status.code(), Some(1), "{}", stderr(&told));
    assert!(stderr(&told).contains("libmiddle.so"), "{}", stderr(&told));
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run_of(program: &Path) -> Vec<u8> {
    let ran = Command::new(program).output_when_free();
    assert!(ran.status.success(), "{}", stderr(&ran));
    ran.stdout
}

/// What one change leaves behind in a file is no data that the program might read from it, and
/// addresses that one chooses are ones that the other takes.
#[test]
fn what_one_verb_writes_the_others_take() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = with_library(folder.path(), FINDS) else { return };
    let made = |name: &str| folder.path().join(name);
    let make = |words: &[&str], from: &Path, to: &Path| {
        let told = run(&[words, &["--out", text(to), text(from)]].concat());
        assert!(told.status.success(), "{words:?}: {}", stderr(&told));
    };
    make(&["elf", "relr"], &program, &made("relr"));
    make(&["elf", "order-needed"], &made("relr"), &made("ordered"));
    assert_eq!(run_of(&made("ordered")), b"found\n");
    make(&["bundle"], &made("relr"), &made("bundle"));
    assert_eq!(run_of(&made("bundle/run")), b"found\n");
    // Its address is another one each time.
    for time in 0..8 {
        let fixed = made(&format!("fixed-{time}"));
        make(&["elf", "no-pie"], &program, &fixed);
        let bundle = made(&format!("fixed-bundle-{time}"));
        make(&["bundle", "--fixed"], &fixed, &bundle);
        assert_eq!(run_of(&bundle.join("run")), b"found\n");
    }
}

/// Parts of a search path end at colons, and words that begin with a dollar sign are replaced.
#[test]
fn folders_that_no_search_path_can_name() {
    for (name, odd_byte) in [("a:b", ':'), ("$ORIGIN", '$'), ("${LIB}", '$')] {
        let folder = tempfile::tempdir().unwrap();
        let (odd, plain) = (folder.path().join(name), folder.path().join("plain"));
        fs::create_dir(&odd).unwrap();
        let Some(program) = with_library(&odd, FINDS) else { return };
        assert_eq!(Command::new(&program).output_when_free().stdout, b"found\n");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        for verb in ["relr", "no-pie", "order-needed", "selfbind"] {
            let out = text(&folder.path().join(verb));
            let told = run(&["elf", verb, "--out", &out, &text(&program)]);
            let words = format!("{} has a '{odd_byte}' in it", odd.display());
            assert!(stderr(&told).contains(&words), "{verb}: {}", stderr(&told));
            assert_eq!(told.status.code(), Some(1), "{verb}");
        }
        // Nor can private copies be there.
        let Some(program) = with_library(folder.path(), FINDS) else { return };
        let (out, program) = (text(&odd.join("out")), text(&program));
        let told = run(&["elf", "selfbind", "--out", &out, &program]);
        assert!(stderr(&told).contains("use a folder without it"), "{}", stderr(&told));
        assert!(!Path::new(&out).exists());
        assert!(run(&["elf", "selfbind", "--out", &text(&plain), &program]).status.success());
    }
}

#[test]
fn a_bundle_is_not_rewritten_and_its_original_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = with_library(folder.path(), FINDS) else { return };
    let text = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut bundle = Command::new(env!("CARGO_BIN_EXE_headstart"));
    bundle.env_remove("LD_LIBRARY_PATH").args(["bundle", "--out", &text("bundle")]).arg(&program);
    assert!(bundle.status().unwrap().success());
    let own = text("bundle/run");
    let words = format!(
        "it is already a bundle; name the program that it was made from, {}",
        program.display()
    );
    for verb in ["relr", "no-pie", "order-needed", "selfbind"] {
        let told = run(&["elf", verb, "--out", &text("out"), &own]);
        assert!(stderr(&told).contains(&words), "{verb}: {}", stderr(&told));
        assert_eq!(told.status.code(), Some(1), "{verb}");
    }
    let told = run(&["optimize", "--", &own]);
    assert!(stderr(&told).contains(&words), "{}", stderr(&told));
    assert_eq!(told.status.code(), Some(1));
    let told = run(&["bundle", "--out", &text("out"), &own]);
    assert!(stderr(&told).contains(&words), "{}", stderr(&told));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn programs_that_no_loader_relocates_and_cut_files_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cc) = testkit::tool("cc") else { return };
    let program = testkit::compile(&cc, folder.path(), "static", SOURCE, &["-static-pie"]);
    let cut = folder.path().join("cut");
    fs::write(&cut, b"\x7fELF").unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    let said = |verb: &str, file: &Path| {
        stderr(&run(&["elf", verb, "--out", &out, file.to_str().unwrap()]))
    };
    for verb in ["relr", "no-pie", "selfbind"] {
        let words = said(verb, &program);
        assert!(words.contains("static program that relocates itself"), "{verb}: {words}");
    }
    for verb in ["relr", "no-pie", "selfbind", "order-needed"] {
        let words = said(verb, &cut);
        assert!(words.contains("cut short: it has 4 bytes"), "{verb}: {words}");
    }
}
