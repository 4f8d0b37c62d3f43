//! Bindings of the simulator against those of glibc's own loader.
#![allow(clippy::unwrap_used)] // a test that cannot build its program fails

mod oracle;

use model::ModuleId;
use oracle::{agree, initialized, simulated};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Bench {
    folder: tempfile::TempDir,
    cc: PathBuf,
    /// Options that choose the linker and the form of its tables.
    options: Vec<String>,
}

impl Bench {
    fn new(options: &[&str]) -> Option<Bench> {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Some(Bench { folder: tempfile::tempdir().unwrap(), cc: testkit::tool("cc")?, options })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn cc(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let file = self.path(&format!("{name}.c"));
        fs::write(&file, source).unwrap();
        let mut command = Command::new(&self.cc);
        command.current_dir(self.folder.path()).arg("-o").arg(name).arg(file);
        command.args(options).args(&self.options);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?} {}", String::from_utf8_lossy(&output.stderr));
        self.path(name)
    }

    fn library(&self, name: &str, source: &str, options: &[&str]) {
        let soname = format!("-Wl,-soname,{name}");
        let shared = ["-shared", "-fPIC", &soname, "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"];
        self.cc(name, source, &[&shared, options].concat());
    }

    fn program(&self, source: &str, options: &[&str]) -> PathBuf {
        let shared = ["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-no-pie", "-fno-pie"];
        self.cc("program", source, &[&shared, options].concat())
    }
}

/// Every linker that is here, and every form of hash table.
fn benches() -> Vec<Bench> {
    let mut all = vec![
        Bench::new(&["-Wl,--hash-style=gnu"]),
        Bench::new(&["-Wl,--hash-style=sysv"]),
        Bench::new(&["-Wl,--hash-style=both", "-Wl,-z,now"]),
    ];
    for (tool, name) in [("ld.lld-19", "lld"), ("mold", "mold")] {
        let Some(linker) = testkit::find(tool) else { continue };
        let bench = Bench::new(&[&format!("-fuse-ld={name}"), "-B."]);
        // gcc knows it by this name alone.
        let link = |bench: &Bench| symlink(&linker, bench.path(&format!("ld.{name}"))).unwrap();
        bench.iter().for_each(link);
        all.push(bench);
    }
    all.into_iter().flatten().collect()
}

/// Interposition, weak and protected symbols, data copied into the program, functions chosen at
/// run time, thread-local data, a library of its own scope.
#[test]
fn kinds_of_symbols() {
    for bench in benches() {
        bench.library(
            "libfirst.so",
            "int shared(void) { return 1; }\nint data[4] = {1, 2, 3, 4};\n__thread int tls = 5;\n\
             __attribute__((weak)) int soft(void) { return 6; }\n\
             int only_weak(void) __attribute__((weak));\n\
             int *where(void) { return data; }\nint ask(void) { return only_weak ? 1 : 0; }",
            &[],
        );
        bench.library(
            "libsecond.so",
            "int shared(void) { return 2; }\nint soft(void) { return 7; }\n\
             __attribute__((visibility(\"protected\"))) int guarded(void) { return 8; }\n\
             int (*pointer)(void) = guarded;\nextern __thread int tls;\n\
             int calls(void) { return shared() + soft() + guarded() + pointer() + tls; }",
            &["-L.", "-l:libfirst.so"],
        );
        bench.library(
            "libown.so",
            "int shared(void) { return 3; }\nint own(void) { return shared(); }",
            &["-Wl,-Bsymbolic"],
        );
        bench.library(
            "libchosen.so",
            "static int chosen(void) { return 9; }\nstatic void *choose(void) { return chosen; }\n\
             int indirect(void) __attribute__((ifunc(\"choose\")));\n\
             int uses(void) { return indirect(); }",
            &[],
        );
        let program = bench.program(
            "extern int data[4]; extern __thread int tls; int shared(void), soft(void), calls(void);\n\
             int own(void), indirect(void), uses(void), ask(void), *where(void), guarded(void);\n\
             int (*taken)(void) = shared;\n\
             int main(void) { return !(data[1] + shared() + soft() + calls() + own() + tls\n\
             + indirect() + uses() + ask() + *where() + taken() + guarded()); }",
            &["-L.", "-l:libfirst.so", "-l:libsecond.so", "-l:libown.so", "-l:libchosen.so"],
        );
        agree(&program, None);
    }
}

