//! Functions of PE programs under Wine in order of first call.

use crate::support::folder;
use model::{Command, Ending, Until};
use os::launcher::Stdio;
use os::trace::{FunctionRequest, RecordUntil, RecordedFunctions, functions};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::pe::{Machine, Wine, mingw};

/// A recorded launch of a program that was built here.
struct Recorded {
    functions: RecordedFunctions,
    output: String,
}

impl Recorded {
    /// The functions of the module `file` among `wanted`, in order of first call.
    fn order<'a>(&self, file: &Path, wanted: &[&'a str]) -> Vec<&'a str> {
        let modules = &self.functions.modules;
        let path = file.to_str().unwrap();
        let module = modules.iter().position(|m| m.path == path).unwrap();
        let names = names(file);
        let calls = self.functions.calls.iter().filter(|call| call.module.index() == module);
        let named = calls.filter_map(|call| names.get(&call.rva.0));
        named.filter_map(|name| wanted.iter().find(|one| *one == name)).copied().collect()
    }
}

/// Symbols of code by nm, by RVA; without the underscore of 32-bit programs.
fn names(file: &Path) -> HashMap<u32, String> {
    let starts = image::function_starts(file).unwrap();
    let base = starts.preferred_base.0;
    let nm = std::process::Command::new("x86_64-w64-mingw32-nm").arg(file).output().unwrap();
    let text = String::from_utf8(nm.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, "T" | "t", name] = words[..] else { return None };
        let address = u64::from_str_radix(address, 16).ok()?;
        let rva = u32::try_from(address.checked_sub(base)?).ok()?;
        let name = if base < 1 << 32 { name.strip_prefix('_').unwrap_or(name) } else { name };
        starts.starts.binary_search(&model::Rva(rva)).ok()?;
        Some((rva, name.to_owned()))
    });
    lines.collect()
}

/// What launches `program` in the prefix of the tests.
fn command(wine: &Wine, program: &Path) -> Command {
    let (loader, command) = wine.beneath(program);
    let variable = |(name, value): (&OsStr, Option<&OsStr>)| {
        (name.to_str().unwrap().to_owned(), value.map(OsStr::to_owned))
    };
    Command {
        argv: vec!["wine64".into(), program.into()],
        program: loader,
        directory: None,
        environment: command.get_envs().map(variable).collect(),
    }
}

fn record(wine: &Wine, program: &Path, change: impl FnOnce(&mut FunctionRequest)) -> Recorded {
    let output = program.with_extension("output");
    let file = File::create(&output).unwrap();
    let mut request = FunctionRequest {
        until: RecordUntil::Launch(Until::Exit),
        first: None,
        count_limit: None,
        timeout: Duration::from_secs(60),
        cpu: Some(os::host::quiet_cpu()),
        stdio: Stdio::null().unwrap().with_output(file),
    };
    change(&mut request);
    let command = command(wine, program);
    let functions = functions(&command, &request).unwrap();
    let output = std::fs::read_to_string(&output).unwrap().replace('\r', "");
    Recorded { functions, output }
}

/// Wine and a mingw program; `None` where either is missing.
fn built(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    testkit::tool("wine64")?;
    mingw(folder, Machine::X86_64, name, source, flags)
}

const PLAIN: &str = r#"
    #include <stdio.h>
    __attribute__((noinline)) static void c(void) { puts("c"); }
    __attribute__((noinline)) void a(void) { puts("a"); }
    __attribute__((noinline)) void never(void) { puts("never"); }
    __attribute__((noinline)) void b(void) { puts("b"); }
    int main(int argc, char **argv) { b(); for (int i = 0; i < 3; i++) a(); c(); b();
        if (argc > 5) never(); fflush(stdout); return 3; }"#;

#[test]
fn functions_come_in_order_of_first_call_and_once() {
    let folder = folder();
    let Some(program) = built(folder.path(), "program.exe", PLAIN, &["-O1"]) else { return };
    let Some(wine) = Wine::shared() else { return };
    let run = record(&wine, &program, |_| {});
    assert_eq!(run.order(&program, &["a", "b", "c", "never", "main"]), ["main", "b", "a", "c"]);
    assert_eq!(run.functions.ending, Ending::Code(3));
    assert_eq!(run.output, "b\na\na\na\nc\nb\n");
    assert!(run.functions.notes.is_empty(), "{:?}", run.functions.notes);
}

