//! Bundles that map at once what a launch used.

use crate::common::{stderr, stdout, wait_for};
use crate::place::Place;
use crate::stage::{command, json, run};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use testkit::WhenFree;

/// 256 pages of constants and as many of data. It tells how many of every 32nd page of each are mapped, or are its
/// own, when it starts; and the same of those halfway between. With a word it uses the former then.
const LOOKS: &str = r#"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern const volatile char constants[];
extern volatile char data[];
__asm__(".section .constants,\"a\",@progbits\n.balign 4096\nconstants:\n.rept 256\n.byte 1\n.zero 4095\n.endr\n"
        ".section .words,\"aw\",@progbits\n.balign 4096\ndata:\n.rept 256\n.byte 1\n.zero 4095\n.endr\n.text\n");
static int count(int pages, const volatile char *place, int first, uint64_t mask, uint64_t wanted) {
    int found = 0;
    for (int page = first; page < 256; page += 32) {
        uint64_t entry = 0;
        pread(pages, &entry, sizeof entry, (uintptr_t)(place + page * 4096L) / 4096 * 8);
        found += (entry & mask) == wanted;
    }
    return found;
}
int main(int words, char **word) {
    const uint64_t there = 1ull << 63, of_file = 1ull << 61;
    int pages = open("/proc/self/pagemap", O_RDONLY), sum = 0;
    for (int first = 0; first < 32; first += 16)
        printf("%d %d ", count(pages, constants, first, there, there),
               count(pages, data, first, there | of_file, there));
    for (int page = 0; page < 256 && words > 1; page += 32) sum += constants[page * 4096L] + data[page * 4096L]++;
    printf("%d\n", sum);
    if (words > 1 && !strcmp(word[1], "abort")) abort();
    if (words > 1 && !strcmp(word[1], "wait")) pause();
    if (words > 1 && !strcmp(word[1], "leave") && !fork()) pause();
    if (words > 1 && !strcmp(word[1], "other")) execl("/bin/true", "true", (char *)0);
    return 7;
}"#;

struct World {
    place: Place,
    program: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        if let Err(error) = os::populate::permitted() {
            testkit::skip(&format!("the kernel does not map several ranges at once: {error}"));
            return None;
        }
        let place = Place::new()?;
        let program = place.built("looks", LOOKS, &["-O1"]);
        Some(World { place, program })
    }

    fn out(&self, name: &str) -> String {
        self.place.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a bundle in the folder of this name, for a launch with these words.
    fn made(&self, name: &str, options: &[&str], words: &[&str]) -> std::process::Output {
        let (out, program) = (self.out(name), self.program.to_str().unwrap());
        run(&[&["bundle", "--out", &out], options, &["--", program], words].concat())
    }

    fn bundle(&self, name: &str, options: &[&str], words: &[&str]) -> PathBuf {
        let made = self.made(name, options, words);
        assert!(made.status.success(), "{}", stderr(&made));
        self.place.path(name).join("run")
    }
}

fn said(run: &Path, words: &[&str]) -> String {
    stdout(&command(run).args(words).output_when_free())
}

const KINDS: [(&str, &[&str]); 3] =
    [("out", &[]), ("fixed", &["--fixed"]), ("join", &["--fixed", "--join"])];

#[test]
fn every_start_has_the_pages_that_the_launch_used_and_no_copy_of_others() {
    let Some(world) = World::new() else { return };
    for (out, kind) in KINDS {
        let plain = world.bundle("plain", kind, &[]);
        // The first page has neighbors that are used.
        let mapped = |said: &str| -> Vec<u32> {
            said.split_whitespace().take(4).map(|word| word.parse().unwrap()).collect()
        };
        let before = mapped(&said(&plain, &["use"]));
        assert!(before[0] <= 1 && before[1] <= 1, "{out}: {before:?}");
        let run = world.bundle(out, &[kind, &["--populate"]].concat(), &["use"]);
        for words in [&["use"][..], &[]] {
            let found = mapped(&said(&run, words));
            assert_eq!(found[..2], [8, 8], "{out} {words:?}");
            assert!(found[3] <= 1, "{out} {words:?}: {found:?}");
        }
        let original = command(&world.program).arg("use").output_when_free().status.code();
        assert_eq!(command(&run).arg("use").output_when_free().status.code(), original);
        // The same at another base, and in a copy.
        if out == "fixed" {
            let moved = command(Path::new(env!("CARGO_BIN_EXE_headstart")))
                .args(["rerandomize", &world.out(out)])
                .output_when_free();
            assert!(moved.status.success(), "{}", stderr(&moved));
            assert_eq!(mapped(&said(&run, &[]))[..2], [8, 8]);
        }
    }
}