const OLD: &str = "int f(void) { return 1; }\nint plain(void) { return 2; }";
const NEW: &str = "int f_1(void) { return 1; }\nint f_2(void) { return 2; }\n\
                   int plain(void) { return 2; }\nint gone_1(void) { return 3; }\n\
                   __asm__(\".symver f_1, f@V_1\"); __asm__(\".symver f_2, f@@V_2\");\n\
                   __asm__(\".symver gone_1, gone@V_1\");";
const MAP: &str = "V_1 { global: f; gone; local: *; };\nV_2 { global: f; plain; } V_1;\n";

/// A program linked to a library without versions meets one with them, and the other way round;
/// a default version and a hidden one.
#[test]
fn versions() {
    let uses = "int f(void), plain(void); int main(void) { return f() + plain() == 0; }";
    for bench in benches().into_iter().take(3) {
        fs::write(bench.path("map"), MAP).unwrap();
        let with = ["-Wl,--version-script,map"];
        // Linked without versions, launched with them.
        bench.library("libversions.so", OLD, &[]);
        let program = bench.program(uses, &["-L.", "-l:libversions.so"]);
        agree(&program, None);
        bench.library("libversions.so", NEW, &with);
        agree(&program, None);
        // Linked with the default version, and with the old one by name.
        let program = bench.program(uses, &["-L.", "-l:libversions.so"]);
        agree(&program, None);
        let program = bench.program(
            "int old(void); __asm__(\".symver old, f@V_1\");\n\
             int main(void) { return old() != 1; }",
            &["-L.", "-l:libversions.so"],
        );
        agree(&program, None);
        assert!(
            simulated(&program, None)
                .iter()
                .any(|bound| bound.symbol == "f" && bound.version == "V_1")
        );
    }
}

const UNIQUE: &str = "__asm__(\".globl once\\n.type once, @gnu_unique_object\\n.data\\nonce: .long 1\\n\
                      .size once, 4\\n.text\"); extern int once; int *NAME(void) { return &once; }";

/// A symbol that exists once in a process is the definition of the module that was relocated
/// first, which is the one loaded last, whatever version is asked for.
#[test]
fn unique_symbols() {
    for bench in benches().into_iter().take(3) {
        for (library, version) in [("libone.so", "ONE"), ("libtwo.so", "TWO")] {
            let map = format!("V_{version} {{ global: once; {version}; local: *; }};");
            fs::write(bench.path(version), map).unwrap();
            let script = format!("-Wl,--version-script,{version}");
            bench.library(library, &UNIQUE.replace("NAME", version), &[&script]);
        }
        let program = bench.program(
            "int *ONE(void), *TWO(void); int main(void) { return ONE() != TWO(); }",
            &["-L.", "-l:libone.so", "-l:libtwo.so"],
        );
        agree(&program, None);
        let of_one = |bound: &&loader::log::LoggedBinding| {
            bound.symbol == "once" && bound.object.ends_with("libone.so")
        };
        let simulated = simulated(&program, None);
        let bound = simulated.iter().find(of_one).unwrap();
        assert!(bound.definer.ends_with("libtwo.so"), "{bound:?}");
    }
}

/// Initializers run as the loader calls them: along needs, in a circle, with priorities inside a
/// library being the library's own affair.
#[test]
fn order_of_initialization() {
    let Some(bench) = Bench::new(&[]) else { return };
    let init =
        |n: u32| format!("int v{n}; __attribute__((constructor)) void i{n}(void) {{ v{n} = 1; }}");
    // A library that is in a circle is built once without and once with its need.
    bench.library("lib5.so", &init(5), &[]);
    bench.library("lib4.so", &init(4), &["-L.", "-l:lib5.so"]);
    bench.library("lib3.so", &init(3), &[]);
    bench.library("lib2.so", &init(2), &["-L.", "-l:lib3.so", "-l:lib4.so"]);
    bench.library("lib3.so", &init(3), &["-L.", "-l:lib2.so"]);
    bench.library("lib1.so", &init(1), &["-L.", "-l:lib4.so", "-l:lib2.so"]);
    let program = |options: &[&str]| {
        bench.program("int main(void) { return 0; }", &[&["-L."], options].concat())
    };
    for order in [
        &["-l:lib1.so", "-l:lib2.so", "-l:lib3.so"][..],
        &["-l:lib3.so", "-l:lib5.so", "-l:lib1.so"],
        &["-l:lib5.so", "-l:lib4.so", "-l:lib2.so"],
    ] {
        in_order(&program(order));
    }
}