/// Records a program of one file, and holds what it did against a launch that is not traced.
fn equal(source: &str, flags: &[&str], wanted: &[&str], expected: &[&str]) {
    let folder = folder();
    let Some(program) = built(folder.path(), "program.exe", source, flags) else { return };
    let wine = Wine::shared().unwrap();
    let untraced = wine.run(folder.path(), &["program.exe"]);
    let run = record(&wine, &program, |_| {});
    assert_eq!(run.output, untraced.stdout.replace('\r', ""));
    assert_eq!(run.functions.ending, Ending::Code(untraced.code.unwrap()));
    assert_eq!(run.order(&program, wanted), expected, "{}", run.output);
    assert!(run.functions.notes.is_empty(), "{:?}", run.functions.notes);
}

#[test]
fn threads_and_thread_local_storage_are_recorded() {
    let source = r#"
        #include <windows.h>
        #include <stdio.h>
        static __thread volatile int own = 5;
        static volatile LONG seen;
        __attribute__((noinline)) void on_thread(void) { InterlockedIncrement(&seen); }
        void NTAPI callback(void *m, DWORD reason, void *p) { if (reason == 1) on_thread(); }
        __attribute__((section(".CRT$XLB"), used)) PIMAGE_TLS_CALLBACK entry = callback;
        __attribute__((noinline)) void in_thread(void) { own++; }
        static DWORD WINAPI thread(void *p) { for (int i = 0; i < 1000; i++) in_thread(); return own; }
        int main(void) {
            HANDLE threads[8]; DWORD code, sum = 0;
            for (int i = 0; i < 8; i++) threads[i] = CreateThread(0, 0, thread, 0, 0, 0);
            WaitForMultipleObjects(8, threads, TRUE, INFINITE);
            for (int i = 0; i < 8; i++) { GetExitCodeThread(threads[i], &code); sum += code; }
            printf("%lu %ld\n", sum, seen); fflush(stdout);
            return 7;
        }"#;
    let wanted = ["callback", "on_thread", "main", "thread", "in_thread"];
    equal(source, &["-O1"], &wanted, &wanted);
}

#[test]
fn exceptions_and_breakpoints_stay_the_programs_own() {
    let source = r#"
        #include <windows.h>
        #include <stdio.h>
        static int traps, faults, divisions;
        __attribute__((noinline)) void on_trap(EXCEPTION_POINTERS *e) {
            traps++;
            e->ContextRecord->Rip = (DWORD64)e->ExceptionRecord->ExceptionAddress + 1;
        }
        __attribute__((noinline)) void on_fault(EXCEPTION_POINTERS *e) { faults++; e->ContextRecord->Rip += 2; }
        __attribute__((noinline)) void on_division(EXCEPTION_POINTERS *e) { divisions++; e->ContextRecord->Rip += 2; }
        LONG NTAPI handler(EXCEPTION_POINTERS *e) {
            switch (e->ExceptionRecord->ExceptionCode) {
            case EXCEPTION_BREAKPOINT: on_trap(e); return EXCEPTION_CONTINUE_EXECUTION;
            case EXCEPTION_ACCESS_VIOLATION: on_fault(e); return EXCEPTION_CONTINUE_EXECUTION;
            case EXCEPTION_INT_DIVIDE_BY_ZERO: on_division(e); return EXCEPTION_CONTINUE_EXECUTION;
            }
            return EXCEPTION_CONTINUE_SEARCH;
        }
        __attribute__((noinline)) void after(void) { __asm__(""); }
        int main(void) {
            AddVectoredExceptionHandler(1, handler);
            for (int i = 0; i < 3; i++) __asm__ volatile("int3");
            DebugBreak();
            __asm__ volatile("xor %%eax, %%eax; .byte 0x8b, 0x00" ::: "eax", "memory");
            __asm__ volatile("xor %%ecx, %%ecx; mov $1, %%eax; cdq; .byte 0xf7, 0xf1" ::: "eax", "ecx", "edx");
            after();
            printf("%d %d %d %d\n", traps, faults, divisions, IsDebuggerPresent());
            fflush(stdout);
            return 0;
        }"#;
    let wanted = ["main", "handler", "on_trap", "on_fault", "on_division", "after"];
    equal(source, &["-O1"], &wanted, &wanted);
}

