//! Snippets in real builds: what is built with them has its functions in the order of the file,
//! and is linked again when the file changes.
#![allow(clippy::unwrap_used)]

use ordering::snippets::{BuildSystem, link_words, snippet, unfit};
use ordering::write::{InputSections, Linker, OrderedFunction, write};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const MAIN: &str = "
extern int sink;
int in_library(int); int also(int);
__attribute__((noinline)) int first(int x) { return x + sink; }
__attribute__((noinline)) static int second(int x) { return x * 3 + sink; }
int third(int x) { return second(x) + first(x); }
int main(int count, char **words) { (void)words; return (third(count) + in_library(count) + also(count)) & 0; }
";
const LIBRARY: &str = "int sink; int in_library(int x) { return x + 7; }\n";
const ALSO: &str = "extern \"C\" int also(int); int also(int x) { return x - 7; }\n";
const RUST: &str = "
fn main() { std::process::exit(third(std::env::args().count() as i32) & 0) }
#[unsafe(no_mangle)] #[inline(never)] fn first(x: i32) -> i32 { std::hint::black_box(x) + 1 }
#[unsafe(no_mangle)] #[inline(never)] fn second(x: i32) -> i32 { std::hint::black_box(x) + 2 }
#[unsafe(no_mangle)] #[inline(never)] fn third(x: i32) -> i32 { first(x) + second(x) }
";
/// Signs that end words elsewhere.
const ORDER: &str = "the `x` #1 order's (a&b) [c]* %d.txt";
/// The same, and one that CMake's build files replace.
const WITH_VARIABLE: &str = "the $HOME `x` #1 order's (a&b) [c]* %d.txt";

/// A project that is built for this linker, or as it is without a snippet.
struct Project {
    folder: TempDir,
    linker: Linker,
    /// The order file, beside the build file.
    order: &'static str,
    nm: &'static str,
}

impl Project {
    fn new(linker: Linker, order: &'static str) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { folder, linker, order, nm: "nm" };
        project.write("main.c", MAIN);
        project.write("library.c", LIBRARY);
        project.write("also.cpp", ALSO);
        // Linkers by the names under which gcc looks for them.
        std::fs::create_dir(project.path("linkers")).unwrap();
        for (tool, name) in [("ld.lld-19", "ld.lld"), ("ld.gold", "ld.gold"), ("ld.bfd", "ld.bfd")]
        {
            let path = testkit::find(tool).unwrap();
            std::os::unix::fs::symlink(path, project.path("linkers").join(name)).unwrap();
        }
        project
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        std::fs::write(self.path(file), text).unwrap();
    }

    fn snippet(&self, build: BuildSystem) -> String {
        assert_eq!(unfit(build, self.linker, self.order), None);
        snippet(build, self.linker, self.order).unwrap()
    }

    fn run(&self, line: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        let linkers = self.path("linkers");
        let done = Command::new("sh")
            .args(["-ec", line])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", linkers.display()))
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("MAKEFLAGS")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&done.stderr);
        assert!(done.status.success(), "{line}: {}{said}", text(&done.stdout));
        assert!(!said.contains("warning"), "{line}: {said}");
        text(&done.stdout)
    }

    /// Functions of the project in the built file, from the lowest address on.
    fn functions(&self, program: &str) -> Vec<String> {
        let text = self.run(&format!("{} -n {program}", self.nm));
        let names = text.lines().filter_map(|line| line.rsplit(' ').next());
        let names = names.map(|name| name.strip_prefix('_').unwrap_or(name));
        let ours = ["first", "second", "third", "main", "in_library", "_Z4alsoi", "also"];
        names.filter(|name| ours.contains(name)).map(str::to_owned).collect()
    }

    fn order(&self, functions: &[String]) {
        let names: Vec<Vec<String>> = functions.iter().map(|name| vec![name.clone()]).collect();
        let functions: Vec<_> = names.iter().map(|names| OrderedFunction { names }).collect();
        let sections = InputSections::usual([]);
        self.write(self.order, &write(self.linker, &functions, Some(&sections)).text);
    }

    /// Builds without and with the snippet, then with another order, each by `build`, which gives
    /// the path of the program.
    fn obeys(&self, build: impl Fn(Option<&str>) -> String, system: BuildSystem) {
        let plain = self.functions(&build(None));
        assert!(plain.len() >= 4, "{plain:?}");
        let mut order: Vec<String> = plain.iter().rev().cloned().collect();
        self.order(&order);
        let text = self.snippet(system);
        assert_eq!(self.functions(&build(Some(&text))), order, "{:?} {text}", self.linker);
        order.rotate_left(2);
        self.order(&order);
        let again = self.functions(&build(Some(&text)));
        assert_eq!(again, order, "{:?} is not linked again: {text}", self.linker);
    }
}

