//! A compiler that compiles nothing: a driver that is asked for its programs and starts them in all ways, and
//! programs that tell who they are.

use bundle::{BundleError, BundleOptions, MadeToolchain, ToolchainRequest, make_toolchain};
use model::toolchain::Toolchain;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What every program tells: the file that runs (which the preamble does not change where it is asked by
/// syscall), and what the program believes.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
void tell(const char *who, char **argv) {
    char file[4096] = "", link[4096] = "";
    syscall(SYS_readlink, "/proc/self/exe", file, sizeof file - 1);
    readlink("/proc/self/exe", link, sizeof link - 1);
    printf("%s\nfile %s\nlink %s\nargv %s %s\nexecfn %s\n", who, file, link, argv[0],
           argv[1] ? argv[1] : "-", (char *)getauxval(AT_EXECFN));
    fflush(stdout);
}
"#;

const PROGRAM: &str = r#"
extern void tell(const char *, char **);
int main(int argc, char **argv) { (void)argc; tell(WHO, argv); return 7; }
"#;

/// `driver HOW NAME` starts the program of that name.
const DRIVER: &str = r#"
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern void tell(const char *, char **);
extern char **environ;
int main(int argc, char **argv) {
    const char *asked = "-print-prog-name=";
    char path[4096];
    int status = 0;
    if (argc == 2 && !strncmp(argv[1], asked, strlen(asked))) {
        snprintf(path, sizeof path, FOLDER "/libexec/%s", argv[1] + strlen(asked));
        puts(path);
        return 0;
    }
    if (argc < 3 || !strcmp(argv[1], "-tell")) {
        tell(WHO, argv);
        return 7;
    }
    snprintf(path, sizeof path, FOLDER "/libexec/%s", argv[2]);
    char *words[] = {argv[2], "word", 0};
    if (!strcmp(argv[1], "execv")) execv(path, words);
    if (!strcmp(argv[1], "execve")) execve(path, words, environ);
    if (!strcmp(argv[1], "execvp")) execvp(path, words);
    pid_t child = -1;
    if (!strcmp(argv[1], "spawn") && posix_spawn(&child, path, 0, 0, words, environ)) return 1;
    if (!strcmp(argv[1], "spawnp") && posix_spawnp(&child, path, 0, 0, words, environ)) return 1;
    if (!strcmp(argv[1], "vfork") && !(child = vfork())) {
        execv(path, words);
        _exit(2);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
"#;

/// Ways in which the driver starts a program.
pub const WAYS: [&str; 6] = ["execv", "execve", "execvp", "spawn", "spawnp", "vfork"];

/// Such a compiler, and a folder for its toolchain.
pub struct Fake {
    pub at: PathBuf,
    cc: PathBuf,
    _folder: TempDir,
}

impl Fake {
    /// `bin/gcc`, which `bin/cc` leads to, `bin/g++`, and programs in `libexec`.
    pub fn new() -> Option<Fake> {
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        for name in ["bin", "libexec", "lib"] {
            std::fs::create_dir(at.join(name)).unwrap();
        }
        let fake = Fake { at, cc, _folder: folder };
        let library = ["-shared", "-fPIC", "-w"];
        testkit::compile(&fake.cc, &fake.at, "lib/libtell.so", LIBRARY, &library);
        fake.program("libexec/cc1", PROGRAM, "compiler");
        fake.program("libexec/as", PROGRAM, "assembler");
        fake.program("bin/gcc", DRIVER, "driver");
        fake.program("bin/g++", DRIVER, "driver of C++");
        symlink("gcc", fake.at.join("bin/cc")).unwrap();
        Some(fake)
    }

    /// Compiles a program that tells that it is `who`.
    pub fn program(&self, path: &str, source: &str, who: &str) {
        let folder = format!("-DFOLDER=\"{}\"", self.at.display());
        let who = format!("-DWHO=\"{who}\"");
        let search = format!("-Wl,-rpath,{}", self.at.join("lib").display());
        let options = ["-w", &who, &folder, "-Llib", "-ltell", &search];
        testkit::compile(&self.cc, &self.at, path, source, &options);
    }

    /// Puts another program in the place of one, as package managers do: another file.
    pub fn replace(&self, path: &str, who: &str) {
        self.program("next", PROGRAM, who);
        std::fs::rename(self.at.join("next"), self.at.join(path)).unwrap();
    }

    pub fn out(&self) -> PathBuf {
        self.at.join("out")
    }

    pub fn make(&self) -> Result<MadeToolchain, BundleError> {
        self.make_as(Toolchain::Gcc, "bin/gcc")
    }

    pub fn make_as(
        &self,
        toolchain: Toolchain,
        program: &str,
    ) -> Result<MadeToolchain, BundleError> {
        let out = self.out();
        std::fs::create_dir_all(&out).unwrap();
        let request = ToolchainRequest {
            toolchain,
            program: Some(self.at.join(program)),
            options: BundleOptions::default(),
        };
        make_toolchain(&request, &out, &mut |_| ())
    }

    /// The folder of the bundle of a name.
    pub fn bundle(&self, name: &str) -> PathBuf {
        bundle_in(&self.out(), name)
    }
}

/// The folder of the bundle of a name in a toolchain.
pub fn bundle_in(out: &Path, name: &str) -> PathBuf {
    let entries = std::fs::read_dir(out.join("bundles")).unwrap().flatten();
    let mut paths = entries.map(|entry| entry.path());
    let start = format!("{name}-");
    paths.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&start)).unwrap()
}

/// What a program tells in the lines that begin with these words.
pub struct Told(String);

impl Told {
    pub fn of(command: &mut Command) -> Told {
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(7), "{command:?}: {told}{errors}");
        Told(told)
    }

    pub fn who(&self) -> &str {
        self.0.lines().next().unwrap()
    }

    /// The file that runs.
    pub fn file(&self) -> &Path {
        Path::new(self.line("file "))
    }

    pub fn line(&self, start: &str) -> &str {
        self.0.lines().find_map(|line| line.strip_prefix(start)).unwrap()
    }

    /// All but the file that runs.
    pub fn believed(&self) -> Vec<&str> {
        self.0.lines().filter(|line| !line.starts_with("file ")).collect()
    }
}
