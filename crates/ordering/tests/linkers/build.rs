//! Object files, and linking them.

use ordering::maps;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Functions that gcc divides, clones and puts aside.
pub const ONE: &str = r#"
#include <stdlib.h>
extern int sink;
int two(int); int fold_b(int); int from_cpp(int);
struct pair { int a, b; };
__attribute__((noinline)) static int same(int x) { return x * 3 + sink; }
/* .isra: only a field of the argument is used. */
__attribute__((noinline)) static int field(struct pair *p) { sink++; return p->a * 7; }
/* .constprop: always called with the same number. */
__attribute__((noinline)) static int scaled(int x, int by) { sink += by; return x * by + sink / (by + x); }
/* .part: the rest of a function whose beginning is inlined. */
static int rare(int *x) {
    if (!x) return 0;
    for (int i = 0; i < *x; i++) { sink += two(i); sink ^= two(sink + i); sink *= two(sink); }
    return sink + two(*x) + two(sink) + two(3) + two(sink * 3) + two(sink * 5);
}
int early(int *x) { return rare(x) + 1; }
int late(int *x) { return rare(x) + 2; }
int last(int *x) { return rare(x) + 3; }
__attribute__((noinline, noreturn, cold)) void fails(int x) { exit(two(x)); }
__attribute__((cold, noinline)) int unlikely(int x) { return x + sink * 5; }
__attribute__((hot, noinline)) int likely(int x) { return x - sink * 5; }
int fold_a(int x) { return x * 77 + 1234567; }
int real_name(int x) { return x ^ 0x55; }
extern int other_name(int) __attribute__((alias("real_name")));
__attribute__((constructor)) static void begins(void) { sink += 1; }
__attribute__((destructor)) static void ends(void) { sink -= 1; }
/* Used, though they are inlined. */
void *volatile kept[] = { early, late, last, fold_a, fold_b, other_name };
int main(int count, char **words) {
    (void)words;
    sink += kept[count] == 0;
    struct pair p = { count, 2 };
    if (count > 9) fails(count);
    int x = same(count) + field(&p) + scaled(count, 9) + scaled(sink, 9);
    x += early(&count) + late(&x) + last(&count) + unlikely(x) + likely(x);
    return (fold_a(x) + fold_b(x) + other_name(x) + from_cpp(x)) & 1 ? 3 : 3;
}
"#;
/// A static function of the same name, and a function that is the same as another.
pub const TWO: &str = r#"
int sink = 4;
__attribute__((noinline)) static int same(int x) { return x * 5 - sink; }
int two(int x) { return same(x) + 1; }
int fold_b(int x) { return x * 77 + 1234567; }
"#;
/// Templates, constructors of static objects, and cold parts: what runs when an exception flies.
const THREE: &str = r#"
#include <stdexcept>
#include <string>
extern "C" int sink;
extern "C" int from_cpp(int);
namespace { __attribute__((noinline)) int hidden(int x) { return x * 11 + sink; } }
template <typename T> __attribute__((noinline)) T generic(T x) { return x * 2 + sink; }
struct Global { int v; Global(); ~Global(); };
__attribute__((noinline)) Global::Global() : v(sink) {}
__attribute__((noinline)) Global::~Global() { sink = v; }
static Global global, another;
__attribute__((noinline)) int checked(int x) {
    Global inside;
    std::string text(x & 15, 'x');
    if (x == 1234567) throw std::runtime_error(text + "!");
    return inside.v + int(text.size());
}
int from_cpp(int x) {
    try { x += checked(x & 7); } catch (const std::exception &e) { x = e.what()[0]; }
    return hidden(x) + generic(x) + int(generic(x * 1.5)) + int(generic<long>(x)) + global.v;
}
"#;

/// Names of one function: all at its address.
pub type Names = Vec<String>;

/// Object files, and linkers under the names by which compilers look for them.
pub struct Build {
    pub folder: TempDir,
    pub compiler: &'static str,
}

impl Build {
    /// Compiles the three files.
    pub fn new(compiler: &'static str, options: &[&str]) -> Option<Build> {
        for tool in [compiler, "g++", "nm"] {
            testkit::tool(tool)?;
        }
        let build = Build { folder: tempfile::tempdir().unwrap(), compiler };
        for (file, text) in [("one.c", ONE), ("two.c", TWO), ("three.cpp", THREE)] {
            build.write(file, text);
            build.run(compiler, &[&["-O2", "-c", file], options].concat());
        }
        Some(build)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path().join(file), text).unwrap();
    }

    /// Runs a tool that has nothing to say.
    pub fn run(&self, tool: impl AsRef<Path>, words: &[&str]) -> Output {
        let tool = tool.as_ref();
        let done = Command::new(tool).args(words).current_dir(self.path()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.is_empty(), "{tool:?} {words:?}: {said}");
        done
    }

    /// Lets gcc find this linker as `ld.NAME`.
    pub fn take(&self, linker: &Path, name: &str) {
        std::os::unix::fs::symlink(linker, self.path().join(format!("ld.{name}"))).unwrap();
    }

    pub fn link(&self, output: &str, options: &[&str]) {
        let words = ["one.o", "two.o", "three.o", "-o", output];
        self.run("g++", &[&words[..], options].concat());
        let ended = Command::new(self.path().join(output)).status().unwrap();
        assert_eq!(ended.code(), Some(3), "{output} {options:?}");
    }

    /// Functions of the object files as they come in the linked file.
    pub fn functions(&self, file: &str) -> Vec<Names> {
        let ours = self.symbols(&["one.o", "two.o", "three.o"]);
        let ours: BTreeSet<String> = ours.into_iter().map(|(_, name)| name).collect();
        let all = grouped(self.symbols(&["-n", file]));
        let is_ours = |names: &Names| names.iter().any(|name| ours.contains(name));
        // Of an address that has no name of ours, others may come from the start files.
        all.into_iter().filter(is_ours).collect()
    }

    /// Addresses and names of code by nm.
    pub fn symbols(&self, words: &[&str]) -> Vec<(String, String)> {
        let text = String::from_utf8(self.run("nm", words).stdout).unwrap();
        let code = text.lines().filter_map(|line| {
            let (address, rest) = line.split_once(' ')?;
            let (kind, name) = rest.split_once(' ')?;
            let is_code = matches!(kind, "t" | "T" | "w" | "W") && !address.is_empty();
            is_code.then(|| (address.to_owned(), name.to_owned()))
        });
        code.collect()
    }

    pub fn map(&self, file: &str) -> maps::LinkerMap {
        maps::read(file, &std::fs::read(self.path().join(file)).unwrap()).unwrap()
    }
}

pub fn grouped(symbols: Vec<(String, String)>) -> Vec<Names> {
    let mut groups: Vec<(String, Names)> = Vec::new();
    for (address, name) in symbols {
        match groups.last_mut().filter(|(at, _)| *at == address) {
            Some((_, names)) => names.push(name),
            None => groups.push((address, vec![name])),
        }
    }
    let sorted = groups.into_iter().map(|(_, mut names)| {
        names.sort_unstable();
        names
    });
    sorted.collect()
}
