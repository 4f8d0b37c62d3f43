//! A program that executes itself by its path starts its bundle once more, which sees what the original
//! would see; and the original wherever the bundle would be another program.

use crate::common::stderr;
use crate::stage::run;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::WhenFree;

const LIBRARY: &str = "int answer(void) { return 42; }";

/// `HOW PATH WORDS`: executes PATH with these words as `argv`, after what the environment asks for has
/// been done. `told`: what it sees. The last line has the number of loaded modules, by which a bundle is
/// told apart.
const MAIN: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
int answer(void);
static void show(const char *what, const char *path) {
    char text[65536];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    if (file) fclose(file);
    for (size_t i = 0; i < length; i++) text[i] = text[i] ? text[i] : '|';
    printf("%s %.*s\n", what, (int)length, text);
}
static int count_one(struct dl_phdr_info *info, size_t size, void *count) { return ++*(int *)count, 0; }
static int told(int count, char **words) {
    char link[PATH_MAX] = "";
    int modules = 0;
    for (int i = 0; i < count; i++) printf("word %s\n", words[i]);
    printf("answer %d executed %s invoked %s\n", answer(), (char *)getauxval(AT_EXECFN),
           program_invocation_name);
    show("name", "/proc/self/comm");
    show("line", "/proc/self/cmdline");
    show("environment", "/proc/self/environ");
    readlink("/proc/self/exe", link, sizeof link);
    printf("link %s path %s\n", link, realpath("/proc/self/exe", 0));
    printf("group %d masked %d\n", getpgid(0) == getpid(), sigprocmask(0, 0, 0));
    dl_iterate_phdr(count_one, &modules);
    return printf("modules %d\n", modules) < 0;
}
static void ended(int id) {
    int status = -1;
    waitpid(id, &status, 0);
    printf("ended %x\n", status);
}
static void prepare(void) {
    char *from = getenv("MOVE"), *to = getenv("TO");
    if (from && (to ? rename(from, to) : unlink(from))) exit(98);
    if (getenv("MODE") && chmod(getenv("MODE"), 0644)) exit(98);
    if (getenv("NO_PROC")) {
        if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) exit(99);
        if (mount("none", "/", 0, MS_REC | MS_PRIVATE, 0) || mount("none", "/proc", "tmpfs", 0, 0)) exit(99);
    }
    if (getenv("CHROOT") && (chroot(getenv("CHROOT")) || chdir("/"))) exit(99);
    if (getenv("LIBRARY_PATH")) setenv("LD_LIBRARY_PATH", getenv("LIBRARY_PATH"), 1);
}
static void spawned(const char *how, const char *path, char **next) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t id = -77;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    const char *once = getenv("ONCE"), *never = getenv("NEVER");
    int plain = !strcmp(how, "posix_spawn") || !strcmp(how, "posix_spawnp");
    if (once) posix_spawn_file_actions_addopen(&actions, 9, once, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (never) posix_spawn_file_actions_addopen(&actions, 10, never, O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int reset = getenv("RESET") ? POSIX_SPAWN_RESETIDS : 0;
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | reset);
    int error = strstr(how, "spawnp")
        ? posix_spawnp(&id, path, plain ? 0 : &actions, plain ? 0 : &attributes, next, environ)
        : posix_spawn(&id, path, plain ? 0 : &actions, plain ? 0 : &attributes, next, environ);
    if (error) printf("error %d %d\n", error, id);
    else ended(id);
}
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "told")) return told(count, words);
    const char *how = words[1], *path = words[2];
    if (!strcmp(path, "null")) path = 0;
    else if (!strcmp(path, "wild")) path = (char *)8;
    char **next = words + 3;
    prepare();
    setvbuf(stdout, 0, _IONBF, 0);
    errno = 0;
    if (!strcmp(how, "execve")) execve(path, next, environ);
    else if (!strcmp(how, "execv")) execv(path, next);
    else if (!strcmp(how, "execvp")) execvp(path, next);
    else if (!strcmp(how, "execvpe")) execvpe(path, next, environ);
    else if (strstr(how, "spawn")) return spawned(how, path, next), 0;
    else {
        int id = !strcmp(how, "vfork") ? vfork() : fork();
        if (!id) { execve(path, next, environ); _exit(errno); }
        return ended(id), 0;
    }
    return printf("error %d\n", errno) < 0;
}
"#;

const WAYS: [&str; 10] = [
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "posix_spawn",
    "posix_spawnp",
    "spawn-with-actions",
    "spawnp-with-actions",
    "fork",
    "vfork",
];
/// Those in which an error is told by the function that is called.
const DIRECT: [&str; 6] =
    ["execve", "execv", "execvp", "execvpe", "spawn-with-actions", "posix_spawnp"];