/// Linkers that are installed here and make ELF files.
fn linkers(tools: &[&str]) -> Option<Vec<Linker>> {
    for tool in ["gcc", "g++", "nm", "ld.lld-19", "ld.gold", "ld.bfd"].iter().chain(tools) {
        testkit::tool(tool)?;
    }
    let help = Command::new("ld.bfd").arg("--help").output().unwrap();
    let new = String::from_utf8_lossy(&help.stdout).contains("--section-ordering-file");
    let mut linkers = vec![Linker::Lld, Linker::Gold, Linker::Script];
    linkers.extend(new.then_some(Linker::Bfd));
    Some(linkers)
}

/// The line of a snippet that is a comment because it needs a name, with that name.
fn with_program(text: &str, marker: &str, program: &str) -> String {
    let line = text.lines().find(|line| line.starts_with('#') && line.contains(marker)).unwrap();
    line.trim_start_matches("# ").replace("PROGRAM", program)
}

#[test]
fn cmake_takes_the_snippets() {
    let Some(linkers) = linkers(&["cmake", "ninja", "make"]) else { return };
    for linker in linkers {
        for generator in ["Ninja", "Unix Makefiles"] {
            let project = Project::new(linker, ORDER);
            let build = |text: Option<&str>| {
                let (before, behind) = match text {
                    Some(text) => (text, with_program(text, "order_functions(PROGRAM)", "program")),
                    None => ("", String::new()),
                };
                let file = format!(
                    "cmake_minimum_required(VERSION 3.13)\nproject(program C CXX)\n{before}\
                     add_library(library STATIC library.c)\nadd_executable(program main.c also.cpp)\n\
                     target_link_libraries(program library)\n{behind}\n"
                );
                if std::fs::read_to_string(project.path("CMakeLists.txt")).ok().as_ref()
                    != Some(&file)
                {
                    project.write("CMakeLists.txt", &file);
                    project.run(&format!(
                        "cmake -G '{generator}' -DCMAKE_BUILD_TYPE=Release -S . -B build"
                    ));
                }
                project.run("cmake --build build");
                "build/program".to_owned()
            };
            project.obeys(build, BuildSystem::CMake);
        }
    }
}

#[test]
fn meson_takes_the_snippets() {
    let Some(linkers) = linkers(&["meson", "ninja"]) else { return };
    for linker in linkers {
        let project = Project::new(linker, WITH_VARIABLE);
        let build = |text: Option<&str>| {
            let marker = "link_args: order_args";
            let arguments = text.map(|text| format!(", {}", with_program(text, marker, "")));
            let file = format!(
                "project('program', 'c', 'cpp')\n{}library = static_library('library', 'library.c')\n\
                 executable('program', 'main.c', 'also.cpp', link_with: library{})\n",
                text.unwrap_or(""),
                arguments.unwrap_or_default()
            );
            if std::fs::read_to_string(project.path("meson.build")).ok().as_ref() != Some(&file) {
                project.write("meson.build", &file);
            }
            let set_up = "test -d build || meson setup --buildtype=release build";
            project.run(&format!("{set_up}; ninja -C build"));
            "build/program".to_owned()
        };
        project.obeys(build, BuildSystem::Meson);
    }
}