fn in_order(program: &Path) {
    let graph = loader::load(program, &loader::Environment::default()).unwrap();
    let simulated = loader::order::of_initialization(&graph).into_iter();
    let simulated: Vec<_> = simulated.map(|module| &graph[module]).collect();
    let named = |module: &&loader::Module| module.path.display().to_string();
    let simulated: Vec<String> = simulated.iter().map(named).collect();
    // The loader says nothing of modules that have no initializers, and calls the program's own
    // from its start code.
    let real = initialized(program);
    let of_both: Vec<String> = simulated.into_iter().filter(|path| real.contains(path)).collect();
    assert_eq!(of_both, real, "{}", program.display());
    assert!(real.len() > 1);
}

/// A small generator of numbers that look random, always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        // Knuth's MMIX; the upper bits are the good ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// Some of the numbers from `from` to `to`, in any order.
    fn some(&mut self, from: u64, to: u64) -> Vec<u64> {
        let mut rest: Vec<u64> = (from..to).collect();
        let count = self.below(rest.len() as u64 + 1);
        (0..count).map(|_| rest.remove(self.below(rest.len() as u64) as usize)).collect()
    }
}

/// Needs in whatever form: the loader and the simulator map and initialize in the same order, and
/// bind a symbol that all libraries define to the same one.
#[test]
fn any_needs() {
    const LIBRARIES: u64 = 7;
    let Some(bench) = Bench::new(&[]) else { return };
    let mut dice = Dice(7);
    for _ in 0..8 {
        for library in (0..LIBRARIES).rev() {
            let needs = dice.some(library + 1, LIBRARIES);
            let options: Vec<String> =
                needs.iter().map(|need| format!("-l:libany{need}.so")).collect();
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let source = format!(
                "int common(void) {{ return {library}; }} int v; int own{library}(void) {{ return common(); }}\n\
                 __attribute__((constructor)) void begin{library}(void) {{ v = common(); }}"
            );
            bench.library(
                &format!("libany{library}.so"),
                &source,
                &[&["-L."], &options[..]].concat(),
            );
        }
        let mut needs = dice.some(0, LIBRARIES);
        needs.push(0);
        let options: Vec<String> = needs.iter().map(|need| format!("-l:libany{need}.so")).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let program =
            bench.program("int main(void) { return 0; }", &[&["-L."], &options[..]].concat());
        agree(&program, None);
        in_order(&program);
        let graph = loader::load(&program, &loader::Environment::default()).unwrap();
        let mapped = graph.modules.iter().skip(1).map(|module| module.path.display().to_string());
        // Where nothing needs the loader's own library it is listed all the same.
        let listed = oracle::listed(&program);
        assert_eq!(mapped.collect::<Vec<_>>(), listed, "{needs:?}");
    }
}

/// One name with $ORIGIN in it means another file in each folder.
#[test]
fn one_name_for_two_files() {
    let Some(bench) = Bench::new(&[]) else { return };
    for (folder, value) in [("a", 1), ("b", 2)] {
        fs::create_dir(bench.path(folder)).unwrap();
        let (shared, user) = (format!("{folder}/libshared.so"), format!("{folder}/lib{folder}.so"));
        let source = format!("int value_{folder}(void) {{ return {value}; }}");
        let own = ["-shared", "-fPIC", "-Wl,-soname,$ORIGIN/libshared.so"];
        bench.cc(&shared, &source, &own);
        let source =
            format!("int value_{folder}(void); int {folder}(void) {{ return value_{folder}(); }}");
        let soname = format!("-Wl,-soname,lib{folder}.so");
        bench.cc(&user, &source, &["-shared", "-fPIC", &soname, &shared]);
    }
    let rpath = "-Wl,-rpath,$ORIGIN/a:$ORIGIN/b";
    let program = bench.program(
        "int a(void), b(void); int main(void) { return a() + b() != 3; }",
        // The linker knows nothing of $ORIGIN.
        &["a/liba.so", "b/libb.so", rpath, "-Wl,--allow-shlib-undefined"],
    );
    agree(&program, None);
    assert_eq!(loader::load(&program, &loader::Environment::default()).unwrap().modules.len(), 7);
}

