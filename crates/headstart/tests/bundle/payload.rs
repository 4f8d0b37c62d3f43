//! Programs and libraries with data in their own files.

use crate::common::stderr;
use crate::place::Place;
use crate::refused::{MAIN, refused};
use crate::stage::{command, json, outcome, run};
use std::fs;
use std::process::Command;
use testkit::WhenFree;

/// It tells the last bytes of its own file, found by the name of the link or of itself.
const READS_ITSELF: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    char text[9] = "";
    FILE *own = fopen(count > 1 ? words[0] : "/proc/self/exe", "r");
    return !own || fseek(own, -8, SEEK_END) || fread(text, 1, 8, own) != 8 || puts(text) < 0;
}
"#;

/// A bundle printed something else, and said nothing of it.
#[test]
fn a_program_with_data_behind_it_is_declined() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", READS_ITSELF, &[]);
    let bytes = fs::read(&program).unwrap();
    let whole = place.file("with-data", &[&bytes[..], b"PAYLOAD!"].concat());
    assert_eq!(command(&whole).output_when_free().stdout, b"PAYLOAD!\n");
    let says = format!("8 bytes of data at offset {} behind its last", bytes.len());
    refused(&[], &whole, 1, &says);
    let padded = place.file("padded", &[&bytes[..], &[0; 4096]].concat());
    place.same(&padded);
}

#[test]
fn a_program_with_data_in_an_unknown_section_is_declined() {
    let (Some(place), Some(objcopy)) = (Place::new(), testkit::tool("objcopy")) else { return };
    let program = place.built("program", MAIN, &["-g"]);
    let data = place.file("data", b"an archive");
    let add = |name: &str| {
        let section = format!("{name}={}", data.display());
        let mut command = Command::new(&objcopy);
        command.arg("--add-section").arg(section).arg(&program);
        assert!(command.status().unwrap().success());
    };
    add(".debug_anything");
    place.same(&program);
    add("pydata");
    refused(&[], &program, 1, "in the section 'pydata', which is not loaded");
}

/// A library may read its file: it stays one of its own.
#[test]
fn a_library_with_data_behind_it_stays_outside() {
    let Some(place) = Place::new() else { return };
    let source = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n\
        int last(void) { Dl_info info; dladdr((void *)last, &info);\n\
        FILE *own = fopen(info.dli_fname, \"r\"); fseek(own, -1, SEEK_END); return fgetc(own); }";
    let library =
        place.built("liblast.so", source, &["-shared", "-fPIC", "-Wl,-soname,liblast.so"]);
    let bytes = fs::read(&library).unwrap();
    fs::write(&library, [&bytes[..], b"!"].concat()).unwrap();
    let folder = format!("-Wl,-rpath,{}", place.folder.path().display());
    let main = "#include <stdio.h>\nint last(void); int main(void) { return last() != '!'; }";
    let program = place.built("program", main, &["-L.", "-llast", &folder]);
    place.same(&program);
    let out = place.path("json").display().to_string();
    let made = json(&["bundle", "--json", "--out", &out, program.to_str().unwrap()]);
    let modules = made["modules"].as_array().unwrap();
    let outside = modules.iter().find(|module| module["name"] == "liblast.so").unwrap();
    let reason = outside["outside"].as_str().unwrap();
    assert!(reason.starts_with("it has 1 byte of data at offset "), "{reason}");
    let bundle = command(&place.path("json/run")).output_when_free();
    assert_eq!(outcome(&bundle), outcome(&command(&program).output_when_free()));
    let verified = run(&["verify", &out]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}
