//! Emitted ELF images under the real loader and before other readers of the format.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod common;

use common::{all, emitted, images, launch, launch_with, lazy, pietrek, shape};
use std::path::Path;
use std::process::Command;
use workload::{Counts, Kind, generate};

#[test]
fn every_program_loads_and_every_import_is_the_right_function() {
    for workload in all() {
        let (_folder, program) = emitted(&workload);
        for arguments in [&[][..], &["--call"]] {
            let output = launch(&program, arguments);
            assert_eq!(output.status.code(), Some(0), "{workload:?} {arguments:?}: {output:?}");
        }
    }
}

#[test]
fn other_arguments_are_an_error() {
    let (_folder, program) = emitted(&pietrek(1, 1, 1));
    for wrong in ["--cal", "--calls", "", "x"] {
        assert_eq!(launch(&program, &[wrong]).status.code(), Some(2), "{wrong}");
    }
}

/// Functions that are swapped behind the program's back are found, and the first is named.
#[test]
fn a_wrong_function_is_reported_by_its_number() {
    let (folder, program) = emitted(&pietrek(3, 100, 1));
    let library = folder.path().join("libLoadTimeDLL_2.so");
    let mut bytes = std::fs::read(&library).unwrap();
    let returns = |number: u8| [0xb8, number, 0, 0, 0, 0xc3];
    let at = bytes.windows(6).position(|window| window == returns(142)).unwrap();
    bytes[at..at + 6].copy_from_slice(&returns(143));
    std::fs::write(&library, bytes).unwrap();
    let output = launch(&program, &["--call"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "142\n");
    assert_eq!(launch(&program, &[]).status.code(), Some(0));
}

#[test]
fn a_library_that_cannot_be_opened_is_reported_by_its_number() {
    let (folder, program) = emitted(&shape(Kind::Dlopen, 12));
    std::fs::remove_file(folder.path().join("libshape_11.so")).unwrap();
    let output = launch(&program, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "11\n");
}

#[test]
fn other_readers_have_nothing_to_warn_of() {
    let readers = [("readelf", "-aW"), ("llvm-readobj-19", "--all")];
    for (name, option) in readers {
        let Some(reader) = testkit::tool(name) else { continue };
        for workload in all() {
            let (folder, _) = emitted(&workload);
            let output = Command::new(&reader)
                .arg(option)
                .args(images(&workload, folder.path()))
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && errors.is_empty(), "{workload:?}: {errors}");
            let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
            assert!(!text.contains("warning") && !text.contains("<corrupt"), "{workload:?}");
        }
    }
}

#[test]
fn the_counts_are_those_of_the_images() {
    for workload in all() {
        let (folder, _) = emitted(&workload);
        let mut found = Counts::default();
        for path in images(&workload, folder.path()) {
            let facts = image::elf::facts(&path).unwrap();
            assert!(facts.problems.is_empty(), "{path:?}: {:?}", facts.problems);
            found.relocations += facts.relocation_count();
            found.imports += facts.imports;
            found.exports += facts.exports;
        }
        assert_eq!(found, generate(&workload).unwrap().counts(), "{workload:?}");
    }
}

#[test]
fn the_same_bytes_every_time() {
    for workload in all() {
        let ((first, _), (second, _)) = (emitted(&workload), emitted(&workload));
        let (first, second) = (images(&workload, first.path()), images(&workload, second.path()));
        for (first, second) in first.iter().zip(&second) {
            let same = std::fs::read(first).unwrap() == std::fs::read(second).unwrap();
            assert!(same, "{first:?}");
        }
    }
}

/// What the loader says it binds, and when.
fn bindings(program: &Path) -> usize {
    let output = launch_with(program, "LD_DEBUG", "bindings");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    log.lines().filter(|line| line.contains("symbol `LoadTimeDLL_")).count()
}

#[test]
fn imports_are_bound_at_start_unless_they_are_lazy() {
    let (_eager_folder, eager) = emitted(&pietrek(2, 30, 2));
    let (_lazy_folder, lazy) = emitted(&lazy(2, 30, 2));
    assert_eq!((bindings(&eager), bindings(&lazy)), (60, 0));
}

/// Libraries that the loader maps, by the order in which it looks for them.
fn mapped(program: &Path) -> Vec<String> {
    let output = launch_with(program, "LD_TRACE_LOADED_OBJECTS", "1");
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = list.lines().filter(|line| line.contains("libshape_"));
    names.map(|line| line.split_whitespace().next().unwrap_or("").to_owned()).collect()
}

#[test]
fn every_shape_has_its_libraries() {
    let numbered: Vec<_> = (1..=4).map(|number| format!("libshape_{number}.so")).collect();
    let reversed: Vec<_> = numbered.iter().rev().cloned().collect();
    for kind in Kind::ALL {
        let (_folder, program) = emitted(&shape(kind, 4));
        let wanted = match kind {
            Kind::Dlopen => &[],
            Kind::ReverseChain => &reversed[..],
            Kind::Symbols | Kind::SearchPath => &numbered[..1],
            _ => &numbered[..],
        };
        assert_eq!(mapped(&program), wanted, "{kind:?}");
    }
}

#[test]
fn shapes_depend_in_their_form() {
    let needed = |kind, number: u32| {
        let (folder, _) = emitted(&shape(kind, 4));
        let path = folder.path().join(format!("libshape_{number}.so"));
        image::elf::facts(&path).unwrap().needed.len()
    };
    let each = |kind| [1, 2, 3, 4].map(|number| needed(kind, number));
    assert_eq!(each(Kind::Star), [0, 0, 0, 0]);
    assert_eq!(each(Kind::Chain), [1, 1, 1, 0]);
    assert_eq!(each(Kind::ReverseChain), [1, 1, 1, 0]);
    assert_eq!(each(Kind::Dense), [3, 2, 1, 0]);
}

#[test]
fn every_folder_but_the_last_is_searched_in_vain() {
    let (folder, program) = emitted(&shape(Kind::SearchPath, 4));
    let output = launch_with(&program, "LD_DEBUG", "libs");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let tried = |number: u32| {
        let path = folder.path().join(format!("folder_{number}/libshape_1.so"));
        log.contains(&format!("trying file={}", path.display()))
    };
    assert_eq!([1, 2, 3, 4].map(tried), [true; 4], "{log}");
    let (_folder, program) = emitted(&shape(Kind::SearchPath, 0));
    let output = launch_with(&program, "LD_DEBUG", "libs");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!log.contains("trying file="), "{log}");
}