/// A program may have more libraries than a process may have open files.
#[test]
fn more_libraries_than_open_files() {
    let folder = tempfile::tempdir().unwrap();
    let n = 1200;
    let kind = workload::Kind::Star;
    let files =
        workload::generate(&workload::Workload::Shape(workload::Shape { kind, n })).unwrap();
    let program = files.write_to(folder.path()).unwrap().program;
    let graph = loader::load(&program, &loader::Environment::default()).unwrap();
    assert_eq!(graph.modules.len(), 1 + n as usize);
    let open = fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 200, "{open} files are open");
}

/// Libraries that the environment names, before and instead of others.
#[test]
fn environment() {
    let Some(bench) = Bench::new(&[]) else { return };
    let source = |n: u32| format!("int f(void) {{ return {n}; }} int g(void) {{ return f(); }}");
    bench.library("libenv.so", &source(1), &[]);
    let program =
        bench.program("int g(void); int main(void) { return g() == 0; }", &["-L.", "-l:libenv.so"]);
    let other = bench.path("other");
    fs::create_dir(&other).unwrap();
    fs::rename(bench.path("libenv.so"), other.join("libenv.so")).unwrap();
    agree(&program, Some(&other));
    assert!(loader::load(&program, &loader::Environment::default()).is_err());

    bench.library("libbefore.so", "int f(void) { return 2; }", &[]);
    let preload = format!("{}:no-such-library.so", bench.path("libbefore.so").display());
    let environment = loader::Environment {
        library_path: Some(other.into_os_string()),
        preload: Some(preload.into()),
        bind_now: true,
    };
    let graph = loader::load(&program, &environment).unwrap();
    let names: Vec<_> =
        graph.modules.iter().map(|module| module.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names[..3], ["program", "libbefore.so", "libenv.so"]);
    let bound = loader::bindings(&graph, true);
    let of_library = bound[2].bindings.iter().find(|binding| {
        graph.modules[2].image.symbol(binding.from.symbol).is_some_and(|symbol| symbol.name == b"f")
    });
    assert_eq!(
        of_library.unwrap().to.unwrap().module,
        ModuleId(1),
        "the preloaded definition is the first"
    );
}

/// Programs of this machine, small and large.
#[test]
fn programs_of_this_machine() {
    for name in ["git", "emacs", "clang-19", "readelf", "strace"] {
        let Some(program) = testkit::tool(name) else { continue };
        let program = program.canonicalize().unwrap();
        agree(&program, None);
        in_order(&program);
    }
}

#[test]
fn what_no_loader_loads_is_refused() {
    let Some(bench) = Bench::new(&[]) else { return };
    let refused = |path: &Path| {
        loader::load(path, &loader::Environment::default()).err().unwrap().to_string()
    };
    let main = "int main(void) { return 0; }";
    let program = bench.cc("static", main, &["-static"]);
    assert!(refused(&program).contains("is static"), "{}", refused(&program));
    bench.library("libgone.so", "int gone;", &[]);
    let program = bench.program(main, &["-L.", "-l:libgone.so"]);
    fs::remove_file(bench.path("libgone.so")).unwrap();
    let said = refused(&program);
    assert!(said.contains("libgone.so") && said.contains("not found"), "{said}");
    let bytes = fs::read(&program).unwrap();
    for length in [0, 3, 20, 64, 100, 1000, bytes.len() / 2] {
        // Cut short anywhere: an error, or what is left; no panic.
        let cut = bench.path("cut");
        fs::write(&cut, &bytes[..length]).unwrap();
        if let Ok(graph) = loader::load(&cut, &loader::Environment::default()) {
            loader::bindings(&graph, true);
        }
    }
}
