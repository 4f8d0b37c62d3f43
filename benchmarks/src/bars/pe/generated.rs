//! PE files made here: generated workloads, and what the installed compilers and linkers build.

use crate::subjects::pe_files::{self, Set};
use anyhow::Result;
use std::path::{Path, PathBuf};
use workload::{Arch, Bases, By, Dawson, Format, Hints, PeOptions, Pietrek, pe};

/// All of them, in folders below this one.
pub fn all(folder: &Path) -> Result<Set> {
    let built = folder.join("built");
    std::fs::create_dir_all(&built)?;
    testkit::pe::samples(&built);
    generated(&folder.join("generated"))?;
    pe_files::set("generated and built".to_owned(), folder.to_owned())
}

/// Workloads of both machines, imported by name and by ordinal, and a large guard table.
pub fn generated(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut keep = |name: String, (file, bytes): (String, Vec<u8>)| -> Result<()> {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(file);
        std::fs::write(&path, bytes)?;
        files.push(path);
        Ok(())
    };
    for arch in [Arch::X86_64, Arch::I686] {
        for (number, by) in [By::Name, By::Ordinal].into_iter().enumerate() {
            let by_name = number == 0;
            let pe = PeOptions {
                bases: if by_name { Bases::Default } else { Bases::Chosen },
                hints: if by_name { Hints::Right } else { Hints::Zero },
                checksum: by_name,
                dynamic_base: !by_name,
                ..PeOptions::default()
            };
            let (dlls, functions, globals) = (2, 1025, 3);
            let asked =
                Pietrek { dlls, functions, globals, by, format: Format::Pe, arch, lazy: false, pe };
            for index in 0..=asked.dlls {
                keep(format!("{arch:?}-{number}"), pe::pietrek::file(&asked, index)?)?;
            }
        }
    }
    for guard_entry_bytes in [4, 5] {
        let (sources, classes, functions) = (2, 10, 100);
        let sizes = Dawson { sources, classes, functions, ..Dawson::default() };
        let asked = Dawson { format: Format::Pe, guard_entry_bytes, ..sizes };
        keep(format!("guard-{guard_entry_bytes}"), pe::dawson::file(&asked)?)?;
    }
    Ok(files)
}
