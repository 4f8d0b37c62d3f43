//! `headstart pe realign` and `headstart pe flags` as commands: output, undo, refusals, exit codes.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Two generated libraries and their program.
fn generated() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set").display().to_string();
    let sizes = ["--dlls", "2", "--functions", "10", "--globals", "2"];
    let made =
        run(&[&["generate", "pietrek", "--format", "pe", "--out", &out], &sizes[..]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let names = ["LoadTimeDLL_1.dll", "LoadTimeDLL_2.dll", "LoadTimeTest.exe"];
    let files = names.map(|name| folder.path().join("set").join(name));
    (folder, files.into())
}

fn words<'a>(verb: &[&'a str], files: &'a [PathBuf]) -> Vec<&'a str> {
    let files = files.iter().map(|file| file.to_str().unwrap());
    verb.iter().copied().chain(files).collect()
}

fn bytes(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn there(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, |entries| entries.count())
}

#[test]
fn a_set_is_laid_out_anew_in_a_folder_of_its_own() {
    let (folder, files) = generated();
    let old = bytes(&files);
    let out = folder.path().join("new");
    let asked = ["pe", "realign", "--json", "--out", out.to_str().unwrap()];
    let found = json(&words(&asked, &files));
    assert_eq!((&found["schema"], &found["dry_run"]), (&Value::from(1), &Value::from(false)));
    let told = found["files"].as_array().unwrap();
    assert_eq!(told.len(), 3);
    for (file, told) in files.iter().zip(told) {
        let written = out.join(file.file_name().unwrap());
        assert_eq!(told["file"], file.to_str().unwrap());
        assert_eq!(told["written"], written.to_str().unwrap());
        assert_eq!((&told["alignment_before"], &told["alignment"]), (&512.into(), &4096.into()));
        assert_eq!((&told["off_page"], &told["changed"]), (&0.into(), &true.into()));
        assert!(told["off_page_before"].as_u64() > Some(0));
        assert_eq!(told["bytes"], fs::metadata(&written).unwrap().len());
    }
    assert!(bytes(&files) == old, "the originals are as they were");
    let again = run(&words(&asked, &files));
    assert!(again.status.code() == Some(6) && stderr(&again).contains("exists already"));
    // And back.
    let new: Vec<PathBuf> = files.iter().map(|file| out.join(file.file_name().unwrap())).collect();
    let back = run(&words(&["pe", "realign", "--file-alignment", "512", "--in-place"], &new));
    assert!(stdout(&back).contains("4096 → 512"), "{}", stdout(&back));
    assert!(bytes(&new) == old);
}

#[test]
fn in_place_is_undone() {
    let (folder, files) = generated();
    let old = bytes(&files);
    for verb in [
        &["pe", "realign", "--in-place"][..],
        &["pe", "flags", "--set", "swaprun:net", "--in-place"],
    ] {
        let done = stdout(&run(&words(verb, &files)));
        assert!(done.contains("(--undo restores"), "{done}");
        assert!(bytes(&files) != old);
        let undone = run(&words(&[verb[0], verb[1], "--undo"], &files));
        assert!(stdout(&undone).contains("as it was before"), "{}", stderr(&undone));
        assert!(bytes(&files) == old);
    }
    assert_eq!(there(&folder.path().join("set")), 3);
}

