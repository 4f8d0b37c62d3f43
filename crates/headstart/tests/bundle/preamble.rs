//! Whatever changes after a bundle was made, it does what the original does.

use crate::common::stderr;
use crate::stage::{KINDS, LIBRARIES, Stage, headstart, outcome, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::WhenFree;
use testkit::cases::in_parallel;

/// Something that changes, and what is seen then.
struct Case {
    name: String,
    /// Before the bundles are made.
    before: Box<dyn Fn(&Stage) + Sync>,
    /// Behind their backs.
    change: Box<dyn Fn(&Stage) + Sync>,
    /// Variables, `@` for the folder.
    environment: Vec<(&'static str, &'static str)>,
    /// Whether the bundle goes on to run as itself.
    merged: bool,
}

fn case(name: impl Into<String>, change: impl Fn(&Stage) + Sync + 'static) -> Case {
    Case {
        name: name.into(),
        before: Box::new(|_| ()),
        change: Box::new(change),
        environment: Vec::new(),
        merged: false,
    }
}

impl Case {
    fn after(mut self, before: impl Fn(&Stage) + Sync + 'static) -> Case {
        self.before = Box::new(before);
        self
    }

    fn with(mut self, environment: &[(&'static str, &'static str)]) -> Case {
        self.environment = environment.to_vec();
        self
    }

    fn stays(mut self) -> Case {
        self.merged = true;
        self
    }

    fn fault(&self) -> Option<String> {
        let stage = Stage::bare()?;
        (self.before)(&stage);
        stage.bundle();
        for kind in KINDS {
            if !stage.runs_merged(kind) {
                return Some(format!("{}: {kind} does not run as itself at all", self.name));
            }
        }
        let made = run(&[
            "bundle",
            "--check",
            "image",
            "--out",
            &stage.text(COPY),
            &stage.text("program"),
        ]);
        assert!(made.status.success(), "{}: {}", self.name, stderr(&made));
        (self.change)(&stage);
        let start = |name: &str| {
            let mut command = stage.start(name);
            let root = stage.folder.path().to_str().unwrap();
            command.envs(self.environment.iter().map(|(name, v)| (*name, v.replace('@', root))));
            command
        };
        let original = outcome(&start("program").output_when_free());
        for kind in KINDS {
            let run = format!("{kind}/run");
            let bundle = outcome(&start(&run).output_when_free());
            if bundle != original {
                return Some(format!("{} ({kind}):\n{bundle}instead of\n{original}", self.name));
            }
            let maps = start(&run).env("SHOW_MAPS", "1").output_when_free();
            if (maps.stdout == b"merged\n") != self.merged {
                return Some(format!("{} ({kind}): merged: {}", self.name, !self.merged));
            }
            if let Some(fault) = self.told(&stage, kind, original.contains("exit status: 127")) {
                return Some(format!("{} ({kind}): {fault}", self.name));
            }
        }
        let fault = self.fault_of_copy(&start(&format!("{COPY}/run")), &stage, &original);
        fault.map(|fault| format!("{} ({COPY}): {fault}", self.name))
    }
}

/// Where the bundle is that may be copied.
const COPY: &str = "made/image";

impl Case {
    /// What is wrong with a bundle that looks at what copies have in common. What it does not notice
    /// by that, `verify` does; and it tells what is started, whatever that is.
    fn fault_of_copy(&self, start: &Command, stage: &Stage, original: &str) -> Option<String> {
        let start = |variable: Option<&str>| {
            let mut command = Command::new(start.get_program());
            for (name, value) in start.get_envs() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            variable.map(|name| command.env(name, "1"));
            command.output_when_free()
        };
        let merged = start(Some("SHOW_MAPS")).stdout == b"merged\n";
        let is_right = outcome(&start(None)) == original;
        let traced = stderr(&start(Some("HEADSTART_TRACE")));
        let found = self.verified(stage, COPY);
        let Some(found) = found else { return Some("verify fails".to_owned()) };
        let agrees = found["used"] == merged && found["check"] == "image";
        let tells = traced.contains(if merged {
            "the bundle is used"
        } else {
            "; starting the original: "
        });
        // The program's own view of LD_PRELOAD apart, contents decide.
        let noticed = is_right || (merged && found["current"] == false);
        (!agrees || !tells || !noticed || (self.merged && !merged))
            .then(|| format!("merged: {merged}, right: {is_right}, {traced}, verify says: {found}"))
    }

    fn verified(&self, stage: &Stage, kind: &str) -> Option<serde_json::Value> {
        let root = stage.folder.path().to_str()?;
        let environment = self.environment.iter().map(|(name, v)| (*name, v.replace('@', root)));
        let mut verify = headstart(&["verify", "--json", &stage.text(kind)]);
        serde_json::from_slice(&verify.envs(environment).output_when_free().stdout).ok()
    }

    /// What is wrong with what `verify` says is started. `fails`: the original does at its start.
    fn told(&self, stage: &Stage, kind: &str, fails: bool) -> Option<String> {
        let root = stage.folder.path().to_str().unwrap();
        let environment = || self.environment.iter().map(|(name, v)| (*name, v.replace('@', root)));
        let out = stage.text(kind);
        let json = headstart(&["verify", "--json", &out]).envs(environment()).output_when_free();
        let found = serde_json::from_slice::<serde_json::Value>(&json.stdout);
        let Ok(found) = found else { return Some(format!("verify fails: {}", stderr(&json))) };
        let current = found["current"] == true;
        let code = json.status.code();
        let starts = match (self.merged, fails) {
            (true, _) => "bundle",
            (false, false) => "original",
            (false, true) => "nothing",
        };
        let right = found["starts"] == starts
            && found["used"] == self.merged
            && found["noticed"].is_null() == self.merged
            && found["reason"].is_null() == (current && self.merged)
            && code == Some(i32::from(!(current && self.merged)));
        let text = headstart(&["verify", &out]).envs(environment()).output_when_free();
        let text = String::from_utf8_lossy(&text.stdout).replace('\n', " ");
        let says_original = text.contains("original") && !text.contains("does not notice");
        (!right || says_original == self.merged).then(|| format!("verify says: {found}\n{text}"))
    }
}

/// Content over content, the file stays.
fn overwrite(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    let file = fs::OpenOptions::new().write(true).truncate(true).open(path);
    file.unwrap().write_all(bytes).unwrap();
}

/// Another file takes the place at once.
fn replace(path: &Path, from: &Path) {
    let beside = path.with_extension("new");
    fs::copy(from, &beside).unwrap();
    fs::rename(beside, path).unwrap();
}

/// A file in a folder that may have to be made.
fn appear(path: PathBuf, from: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(from, path).unwrap();
}

/// Changes of one library; `at` is where it is.
fn of_library(name: &'static str, folder: &'static str) -> Vec<Case> {
    let at = move |stage: &Stage| stage.path(folder).join(name);
    let v2 = move |stage: &Stage| stage.path("v2").join(name);
    let v3 = move |stage: &Stage| stage.path("v3").join(name);
    let own = move |stage: &Stage| at(stage).canonicalize().unwrap();
    let label = move |what: &str| format!("{name} {what}");
    let wrong = move |stage: &Stage, folder: &str| {
        let mut bytes = fs::read(stage.path("v2").join(name)).unwrap();
        // EM_AARCH64, which the loader passes over.
        bytes[18] = 183;
        fs::write(stage.path(folder).join(name), bytes).unwrap();
    };
    let link_folder = |stage: &Stage, folder: &str, target: &str| {
        let link = stage.path(folder);
        let _ = fs::remove_file(&link);
        symlink(target, link).unwrap();
    };
    vec![
        case(label("replaced by rename"), move |s| replace(&own(s), &v2(s))),
        case(label("replaced by the same"), move |s| replace(&own(s), &own(s))),
        case(label("its name replaced"), move |s| replace(&at(s), &v2(s))),
        case(label("rewritten, same size"), move |s| overwrite(&at(s), &fs::read(v2(s)).unwrap())),
        case(label("rewritten, other size"), move |s| overwrite(&at(s), &fs::read(v3(s)).unwrap())),
        case(label("rewritten, time restored"), move |s| {
            let time = fs::metadata(at(s)).unwrap().modified().unwrap();
            overwrite(&at(s), &fs::read(v2(s)).unwrap());
            fs::File::options().write(true).open(at(s)).unwrap().set_modified(time).unwrap();
        }),
        case(label("another mode"), move |s| {
            fs::set_permissions(at(s), fs::Permissions::from_mode(0o700)).unwrap();
        }),
        case(label("truncated"), move |s| {
            let file = fs::OpenOptions::new().write(true).open(at(s)).unwrap();
            file.set_len(100).unwrap();
        }),
        case(label("is a text"), move |s| overwrite(&at(s), b"a text")),
        case(label("is a folder"), move |s| {
            fs::remove_file(at(s)).unwrap();
            fs::create_dir(at(s)).unwrap();
        }),
        case(label("is a broken link"), move |s| {
            fs::remove_file(at(s)).unwrap();
            symlink("nothing", at(s)).unwrap();
        }),
        case(label("retargeted"), move |s| {
            fs::remove_file(at(s)).unwrap();
            symlink(v2(s), at(s)).unwrap();
        }),
        case(label("moved to an earlier folder"), move |s| {
            fs::rename(own(s), s.path("first").join(name)).unwrap();
        }),
        case(label("moved to a later folder"), move |s| {
            fs::rename(own(s), s.path("fourth").join(name)).unwrap();
        }),
        case(label("removed"), move |s| fs::remove_file(at(s)).unwrap()),
        case(label("in an earlier folder"), move |s| appear(s.path("first").join(name), &v2(s))),
        case(label("in a folder that was not there"), move |s| {
            appear(s.path("zero").join(name), &v2(s));
        }),
        case(label("for this processor"), move |s| {
            appear(s.path(folder).join("glibc-hwcaps/x86-64-v2").join(name), &v2(s));
        }),
        case(label("for this processor, earlier"), move |s| {
            appear(s.path("first/glibc-hwcaps/x86-64-v2").join(name), &v2(s));
        }),
        case(label("for this processor, folder there"), move |s| {
            appear(s.path(folder).join("glibc-hwcaps/x86-64-v2").join(name), &v2(s));
        })
        .after(move |s| {
            fs::create_dir_all(s.path(folder).join("glibc-hwcaps/x86-64-v2")).unwrap();
        }),
        case(label("in a later folder"), move |s| appear(s.path("fourth").join(name), &v2(s)))
            .stays(),
        case(label("passed over, then right"), move |s| {
            replace(&s.path("first").join(name), &v2(s));
        })
        .after(move |s| wrong(s, "first")),
        case(label("passed over, then rewritten"), move |s| {
            overwrite(&s.path("first").join(name), &fs::read(v2(s)).unwrap());
        })
        .after(move |s| wrong(s, "first")),
        case(label("a broken link, then mended"), move |s| appear(s.path("later"), &v2(s)))
            .after(move |s| symlink(s.path("later"), s.path("first").join(name)).unwrap()),
        case(label("an earlier folder is another"), move |s| {
            appear(s.path("b").join(name), &v2(s));
            link_folder(s, "zero", "b");
        })
        .after(move |s| {
            fs::create_dir(s.path("a")).unwrap();
            link_folder(s, "zero", "a");
        }),
        case(label("a folder above is another"), move |s| {
            appear(s.path("b").join(name), &v2(s));
            link_folder(s, "middle", "b");
        })
        .after(move |s| {
            fs::create_dir(s.path("a")).unwrap();
            link_folder(s, "middle", "a");
            link_folder(s, "zero", "middle");
        }),
        case(label("its folder is another"), move |s| {
            let other = s.path("other");
            let copied = Command::new("cp").arg("-a").arg(s.path("real")).arg(&other).status();
            assert!(copied.unwrap().success());
            replace(&other.join(name), &v2(s));
            link_folder(s, folder, "other");
        })
        .after(move |s| {
            fs::rename(s.path(folder), s.path("real")).unwrap();
            link_folder(s, folder, "real");
        }),
    ]
}

fn of_program() -> Vec<Case> {
    let program = |s: &Stage| s.path("program");
    vec![
        case("program replaced", move |s| {
            replace(&program(s), &s.path("v2/program"));
        })
        .with(&[("LD_LIBRARY_PATH", "@/second:@/third")]),
        case("program rewritten", move |s| overwrite(&program(s), &fs::read("/bin/echo").unwrap())),
        case("program is a script", move |s| {
            fs::remove_file(program(s)).unwrap();
            testkit::script(s.folder.path(), "program", "#!/bin/sh\necho script $#\nexit 3\n");
        }),
        case("program is a link", move |s| {
            fs::remove_file(program(s)).unwrap();
            symlink("/bin/true", program(s)).unwrap();
        }),
        case("nothing", |_| ()).stays(),
        case("something else", |s| fs::write(s.path("first/other.so"), "").unwrap()).stays(),
        case("something else of old times", |s| fs::write(s.path("second/other"), "").unwrap())
            .stays(),
    ]
}

fn of_environment() -> Vec<Case> {
    let env = |name: &str, pairs: &[(&'static str, &'static str)]| case(name, |_| ()).with(pairs);
    let one = |s: &Stage| s.path("second/libone.so.1");
    vec![
        env("LD_PRELOAD", &[("LD_PRELOAD", "@/preload.so")]),
        env("LD_PRELOAD of a library that is merged", &[("LD_PRELOAD", "@/v2/libone.so.1")]),
        env("LD_PRELOAD of two", &[("LD_PRELOAD", "@/preload.so:@/v3/libthree.so.1")]),
        env("LD_PRELOAD of nothing", &[("LD_PRELOAD", "")]).stays(),
        env("LD_LIBRARY_PATH", &[("LD_LIBRARY_PATH", "@/v2")]),
        env("LD_LIBRARY_PATH, later", &[("LD_LIBRARY_PATH", "/nowhere:@/v3")]),
        env("LD_LIBRARY_PATH elsewhere", &[("LD_LIBRARY_PATH", "/nowhere")]),
        env("LD_LIBRARY_PATH to nothing", &[("LD_LIBRARY_PATH", "")]).stays(),
        env("LD_AUDIT", &[("LD_AUDIT", "@/audit.so"), ("TEST_INSTEAD", "@/v2/libone.so.1")]),
        env(
            "all",
            &[
                ("LD_AUDIT", "@/audit.so"),
                ("LD_PRELOAD", "@/preload.so"),
                ("LD_LIBRARY_PATH", "@/v2"),
            ],
        ),
        env("LD_BIND_NOW", &[("LD_BIND_NOW", "1")]).stays(),
        env("tunables", &[("GLIBC_TUNABLES", "glibc.malloc.check=0")]).stays(),
        case("LD_PRELOAD and replaced", move |s| replace(&one(s), &s.path("v2/libone.so.1")))
            .with(&[("LD_PRELOAD", "@/preload.so")]),
        case("LD_LIBRARY_PATH and removed", move |s| fs::remove_file(one(s)).unwrap())
            .with(&[("LD_LIBRARY_PATH", "@/v2")]),
        case("LD_LIBRARY_PATH and in an earlier folder", move |s| {
            appear(s.path("first/libone.so.1"), &s.path("v3/libone.so.1"));
        })
        .with(&[("LD_LIBRARY_PATH", "@/v2")]),
        case("all replaced", |s| {
            for (name, folder) in LIBRARIES {
                replace(&s.path(folder).join(name), &s.path("v3").join(name));
            }
        }),
        case("all moved", |s| {
            for (name, folder) in LIBRARIES {
                fs::rename(s.path(folder).join(name), s.path("first").join(name)).unwrap();
            }
            fs::rename(s.path("second/libone.so.1.0"), s.path("first/libone.so.1.0")).unwrap();
        }),
        case("all removed", |s| {
            fs::remove_dir_all(s.path("second")).unwrap();
            fs::remove_dir_all(s.path("third")).unwrap();
        }),
        case("one replaced, one earlier", |s| {
            replace(&s.path("second/libtwo.so.1"), &s.path("v2/libtwo.so.1"));
            appear(s.path("zero/libthree.so.1"), &s.path("v3/libthree.so.1"));
        }),
    ]
}

/// A hundred and more changes, each on a fresh copy, each with a bundle of either kind.
#[test]
fn every_forced_change_is_seen() {
    if Stage::bare().is_none() {
        return;
    }
    let mut cases = of_program();
    cases.extend(of_environment());
    cases.extend(LIBRARIES.into_iter().flat_map(|(name, folder)| of_library(name, folder)));
    assert!(cases.len() >= 100, "{}", cases.len());
    let faults: Vec<String> = in_parallel(&cases, Case::fault).into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

/// There is no original to compare with.
#[test]
fn a_program_that_is_gone_is_told() {
    let Some(stage) = Stage::bundled() else { return };
    fs::remove_file(stage.path("program")).unwrap();
    for kind in KINDS {
        let output = stage.start(&format!("{kind}/run")).output_when_free();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(127), "{text}");
        assert!(text.contains("the original program is missing: install it again"), "{text}");
    }
}

/// One bundle, changed and changed back.
#[test]
fn it_follows_back_and_forth() {
    let Some(stage) = Stage::bundled() else { return };
    let says = |kind: &str| {
        String::from_utf8(stage.start(&format!("{kind}/run")).output_when_free().stdout).unwrap()
    };
    let earlier = stage.path("first/libone.so.1");
    for round in 0..5 {
        for kind in KINDS {
            assert!(says(kind).contains("one-v1") && stage.runs_merged(kind), "{round} {kind}");
        }
        fs::copy(stage.path("v2/libone.so.1"), &earlier).unwrap();
        for kind in KINDS {
            assert!(says(kind).contains("one-v2"), "{round} {kind}");
        }
        fs::remove_file(&earlier).unwrap();
    }
}