#[test]
fn libraries_that_come_and_go_are_recorded() {
    let folder = folder();
    let library = "__attribute__((noinline)) static int one(void) { __asm__(\"\"); return 1; }\n\
                   static int (*volatile way)(void) = one;\n\
                   __declspec(dllexport) int two(void) { return way() + 1; }";
    let flags = ["-O1", "-shared", "-Wl,--image-base=0x66660000"];
    let Some(first) = built(folder.path(), "first.dll", library, &flags) else { return };
    let second = built(folder.path(), "second.dll", library, &flags).unwrap();
    let source = r#"
        #include <windows.h>
        #include <stdio.h>
        static int use(const char *name) {
            HMODULE library = LoadLibraryA(name);
            int (*two)(void) = (int (*)(void))GetProcAddress(library, "two");
            int result = two();
            return FreeLibrary(library) ? result : 100;
        }
        int main(void) {
            HMODULE both[2] = { LoadLibraryA("first.dll"), LoadLibraryA("second.dll") };
            int moved = both[0] != both[1] && both[1];  // one of them is not at its preferred base
            int sum = ((int (*)(void))GetProcAddress(both[1], "two"))();
            FreeLibrary(both[0]); FreeLibrary(both[1]);
            for (int i = 0; i < 5; i++) sum += use("first.dll") + use("second.dll");
            printf("%d %d\n", moved, sum); fflush(stdout);
            return sum;
        }"#;
    let program = built(folder.path(), "program.exe", source, &["-O1"]).unwrap();
    let wine = Wine::shared().unwrap();
    let run = record(&wine, &program, |_| {});
    assert_eq!((run.functions.ending, &*run.output), (Ending::Code(22), "1 22\n"));
    for (library, expected) in [(first, 5), (second, 6)] {
        let calls = run.order(&library, &["one", "two"]);
        // It is mapped as often, and every time is a first one.
        assert_eq!(calls, ["two", "one"].repeat(expected), "{library:?}");
    }
}

#[test]
fn cpp_exceptions_unwind_through_functions_that_were_hit() {
    let Some(gxx) = testkit::tool("x86_64-w64-mingw32-g++") else { return };
    let (Some(wine), folder) = (Wine::shared(), folder()) else { return };
    let source = r#"
        #include <cstdio>
        #include <stdexcept>
        struct Noisy { ~Noisy() { std::puts("gone"); } };
        extern "C" __attribute__((noinline)) void thrower(int n) {
            if (n > 2) throw std::runtime_error("deep");
            Noisy noisy; thrower(n + 1);
        }
        extern "C" __attribute__((noinline)) int catcher() {
            try { thrower(0); } catch (const std::exception &e) { return std::puts(e.what()) < 0; }
            return 9;
        }
        int main() { int code = catcher(); std::fflush(stdout); return code + 4; }"#;
    let program = testkit::compile(&gxx, folder.path(), "program.exe", source, &["-O1", "-static"]);
    let run = record(&wine, &program, |_| {});
    assert_eq!((run.functions.ending, &*run.output), (Ending::Code(4), "gone\ngone\ngone\ndeep\n"));
    let wanted = ["main", "catcher", "thrower"];
    assert_eq!(run.order(&program, &wanted), wanted);
}

#[test]
fn calls_are_counted_and_a_function_can_end_the_launch() {
    let folder = folder();
    let Some(program) = built(folder.path(), "program.exe", PLAIN, &["-O1"]) else { return };
    let wine = Wine::shared().unwrap();
    let run = record(&wine, &program, |request| request.count_limit = Some(100));
    assert_eq!((run.functions.ending, &*run.output), (Ending::Code(3), "b\na\na\na\nc\nb\n"));
    let names = names(&program);
    let count = |wanted: &str| {
        let is_it = |rva: u32| names.get(&rva).is_some_and(|name| name == wanted);
        let path = program.to_str().unwrap();
        let module = run.functions.modules.iter().position(|m| m.path == path).unwrap();
        let mut calls = run.functions.calls.iter();
        calls.find(|c| c.module.index() == module && is_it(c.rva.0)).unwrap().count.unwrap()
    };
    assert_eq!(["main", "b", "a", "c"].map(count), [1, 2, 3, 1]);
    let until = RecordUntil::Function("c".to_owned());
    let run = record(&wine, &program, |request| request.until = until);
    assert!(run.functions.ready);
    assert_eq!(run.order(&program, &["a", "b", "c"]), ["b", "a"]);
}