/// A program by a link, in `bin`, to its file, in `files`; its library, in `lib`, and its bundles.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("cc")?;
        let world = World { folder: tempfile::tempdir().unwrap() };
        for folder in ["lib", "files", "bin"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        symlink("../files/program", world.path("bin/original")).unwrap();
        let at = world.path("");
        testkit::compile(&cc, &at, "lib/libanswer.so", LIBRARY, &["-shared", "-fPIC"]);
        // $ORIGIN would need /proc.
        let search = format!("-Wl,-rpath,{}", world.text("lib"));
        let flags = ["-w", "-Llib", "-lanswer", &search];
        testkit::compile(&cc, &at, "files/program", MAIN, &flags);
        for (name, fixed) in [("moving", false), ("fixed", true)] {
            let (out, original) = (world.text(name), world.text("bin/original"));
            let words = ["bundle", "--out", &out, &original, "--fixed"];
            let made = run(&words[..if fixed { 5 } else { 4 }]);
            assert!(made.status.success(), "{}", stderr(&made));
        }
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The path by which the program was found, and that of its file.
    fn paths(&self) -> [String; 2] {
        [self.text("bin/original"), self.text("files/program")]
    }

    /// What the original sees, where both bundles see the same, and whether both are bundles then.
    fn seen(&self, words: &[&str], environment: &[(&str, &str)]) -> (String, bool) {
        let [original, ..] = self.paths();
        let expected = seen(Command::new(&original).arg0("given"), words, environment);
        assert!(!expected.1, "{expected:?}");
        let bundles = ["moving/run", "fixed/run"].map(|run| {
            let mut command = Command::new(self.path(run));
            let seen = seen(command.arg0("given"), words, environment);
            assert_eq!(seen.0, expected.0, "{run} {words:?} {environment:?}");
            seen.1
        });
        assert_eq!(bundles[0], bundles[1], "{words:?} {environment:?}");
        (expected.0, bundles[0])
    }

    /// What one starts, which changes something for which it is asked.
    fn changing(
        &self,
        program: &str,
        words: &[&str],
        environment: &[(&str, &str)],
    ) -> (String, bool) {
        seen(Command::new(self.path(program)).arg0("given"), words, environment)
    }
}

/// All but the last line, and whether that tells of a bundle: the program, libc, the loader, and what the
/// kernel maps.
fn seen(command: &mut Command, words: &[&str], environment: &[(&str, &str)]) -> (String, bool) {
    command.args(words).env_clear().envs(environment.iter().copied());
    let Output { status, stdout, stderr } = command.output_when_free();
    let told = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    let (lines, modules): (Vec<&str>, Vec<&str>) =
        told.lines().partition(|line| !line.starts_with("modules "));
    (format!("{status}\n{}", lines.join("\n")), modules == ["modules 4"])
}

/// What was seen is of a program that ended well.
fn is_told((seen, _): &(String, bool)) -> bool {
    seen.starts_with("exit status: 0") && seen.contains("answer 42") && !seen.contains("error")
}

#[test]
fn every_function_and_either_path_start_the_bundle() {
    let Some(world) = World::new() else { return };
    for way in WAYS {
        for path in world.paths() {
            for name in [&path, "run", "x/run", "./run", "", "other"] {
                let words = [way, &path, name, "told", "", "two"];
                let found = world.seen(&words, &[("HOME", "/")]);
                assert!(is_told(&found) && found.1, "{words:?} {found:?}");
                let executed = format!("executed {path} invoked {name}\n");
                assert!(found.0.contains(&executed), "{words:?} {found:?}");
                assert!(found.0.contains(&format!("line {name}|told||two|\n")), "{found:?}");
            }
        }
    }
}

#[test]
fn any_other_path_starts_what_it_leads_to() {
    let Some(world) = World::new() else { return };
    let [original, file] = world.paths();
    let folder = world.text("bin");
    let relative = original.replace("/bin/", "/bin/../bin/");
    let twice = original.replace("/bin/", "/bin//");
    let (link, longer) = (format!("{original}s"), format!("{original}-of-none"));
    symlink("original", &link).unwrap();
    let shorter = original[..original.len() - 1].to_owned();
    let environment = [("PATH", folder.as_str())];
    for way in DIRECT {
        for path in [&relative, &twice, &link] {
            let found = world.seen(&[way, path, "run", "told"], &environment);
            assert!(is_told(&found) && !found.1, "{way} {path} {found:?}");
        }
        for path in [&longer, &shorter, &folder, "/nowhere", ""] {
            let (found, _) = world.seen(&[way, path, "run", "told"], &environment);
            assert!(found.contains("error "), "{way} {path} {found}");
        }
        let through = format!("{file}/exe");
        assert!(world.seen(&[way, &through, "run", "told"], &[]).0.contains("error 20"));
    }
    for way in ["execve", "execv", "spawn-with-actions"] {
        for nowhere in ["null", "wild"] {
            let found = world.seen(&[way, nowhere, "run", "told"], &[]);
            assert!(found.0.contains("error 14"), "{way} {nowhere} {found:?}");
        }
    }
    for way in ["execvp", "execvpe", "posix_spawnp", "spawnp-with-actions"] {
        let found = world.seen(&[way, "original", "run", "told"], &environment);
        assert!(is_told(&found) && !found.1, "{way} {found:?}");
    }
    // The process's own file is what it was.
    let words = ["execve", "/proc/self/exe", "run", "told"];
    for run in ["moving/run", "fixed/run"] {
        let found = world.changing(run, &words, &[]);
        assert!(found.1 && found.0.contains("executed /proc/self/exe invoked "), "{found:?}");
        assert!(found.0.contains("name exe\n"), "{found:?}");
    }
}

