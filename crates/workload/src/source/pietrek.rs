//! Matt Pietrek's workload as C sources.

use super::main_c;
use super::script::{Script, runpath};
use crate::{Counts, Files, Pietrek};
use std::fmt::Write;

pub(crate) fn pietrek(pietrek: &Pietrek, counts: Counts) -> Files {
    let mut files = Files::new("build.sh", counts);
    for library in 1..=pietrek.dlls {
        let pietrek = pietrek.clone();
        files.add(format!("LoadTimeDLL_{library}.c"), false, move || {
            library_source(&pietrek, library).into_bytes()
        });
    }
    let copy = pietrek.clone();
    files.add("LoadTimeTest.c", false, move || {
        let functions = |library| (1..=copy.functions).map(move |n| Pietrek::function(library, n));
        let imports: Vec<String> = (1..=copy.dlls).flat_map(functions).collect();
        main_c::calls(&imports).into_bytes()
    });
    let copy = pietrek.clone();
    files.add("build.sh", true, move || script(&copy));
    files
}

fn library_source(pietrek: &Pietrek, library: u32) -> String {
    let mut text = String::new();
    for number in 1..=pietrek.functions {
        let function = Pietrek::function(library, number);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "int {function}(void);");
        for global in 0..pietrek.globals {
            let _ = writeln!(text, "static void *volatile global_{number}_{global} = {function};");
        }
        let _ = writeln!(text, "int {function}(void)\n{{");
        for global in 0..pietrek.globals {
            let _ = writeln!(text, "    global_{number}_{global} = {function};");
        }
        let identity = pietrek.identity(library, number);
        let _ = writeln!(text, "    return {identity};\n}}\n");
    }
    text
}

fn script(pietrek: &Pietrek) -> Vec<u8> {
    let mut script = Script::new(pietrek.lazy);
    let mut libraries = String::new();
    for library in 1..=pietrek.dlls {
        let name = format!("libLoadTimeDLL_{library}.so");
        script.library(&name, &format!("LoadTimeDLL_{library}.c"));
        let _ = write!(libraries, " ./{name}");
    }
    let more = format!("LoadTimeTest.c{libraries} {}", runpath("$ORIGIN"));
    script.program("LoadTimeTest", &more);
    script.finish()
}
