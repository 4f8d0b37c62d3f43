//! Launches that start other programs, and variants of these made for the test. A variant called `bundle`
//! may take a program's place.

use super::*;
use model::optimization::{KeptPart, ProgramReport};
use std::os::unix::fs::PermissionsExt;

/// Sleeps before `main`, as if it had much to load.
fn loading(us: u32) -> String {
    format!(
        "#include <stdio.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void load(void) {{ usleep({us}); }}\n\
         int main(void) {{ puts(\"done\"); return 0; }}"
    )
}

/// A bench with `part`, which takes long to load, and `script`, which does this.
fn bench(script: &str) -> Option<Bench> {
    // Longer than all else, also where other tests keep all CPUs busy.
    bench_of(script, 60_000)
}

fn bench_of(script: &str, us: u32) -> Option<Bench> {
    let bench = Bench::new()?;
    testkit::compile(&bench.cc, bench.folder.path(), "part", &loading(us), &[]);
    let script = script.replace("FOLDER", &bench.path(""));
    testkit::script(bench.folder.path(), "script", &format!("#!/bin/sh\n{script}"));
    Some(bench)
}

impl Bench {
    fn of_script(&self, options: &[&str], all: &[Optimization]) -> Result<OptimizationReport> {
        let script = self.path("script");
        let words = [&["optimize", "--runs", "12"], options, &["--", &script]].concat();
        optimized(&Line::parse_from(words).arguments, all)
    }

    fn fast(&self) -> Optimization {
        self.made("bundle", true, &loading(0))
    }
}

fn program<'a>(found: &'a OptimizationReport, path: &str) -> &'a ProgramReport {
    let shares: f64 = found.programs.iter().filter_map(|program| program.share).sum();
    assert!(shares <= 1.000_001, "{shares}");
    found.programs.iter().find(|program| program.path == path).unwrap()
}

/// Whether something can be put in place here.
fn can_mount() -> bool {
    match os::place::permitted() {
        Ok(()) => true,
        Err(error) => {
            testkit::skip(&error.to_string());
            false
        }
    }
}

#[test]
fn a_program_that_a_script_executes_is_tried_in_its_place() {
    let Some(bench) = bench("exec 'FOLDER/part' \"$@\"\n") else { return };
    if !can_mount() {
        return;
    }
    let part = bench.path("part");
    let before = (fs::read(&part).unwrap(), fs::metadata(&part).unwrap().modified().unwrap());
    let slow = bench.made("bundle --fixed", false, &loading(20_000));
    let wrong = bench.made("relr", true, "int main(void) { return 0; }");
    let found = bench.of_script(&[], &[bench.fast(), slow, wrong]).unwrap();
    let part = program(&found, &part);
    assert_eq!(
        (part.best.as_deref(), part.starts, &part.variable),
        (Some("bundle"), Some(1), &None)
    );
    assert!(part.ratio < Some(0.9) && part.high < Some(1.0), "{part:?}");
    assert!(part.share > Some(0.5) && part.loading_share > Some(0.5), "{part:?}");
    let of_part = found.variants.iter().filter(|one| one.program.as_ref() == Some(&part.path));
    let names: Vec<&str> = of_part.map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["bundle (part)", "bundle --fixed (part)"], "they check at start");
    assert_eq!(found.best, "bundle (part)");
    assert_eq!(of(&found, "bundle (part)").program.as_ref(), Some(&part.path));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&part.path), "{mounts}");
    assert_eq!(fs::read(&part.path).unwrap(), before.0);
    assert_eq!(fs::metadata(&part.path).unwrap().modified().unwrap(), before.1);
}

#[test]
fn what_does_something_else_in_the_launch_is_not_offered() {
    let Some(bench) = bench("'FOLDER/part' && echo after\n") else { return };
    if !can_mount() {
        return;
    }
    let wrong = bench.made("bundle", true, "int main(void) { return 0; }");
    let found = bench.of_script(&[], &[wrong]).unwrap();
    let variant = of(&found, "bundle (part)");
    assert_eq!(variant.state, VariantState::Failed);
    assert!(variant.reason.as_ref().unwrap().contains("instead of 'done'"), "{variant:?}");
    assert_eq!(
        (program(&found, &bench.path("part")).best.as_ref(), &*found.best),
        (None, "default")
    );
}