#[test]
fn what_it_was_recorded_from_is_told_and_how_it_is_made_again() {
    let Some(world) = World::new() else { return };
    let made = world.made("out", &["--populate"], &["use", "it"]);
    let told = stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("looks use it` used. It copies 8 pages for this"), "{told}");
    assert!(told.contains("warning: The recorded launch ended with exit code 7."), "{told}");
    let out = world.out("out");
    let verified = json(&["verify", "--json", &out]);
    let populate = &verified["populate"];
    assert!(populate["command"].as_str().unwrap().ends_with("/looks use it"), "{verified}");
    let pages = |kind: &str| -> u64 {
        let runs = populate[kind].as_array().unwrap();
        runs.iter().map(|run| run[1].as_u64().unwrap()).sum()
    };
    assert!(pages("copied") >= 8 && pages("shared") >= 8, "{verified}");
    assert_eq!(populate["copied_pages"], 8, "{verified}");
    assert!(stdout(&run(&["verify", &out])).contains("at once"));
    let mut program = fs::OpenOptions::new().append(true).open(&world.program).unwrap();
    program.write_all(b"changed").unwrap();
    drop(program);
    let stale = run(&["verify", &out]);
    let words = stdout(&stale).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("bundle --populate --out") && words.contains("looks use it"), "{words}");
}

#[test]
fn a_launch_that_says_nothing_leaves_a_bundle_without_pages_or_the_one_that_was_there() {
    let Some(world) = World::new() else { return };
    for (word, found) in [("abort", "signal 6"), ("other", "ended as another program")] {
        let failed = world.made(word, &["--populate"], &[word]);
        assert_eq!(failed.status.code(), Some(4), "{}", stderr(&failed));
        let text = stderr(&failed).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(found) && text.contains("maps no pages at once"), "{text}");
        let plain = world.place.path(word).join("run");
        assert_eq!(command(&plain).output_when_free().status.code(), Some(7));
        assert!(json(&["verify", "--json", &world.out(word)]).get("populate").is_none());
        let kept = world.bundle("kept", &["--populate"], &["use"]);
        let before = fs::read(&kept).unwrap();
        let failed = world.made("kept", &["--populate"], &[word]);
        assert!(stderr(&failed).contains("was not replaced"), "{}", stderr(&failed));
        assert_eq!(fs::read(&kept).unwrap(), before, "{word}");
        let mut left: Vec<_> = fs::read_dir(world.place.path("kept")).unwrap().flatten().collect();
        left.retain(|entry| entry.file_name().to_string_lossy().contains("next"));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn with_a_kernel_that_refuses_the_call_a_bundle_starts_as_ever() {
    let Some(world) = World::new() else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let run = world.bundle("out", &["--populate"], &["use"]);
    let log = world.place.path("log");
    let mut refused = command(&strace);
    refused.args(["-e", "inject=process_madvise:error=EBADF", "-o"]).arg(&log).arg(&run);
    let refused = refused.output_when_free();
    assert_eq!(refused.status.code(), Some(7), "{}", stderr(&refused));
    let log = fs::read_to_string(&log).unwrap();
    assert_eq!(log.matches("(INJECTED)").count(), 2, "{log}");
    assert!(!stdout(&refused).starts_with("8 8"), "{}", stdout(&refused));
}

#[test]
fn what_was_not_recorded_to_its_end_is_not_told() {
    let Some(world) = World::new() else { return };
    let out = world.out("out");
    let mut making = command(Path::new(env!("CARGO_BIN_EXE_headstart")))
        .args([
            "bundle",
            "--populate",
            "--out",
            &out,
            "--",
            world.program.to_str().unwrap(),
            "wait",
        ])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let made = ["run", "headstart.json"].map(|name| world.place.path("out").join(name));
    wait_for("the bundle is there", || made.iter().all(|path| path.exists()));
    making.kill().unwrap();
    making.wait().unwrap();
    let verified = json(&["verify", "--json", &out]);
    assert_eq!(verified["used"], true, "{verified}");
    assert!(verified.get("populate").is_none(), "{verified}");
}

#[test]
fn processes_that_the_launch_leaves_are_ended_and_told() {
    let Some(world) = World::new() else { return };
    let made = world.made("out", &["--populate"], &["leave"]);
    let told = stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("left a process running, which headstart has ended."), "{told}");
}

/// Another user could put another file in the place of the bundle before it is launched.
#[test]
fn root_launches_nothing_in_a_folder_of_another_user() {
    let Some(world) = World::new() else { return };
    if os::program::own_user() != 0 {
        testkit::skip("only root can give a folder to another user");
        return;
    }
    let folder = world.place.path("theirs");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
    for options in [&["--populate"][..], &["--prefetch", "auto"]] {
        let refused = world.made("theirs", options, &[]);
        assert_eq!(refused.status.code(), Some(6));
        assert!(stderr(&refused).contains("can be changed by other users"), "{}", stderr(&refused));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
    // Whoever became root by sudo may do as root what they like.
    let mut own = command(Path::new(env!("CARGO_BIN_EXE_headstart")));
    own.env("SUDO_UID", "65534").args(["bundle", "--populate", "--out"]).arg(&folder);
    let made = own.arg("--").arg(&world.program).output_when_free();
    assert!(made.status.success(), "{}", stderr(&made));
}
