//! `headstart sharing`, on programs that wait and on programs that end.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, json, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// A process that waits for input.
fn waiting() -> std::process::Child {
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    testkit::wait_until_asleep(child.id());
    child
}

#[test]
fn totals_are_those_of_the_kernel_to_the_kib() {
    let mut child = waiting();
    let pid = child.id().to_string();
    let found = json(&["sharing", "--json", &pid]);
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let kib = |name: &str| -> u64 {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    };
    let totals = &found["totals"];
    assert_eq!(totals["rss_kib"], kib("Rss:"));
    assert_eq!(totals["copied_kib"], kib("Anonymous:"));
    assert_eq!(totals["private_dirty_kib"], kib("Private_Dirty:"));
    assert_eq!(found["processes"][0]["agrees"], true);
    // Who shares a page changes with every process that starts or ends.
    let sum = |a: &str, b: &str| totals[a].as_u64().unwrap() + totals[b].as_u64().unwrap();
    assert_eq!(sum("private_kib", "shared_kib"), kib("Rss:"));
}

#[test]
fn copies_are_divided_by_sections_that_sum_up() {
    let found = json(&["sharing", "--json", "--copies", "3", "--", "cat"]);
    assert_eq!((&found["copies"], &found["command"]), (&3.into(), &"cat".into()));
    let modules = found["modules"].as_array().unwrap();
    let kib = |value: &Value, name: &str| value[name].as_u64().unwrap();
    for name in ["size_kib", "rss_kib", "private_kib", "shared_kib"] {
        let mut all = 0;
        for module in modules {
            let sections = module["sections"].as_array().unwrap().iter();
            assert_eq!(sections.map(|one| kib(one, name)).sum::<u64>(), kib(module, name));
            all += kib(module, name);
            assert_eq!(module["base"].as_array().unwrap().len(), 3);
        }
        all += found["rest"].as_array().unwrap().iter().map(|one| kib(one, name)).sum::<u64>();
        assert_eq!(all, kib(&found["totals"], name));
    }
}

#[test]
fn views_show_programs_that_end_and_published_tables_apart() {
    let output = run(&["sharing", "--copies", "2", "--published", "--", "ls"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["ls (2 copies)", "mean of 2 copies", "libc.so.6", "Published: OpenOffice.org"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let output = run(&["sharing", "--copies", "2", "--compare", "ls", "cat"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("2  cat (2 copies)"), "{}", stdout(&output));
}

#[test]
fn nothing_is_left_running_after_kill_9_and_an_interrupt() {
    for (signal, mark) in [("KILL", "7341"), ("INT", "7342"), ("TERM", "7343")] {
        let script = format!("sleep {mark} & exec sleep {mark}");
        let words = ["sharing", "--until", "output:never", "--timeout", "60s", "--copies", "2"];
        let folder = tempfile::tempdir().unwrap();
        let words = [&words[..], &["--", "sh", "-c", &script]].concat();
        let mut child = headstart(folder.path(), &words).stderr(Stdio::null()).spawn().unwrap();
        wait_for("copies run", || common::is_running(mark));
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert!(!child.wait().unwrap().success());
        wait_for("copies are ended", || !common::is_running(mark));
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_exit_code() {
    let mut zombie = Command::new("true").spawn().unwrap();
    let stat = format!("/proc/{}/stat", zombie.id());
    wait_for("it ends", || std::fs::read_to_string(&stat).unwrap().contains(") Z "));
    let zombie_pid = zombie.id().to_string();
    for (words, code, text) in [
        (&["sharing", "4000000"][..], 1, "there is no process 4000000"),
        (&["sharing", &zombie_pid], 1, "a zombie"),
        (&["sharing", "ls"], 2, "write -- before it"),
        (&["sharing"], 2, "name processes by number"),
        (&["sharing", "1", "--", "ls"], 2, "cannot be used with"),
        (&["sharing", "--", "no-such-program-x"], 3, "no-such-program-x"),
        (&["sharing", "--until", "output:x", "--timeout", "300ms", "--", "cat"], 5, ""),
        (&["sharing", "--until", "soon", "--", "cat"], 2, "write idle, exit, entry"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{words:?}: {}", stderr(&output));
    }
    zombie.wait().unwrap();
}

#[test]
fn some_of_several_processes_may_be_gone() {
    let mut child = waiting();
    let output = run(&["sharing", &child.id().to_string(), "4000000"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("cat") && stderr(&output).contains("no process 4000000"));
}

#[test]
fn others_need_root_for_processes_that_are_not_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::process::id().to_string();
    let mut command = headstart(folder.path(), &["sharing", &own]);
    command.uid(65534);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return testkit::skip(&format!("only root can become nobody: {error}")),
    };
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("run headstart as root"), "{}", stderr(&output));
    let mut command = headstart(folder.path(), &["sharing", "--json", "--", "cat"]);
    let output = command.uid(65534).current_dir("/").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["modules"].as_array().unwrap().iter().all(|one| one["division"] == "pages"));
}

/// The parent of a copy is the launcher, whose parent is its guardian.
#[test]
fn copies_that_stop_their_parents_are_looked_at_and_ended() {
    let mark = "7344";
    for who in ["$PPID", "$(cut -d ' ' -f 4 /proc/$PPID/stat)"] {
        let script = format!("kill -STOP {who}; exec sleep {mark}");
        let output = run(&["sharing", "--copies", "2", "--json", "--", "sh", "-c", &script]);
        assert!(output.status.success(), "{}", stderr(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let states: Vec<&str> = found["processes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|process| process["state"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["idle", "idle"], "{found}");
        assert!(!common::is_running(mark));
        let measured = format!("kill -STOP {who}");
        let words = ["measure", "--runs", "1", "--warmup", "0", "--", "sh", "-c", &measured];
        let output = run(&words);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