#[test]
fn make_takes_the_snippets() {
    let Some(mut linkers) = linkers(&["make", "objcopy"]) else { return };
    linkers.push(Linker::Objcopy);
    for linker in linkers {
        let project = Project::new(linker, "order.txt");
        let build = |text: Option<&str>| {
            let depends = text.filter(|_| linker != Linker::Objcopy);
            let depends = depends.map(|text| with_program(text, ".EXTRA_PREREQS", "program"));
            let file = format!(
                "all: program\nCFLAGS = -O2\nCXXFLAGS = -O2\n{}{}\nprogram: main.o also.o library.a\n\
                 \t$(CXX) $(LDFLAGS) -o $@ $^\nlibrary.a: library.o\n\trm -f $@\n\tar rc $@ $^\n",
                text.unwrap_or(""),
                depends.unwrap_or_default()
            );
            if std::fs::read_to_string(project.path("Makefile")).ok().as_ref() != Some(&file) {
                project.write("Makefile", &file);
                project.run("rm -f *.o *.a program");
            }
            long_ago(&project);
            project.run("make");
            assert!(project.run("make").contains("Nothing to be done"));
            "program".to_owned()
        };
        project.obeys(build, BuildSystem::Make);
    }
}

/// make compares times: everything was made long ago, one from the other, but for the order.
fn long_ago(project: &Project) {
    let files = [
        "main.c",
        "library.c",
        "also.cpp",
        "main.o",
        "library.o",
        "also.o",
        "library.a",
        "program",
    ];
    for (day, file) in files.iter().enumerate().filter(|(_, file)| project.path(file).exists()) {
        project.run(&format!("touch -d 2020-01-{:02} {file}", day + 1));
    }
}

#[test]
fn a_shell_takes_the_snippets() {
    let Some(mut linkers) = linkers(&["objcopy"]) else { return };
    linkers.push(Linker::Objcopy);
    for linker in linkers {
        let project = Project::new(linker, "order.txt");
        let build = |text: Option<&str>| {
            let text = text.unwrap_or("");
            let (variables, objects) = text.split_at(text.find("# Between").unwrap_or(text.len()));
            project.run(&format!(
                "{variables}
                gcc -O2 $CFLAGS -c main.c library.c; g++ -O2 $CXXFLAGS -c also.cpp
                {objects}
                g++ $LDFLAGS -o program main.o also.o library.o"
            ));
            "program".to_owned()
        };
        project.obeys(build, BuildSystem::Shell);
    }
}

/// What stands below an order without a snippet.
#[test]
fn linkers_take_names_with_blanks_and_commas() {
    let Some(linkers) = linkers(&[]) else { return };
    for linker in linkers {
        for order in ["an order, made, of 'traces'", "an order's $HOME.txt"] {
            let project = Project::new(linker, order);
            project.run("gcc -O2 -ffunction-sections -c main.c library.c also.cpp");
            let link = |words: Vec<String>| {
                let words: Vec<String> = words.iter().map(model::quoted).collect();
                let words = words.join(" ");
                project.run(&format!("g++ {words} -o program main.o also.o library.o"));
                project.functions("program")
            };
            let order: Vec<String> = link(Vec::new()).into_iter().rev().collect();
            project.order(&order);
            assert_eq!(link(link_words(linker, project.order).unwrap()), order, "{linker:?}");
        }
    }
}