#[test]
fn a_dry_run_writes_nothing() {
    let (folder, files) = generated();
    let old = bytes(&files);
    let text = stdout(&run(&words(&["pe", "realign", "--dry-run"], &files)));
    assert!(text.contains("Nothing was written") && text.contains("512 → 4096"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let found =
        json(&words(&["pe", "flags", "--clear", "nxcompat", "--dry-run", "--json"], &files));
    assert_eq!(found["dry_run"], true);
    assert!(bytes(&files) == old && there(folder.path()) == 1);
}

#[test]
fn one_file_that_is_declined_keeps_all_from_being_written() {
    let (folder, mut files) = generated();
    let cut = folder.path().join("cut.dll");
    let whole = fs::read(&files[0]).unwrap();
    fs::write(&cut, &whole[..whole.len() - 512]).unwrap();
    files.push(cut);
    let out = folder.path().join("new");
    let declined = run(&words(&["pe", "realign", "--out", out.to_str().unwrap()], &files));
    assert_eq!(declined.status.code(), Some(1));
    let said = stderr(&declined);
    assert!(said.contains("cut.dll is not rewritten: it is cut short"), "{said}");
    assert_eq!(there(&out), 0);
}

#[test]
fn signed_files_are_declined_or_lose_their_signature() {
    let (folder, files) = generated();
    let old = fs::read(&files[0]).unwrap();
    let mut signed = old.clone();
    // Directory 4 of a PE32+ file whose PE header is at 64; what it leads to is not looked at.
    let entry = 64 + 24 + 112 + 4 * 8;
    signed[entry..entry + 4].copy_from_slice(&(old.len() as u32).to_le_bytes());
    signed[entry + 4..entry + 8].copy_from_slice(&64_u32.to_le_bytes());
    signed.extend([7; 64]);
    fs::write(&files[0], &signed).unwrap();
    for verb in [&["pe", "realign"][..], &["pe", "flags", "--set", "no-bind"]] {
        let declined = run(&words(&[verb, &["--in-place"]].concat(), &files[..1]));
        assert_eq!(declined.status.code(), Some(1));
        assert!(stderr(&declined).contains("--strip-signature"), "{}", stderr(&declined));
        let name = format!("{}-out", verb[1]);
        let out = folder.path().join(name).display().to_string();
        let done =
            run(&words(&[verb, &["--strip-signature", "--out", &out]].concat(), &files[..1]));
        let said = stdout(&done).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("its Authenticode signature was removed"), "{said}");
        let new = fs::read(Path::new(&out).join("LoadTimeDLL_1.dll")).unwrap();
        assert!(new[entry..entry + 8] == [0; 8] && !new.ends_with(&[7; 64]));
    }
    // Where nothing would change, the signature stays valid, and stays.
    let same =
        json(&words(&["pe", "realign", "--file-alignment", "512", "--dry-run", "--json"], &files));
    let told = &same["files"][0];
    assert_eq!((&told["changed"], &told["signature_removed"]), (&false.into(), &false.into()));
    assert!(fs::read(&files[0]).unwrap() == signed);
}

#[test]
fn flags_are_shown() {
    let (folder, files) = generated();
    let found = json(&words(&["pe", "flags", "--json"], &files));
    let told = &found["files"][2];
    assert!(told["file"].as_str().unwrap().ends_with("LoadTimeTest.exe"), "{told}");
    let text = stdout(&run(&words(&["pe", "flags"], &files)));
    assert!(text.contains("DLL_1.dll") && text.contains("dynamicbase"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let out = folder.path().join("new");
    let set = ["pe", "flags", "--set", "NXCOMPAT,/SWAPRUN:CD", "--out", out.to_str().unwrap()];
    let text = stdout(&run(&words(&set, &files)));
    assert!(text.contains("+swaprun:cd"), "{text}");
    let new = out.join("LoadTimeTest.exe").display().to_string();
    let found = json(&["pe", "flags", "--json", &new]);
    let flags = found["files"][0]["flags"].as_array().unwrap();
    assert!(flags.contains(&"nxcompat".into()) && flags.contains(&"swaprun:cd".into()), "{found}");
    // Those that cannot be read are told of, the others shown.
    let some = run(&["pe", "flags", "/etc/passwd", &new]);
    assert_eq!(some.status.code(), Some(1));
    assert!(stdout(&some).contains("imeTest.exe") && stderr(&some).contains("/etc/passwd"));
}

#[test]
fn wrong_command_lines_say_what_is_wrong() {
    let (_folder, files) = generated();
    let file = files[0].to_str().unwrap();
    for (words, said) in [
        (&["pe", "flags", "--set", "nxcompat", file][..], "--out DIR"),
        (&["pe", "flags", "--in-place", file], "--set or --clear"),
        (&["pe", "flags", "--set", "aslr", "--dry-run", file], "the flags are dynamicbase"),
        (&["pe", "flags", "--set", "guard:cf", "--dry-run", file], "cannot be changed"),
        (
            &["pe", "flags", "--set", "tsaware", "--clear", "tsaware", "--dry-run", file],
            "both set and cleared",
        ),
        (&["pe", "realign", file], "required"),
        (&["pe", "realign", "--file-alignment", "1000", "--dry-run", file], "512, 1024"),
        (&["pe", "realign", "--dry-run"], "FILE"),
        (&["pe", "realign", "--in-place", file, file], "is named twice; name it once"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
    }
    for (words, code) in [
        (&["pe", "realign", "--dry-run", "/etc/passwd"][..], 1),
        (&["pe", "realign", "--dry-run", "/no/such/file"], 6),
        (&["pe", "realign", "--file-alignment", "8192", "--dry-run", file], 1),
        (&["pe", "flags", "--set", "nxcompat", "--in-place", "/usr/lib/os-release"], 6),
    ] {
        assert_eq!(run(words).status.code(), Some(code), "{words:?}");
    }
}