#[test]
fn a_part_that_is_looked_up_is_kept_with_what_sets_the_variable() {
    let script = "PATH=$PATH:'FOLDER'\npart\necho $#\n";
    let Some(bench) = bench(script) else { return };
    let out = bench.path("out");
    let found = bench.of_script(&["--out", &out], &[bench.fast()]).unwrap();
    let part = program(&found, &bench.path("part"));
    assert_eq!((part.best.as_deref(), part.variable.as_deref()), (Some("bundle"), Some("PATH")));
    let run = fs::read_to_string(Path::new(&out).join("run")).unwrap();
    assert!(run.contains(&format!("PATH={out}/by-name/PATH${{PATH:+\":$PATH\"}}\n")), "{run}");
    let link = Path::new(&out).join("by-name/PATH/part");
    assert_eq!(link.canonicalize().unwrap(), Path::new(&out).join("parts/1-part/fast"));
    let output = std::process::Command::new(Path::new(&out).join("run")).arg("x").output().unwrap();
    assert_eq!(output.stdout, b"done\n1\n");
    let text = fs::read_to_string(Path::new(&out).join("headstart.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    let kept = KeptPart {
        program: part.path.clone(),
        variant: "bundle".to_owned(),
        folder: "parts/1-part".to_owned(),
        variable: "PATH".to_owned(),
    };
    assert_eq!((manifest.parts, manifest.variant.as_str()), (vec![kept], "default"));
}

#[test]
fn every_start_counts() {
    let Some(bench) = Bench::new() else { return };
    let quick =
        testkit::compile(&bench.cc, bench.folder.path(), "quick", "int main(){return 0;}", &[]);
    let quick = quick.canonicalize().unwrap().display().to_string();
    let script = format!("#!/bin/sh\ni=0\nwhile [ $i -lt 50 ]; do '{quick}'; i=$((i + 1)); done\n");
    testkit::script(bench.folder.path(), "script", &script);
    let found = bench.of_script(&["--only", "default"], &[bench.fast()]).unwrap();
    assert_eq!(program(&found, &quick).starts, Some(50));
    assert_eq!(
        program(&found, &quick).reason.as_deref(),
        Some("none of its variants was selected")
    );
}

#[test]
fn a_program_with_privileges_is_left_as_it_is() {
    let Some(bench) = bench("exec 'FOLDER/part'\n") else { return };
    let part = bench.path("part");
    fs::set_permissions(&part, fs::Permissions::from_mode(0o4755)).unwrap();
    let found = bench.of_script(&[], &[bench.fast()]).unwrap();
    let part = program(&found, &part);
    assert!(part.reason.as_ref().unwrap().contains("it is set-user-ID"), "{part:?}");
    assert_eq!(part.best, None);
    assert!(found.variants.iter().all(|one| one.program.as_ref() != Some(&part.path)));
}

#[test]
fn a_script_that_fails_is_refused_unless_that_is_accepted() {
    let Some(bench) = bench("echo no >&2; exit 3\n") else { return };
    let error = bench.of_script(&[], &[bench.fast()]).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(OptimizeError::Fails { .. })), "{error}");
    let options = ["--ignore-failure", "--only", "default"];
    let found = bench.of_script(&options, &[bench.fast()]).unwrap();
    assert_eq!((&*found.best, found.variants.len(), found.programs.len()), ("default", 1, 1));
}

/// Both ends of a pipe, what goes on in the background, and an interpreter that `env` looks up.
#[test]
fn all_kinds_of_starts_are_seen() {
    let script = "(sleep 30 &) >/dev/null 2>&1\n'FOLDER/part' | FOLDER/reader\n";
    let Some(bench) = bench_of(script, 500_000) else { return };
    testkit::script(bench.folder.path(), "reader", "#!/usr/bin/env sh\nread line && echo $line\n");
    let found = bench.of_script(&["--only", "default"], &[bench.fast()]).unwrap();
    let names: Vec<&str> = found
        .programs
        .iter()
        .filter_map(|program| Path::new(&program.path).file_name()?.to_str())
        .collect();
    for name in ["part", "sleep", "env"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(
        found.notes.iter().any(|note| note.contains("leaves processes running")),
        "{:?}",
        found.notes
    );
    assert!(program(&found, &bench.path("part")).share > Some(0.4));
}

/// As before, for a program that starts nothing else.
#[test]
fn a_program_alone_is_the_only_one() {
    let Some(bench) = Bench::new() else { return };
    let all = [bench.made("fast", true, &sleeper(0))];
    let found = bench.optimized(&["--runs", "12"], &all).unwrap();
    let [itself] = &found.programs[..] else { panic!("{:?}", found.programs) };
    assert_eq!((&itself.path, itself.best.as_deref()), (&bench.path("program"), Some("fast")));
    assert_eq!(itself.ratio, of(&found, "fast").warm.ratio);
    assert!(itself.share > Some(0.9), "{itself:?}");
}

#[test]
fn a_launch_that_ends_in_another_way_when_it_is_followed_is_told() {
    let script = "grep -q '^TracerPid:[[:space:]]*0$' /proc/$$/status || exit 3\n'FOLDER/part'\n";
    let Some(bench) = bench(script) else { return };
    let found = bench.of_script(&["--only", "default"], &[bench.fast()]).unwrap();
    let told =
        found.notes.iter().any(|note| note.contains("(ptrace), the launch ended with exit code 3"));
    assert!(told, "{:?}", found.notes);
}