#[test]
fn cargo_takes_the_snippets() {
    let Some(linkers) = linkers(&["cargo"]) else { return };
    for linker in linkers.into_iter().filter(|linker| *linker != Linker::Gold) {
        let project = Project::new(linker, WITH_VARIABLE);
        project.write(
            "Cargo.toml",
            "[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n",
        );
        project.write("src/main.rs", RUST);
        let build = |text: Option<&str>| {
            if let Some(text) = text {
                let known = std::fs::read_to_string(project.path("build.rs")).ok();
                if known.as_deref() != Some(text) {
                    project.write("build.rs", text);
                }
            }
            project.run("cargo build --release --offline --quiet");
            "target/release/program".to_owned()
        };
        project.obeys(build, BuildSystem::Cargo);
    }
}

/// For macOS, with clang and lld as they are here.
#[test]
fn builds_for_macos_take_the_snippets() {
    if ["make", "clang-19", "ld64.lld-19", "llvm-nm-19"]
        .iter()
        .any(|it| testkit::tool(it).is_none())
    {
        return;
    }
    let Some(_) = linkers(&[]) else { return };
    let project = Project { nm: "llvm-nm-19", ..Project::new(Linker::Ld64, "order.txt") };
    let clang = "clang-19 --target=x86_64-apple-macos12";
    let nothing = "-fuse-ld=lld -nostdlib -Wl,-undefined,dynamic_lookup";
    let by_make = |text: Option<&str>| {
        let depends = text.map(|text| with_program(text, ".EXTRA_PREREQS", "program"));
        let file = format!(
            "all: program\nCC = {clang}\nCXX = {clang}\nCFLAGS = -O2\nCXXFLAGS = -O2\n\
             LDFLAGS = {nothing}\n{}{}\nprogram: main.o also.o library.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n",
            text.unwrap_or(""),
            depends.unwrap_or_default()
        );
        project.write("Makefile", &file);
        long_ago(&project);
        project.run("make");
        "program".to_owned()
    };
    project.obeys(by_make, BuildSystem::Make);
    let by_shell = |text: Option<&str>| {
        project.run(&format!(
            "{}\n{clang} -O2 -c main.c library.c also.cpp\n{clang} {nothing} $LDFLAGS -o program *.o",
            text.unwrap_or("")
        ));
        "program".to_owned()
    };
    project.obeys(by_shell, BuildSystem::Shell);
}

/// For Windows, with clang in the place of cl, and lld-link.
#[test]
fn builds_for_windows_take_the_snippets() {
    let tools = ["make", "clang-19", "lld-link-19", "llvm-nm-19"];
    if tools.iter().any(|tool| testkit::tool(tool).is_none()) {
        return;
    }
    let Some(_) = linkers(&[]) else { return };
    let project = Project { nm: "llvm-nm-19", ..Project::new(Linker::LldLink, "order.txt") };
    let clang = "clang-19 --driver-mode=cl --target=x86_64-pc-windows-msvc /O2 /GS-";
    let link = "lld-link-19 /entry:main /subsystem:console /nodefaultlib /debug:symtab";
    let by_make = |text: Option<&str>| {
        let depends = text.map(|text| with_program(text, ".EXTRA_PREREQS", "program"));
        let file = format!(
            "all: program\n%.o: %.c\n\t{clang} /c /Fo$@ $<\n%.o: %.cpp\n\t{clang} /c /Fo$@ $<\n{}{}\n\
             program: main.o also.o library.o\n\t{link} /out:$@ $^\n",
            text.unwrap_or(""),
            depends.unwrap_or_default()
        );
        if std::fs::read_to_string(project.path("Makefile")).ok().as_ref() != Some(&file) {
            project.write("Makefile", &file);
            project.run("rm -f *.o program");
        }
        long_ago(&project);
        project.run("make");
        "program".to_owned()
    };
    project.obeys(by_make, BuildSystem::Make);
    let by_shell = |text: Option<&str>| {
        project.run(&format!(
            "{}\nfor file in main.c library.c also.cpp; do {clang} /c /Fo$file.o $file; done\n\
             {link} /out:program *.*.o",
            text.unwrap_or("")
        ));
        "program".to_owned()
    };
    project.obeys(by_shell, BuildSystem::Shell);
}