/// Whether the child may execute the bundle is not known then.
#[test]
fn a_child_that_gets_another_user_is_the_original() {
    let Some(world) = World::new() else { return };
    for (way, bundle) in
        [("spawn-with-actions", false), ("spawnp-with-actions", false), ("posix_spawn", true)]
    {
        let words = [way, &world.paths()[0], "run", "told"];
        let found = world.seen(&words, &[("RESET", "1")]);
        assert!(is_told(&found) && found.1 == bundle, "{words:?} {found:?}");
    }
}

#[test]
fn what_the_loader_is_told_otherwise_is_for_the_original() {
    let Some(world) = World::new() else { return };
    for way in WAYS {
        for path in world.paths() {
            let words = [way, &path, "x/run", "told", ""];
            let found = world.seen(&words, &[("LIBRARY_PATH", "/nowhere")]);
            assert!(is_told(&found) && !found.1, "{words:?} {found:?}");
            assert!(found.0.contains("LD_LIBRARY_PATH=/nowhere"), "{found:?}");
        }
    }
    let [path, _] = world.paths();
    let environment = [("LIBRARY_PATH", "/nowhere"), ("HEADSTART_STALE", "never")];
    let (found, _) = world.changing("moving/run", &["execv", &path, "run", "told"], &environment);
    assert!(found.starts_with("exit status: 127\nheadstart: "), "{found}");
    assert!(found.contains("LD_LIBRARY_PATH is not what it was"), "{found}");
}

#[test]
fn a_bundle_that_is_moved_or_removed_while_it_runs() {
    let Some(world) = World::new() else { return };
    for kind in ["moving", "fixed"] {
        for path in world.paths() {
            let words = ["vfork", &path, "run", "told"];
            let (run, to, copy) = (format!("{kind}/run"), world.text("moved"), world.text("copy"));
            std::fs::copy(world.path(&run), &copy).unwrap();
            let before = world.changing(&run, &words, &[]);
            for environment in
                [&[("MOVE", copy.as_str()), ("TO", &to)][..], &[("MOVE", to.as_str())]]
            {
                let program = if environment.len() == 2 { "copy" } else { "moved" };
                let found = world.changing(program, &words, environment);
                assert!(is_told(&found) && found.1, "{environment:?} {found:?}");
                let without = |text: &str| {
                    let kept = text.lines().filter(|line| !line.starts_with("environment "));
                    kept.map(str::to_owned).collect::<Vec<_>>()
                };
                assert_eq!(without(&found.0), without(&before.0));
            }
        }
    }
}

#[test]
fn a_library_or_the_program_that_is_replaced_while_it_runs() {
    for (replaced, mode, error) in [
        ("lib/libanswer.so", false, ""),
        ("files/program", false, ""),
        ("files/program", true, "error 13"),
    ] {
        for way in ["execve", "spawn-with-actions"] {
            for kind in ["moving", "fixed"] {
                for which in 0..2 {
                    let Some(world) = World::new() else { return };
                    let (at, new) = (world.text(replaced), world.text("new"));
                    std::fs::copy(&at, &new).unwrap();
                    let changes = [("MOVE", new.as_str()), ("TO", &at)];
                    let modes = [("MODE", at.as_str())];
                    let path = &world.paths()[which];
                    let words = [way, path, "run", "told", "one"];
                    let changes = if mode { &modes[..] } else { &changes };
                    let found = world.changing(&format!("{kind}/run"), &words, changes);
                    assert!(!found.1, "{words:?} {found:?}");
                    assert_eq!(is_told(&found), !mode, "{words:?} {found:?}");
                    assert!(found.0.contains(error), "{words:?} {found:?}");
                    if !mode {
                        assert!(found.0.contains("line run|told|one|\n"), "{words:?} {found:?}");
                        assert!(found.0.contains(&format!("executed {path} ")), "{found:?}");
                    }
                }
            }
        }
    }
}

/// Whether there is no other way than to leave it untested.
fn is_refused(seen: &(String, bool)) -> bool {
    let refused = seen.0.starts_with("exit status: 99");
    if refused {
        eprintln!("SKIPPED: no mount namespaces here");
    }
    refused
}

#[test]
fn without_proc_it_is_the_original_and_file_actions_happen_once() {
    let Some(world) = World::new() else { return };
    let [path, _] = world.paths();
    let (once, never) = (world.text("once"), world.text("never"));
    for way in WAYS {
        let mut outcomes = Vec::new();
        for program in ["bin/original", "moving/run", "fixed/run"] {
            let environment = [("NO_PROC", "1"), ("ONCE", once.as_str())];
            let found = world.changing(program, &[way, &path, "run", "told"], &environment);
            if is_refused(&found) {
                return;
            }
            assert!(is_told(&found) && !found.1, "{way} {program} {found:?}");
            let _ = std::fs::remove_file(&once);
            outcomes.push(found);
        }
        assert_eq!(outcomes[0], outcomes[1]);
        assert_eq!(outcomes[0], outcomes[2]);
    }
    // A file action that fails.
    for program in ["bin/original", "moving/run", "fixed/run"] {
        let environment = [("ONCE", once.as_str()), ("NEVER", &never)];
        let words = ["spawn-with-actions", &path, "run", "told"];
        let (found, _) = world.changing(program, &words, &environment);
        assert!(found.contains("error 2 -77"), "{program} {found}");
        std::fs::remove_file(&once).unwrap();
    }
}

/// Another root, with another program by the same path.
#[test]
fn the_path_leads_elsewhere_after_chroot() {
    let Some(world) = World::new() else { return };
    let root = world.path("root");
    let [path, _] = world.paths();
    let other = root.join(path.trim_start_matches('/'));
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    let cc = testkit::tool("cc").unwrap();
    let source = "#include <stdio.h>\nint main(void) { return puts(\"elsewhere\") < 0; }";
    testkit::compile(&cc, &world.path(""), "elsewhere", source, &["-static"]);
    std::fs::rename(world.path("elsewhere"), &other).unwrap();
    for way in ["execve", "posix_spawn"] {
        let root = root.to_str().unwrap();
        let environment = [("CHROOT", root)];
        let found = world.changing("bin/original", &[way, &path, "run", "told"], &environment);
        if is_refused(&found) {
            return;
        }
        assert!(found.0.contains("elsewhere"), "{found:?}");
        let bundle = world.changing("moving/run", &[way, &path, "run", "told"], &environment);
        assert_eq!(bundle, found, "{way}");
    }
}

/// It needs no original, but what is at the path of that is not passed over.
#[test]
fn a_sealed_bundle_is_not_started_in_the_place_of_another_program() {
    let Some(world) = World::new() else { return };
    let [path, file] = world.paths();
    let made = run(&["bundle", "--sealed", "--out", &world.text("sealed"), &path]);
    assert!(made.status.success(), "{}", stderr(&made));
    let kept = world.text("kept");
    std::fs::hard_link(&file, &kept).unwrap();
    let cc = testkit::tool("cc").unwrap();
    let source = "#include <stdio.h>\nint main(void) { return puts(\"elsewhere\") < 0; }";
    for way in ["execve", "posix_spawn"] {
        let words = [way, &path, "run", "told"];
        let starts =
            |environment: &[(&str, &str)]| world.changing("sealed/run", &words, environment);
        let found = starts(&[]);
        assert!(is_told(&found) && found.1, "{found:?}");
        let found = starts(&[("MOVE", &file)]);
        assert!(is_told(&found) && found.1, "{found:?}");
        testkit::compile(&cc, &world.path(""), "files/program", source, &[]);
        let found = starts(&[]);
        assert!(found.0.contains("elsewhere") && !found.1, "{found:?}");
        std::fs::remove_file(&file).unwrap();
        std::fs::hard_link(&kept, &file).unwrap();
        let mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        mode(0o4755);
        let found = starts(&[]);
        assert!(is_told(&found) && !found.1, "{found:?}");
        mode(0o644);
        assert!(starts(&[]).0.contains("13"), "{found:?}");
        mode(0o755);
        assert!(starts(&[]).1);
    }
}

/// What /proc/self/exe leads to is the loader then.
#[test]
fn where_the_loader_was_named_it_is_the_original() {
    let Some(world) = World::new() else { return };
    let loader = Path::new("/lib64/ld-linux-x86-64.so.2");
    for way in WAYS {
        let [path, _] = world.paths();
        let run = world.text("moving/run");
        let words = [&run, way, &path, "run", "told"];
        let found = seen(&mut Command::new(loader), &words, &[]);
        assert!(is_told(&found) && !found.1, "{way} {found:?}");
    }
}
