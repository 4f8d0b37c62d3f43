//! Views of a report with known figures.

use super::*;
use model::{
    Format, MappedVa, MemoryKind, SectionDivision, SharingComparison, SharingModule, SharingRest,
    SharingSection, SharingTotals,
};

fn memory(size_kib: u64, private_kib: u64, shared_kib: u64) -> MemoryFigures {
    MemoryFigures {
        size_kib,
        committed_kib: size_kib,
        rss_kib: private_kib + shared_kib,
        private_kib,
        shared_kib,
        shareable_kib: shared_kib,
        copied_kib: private_kib,
        swap_kib: 0,
    }
}

fn figures(memory: MemoryFigures) -> MappingFigures {
    let pss_kib = memory.private_kib + memory.shared_kib / 2;
    MappingFigures { memory, pss_kib, ..MappingFigures::default() }
}

fn report() -> SharingReport {
    let process = |copy| SharingProcess {
        pid: 10 + copy,
        copy: Some(copy),
        command: "program".to_owned(),
        state: SharingState::Idle,
        agrees: Some(true),
        totals: SharingTotals {
            figures: figures(memory(3000, 500, 700)),
            cpu_us: 1500,
            relocated_kib: 100,
            ..SharingTotals::default()
        },
    };
    let section = |name: &str, protection: &str, memory| SharingSection {
        name: name.to_owned(),
        protection: protection.to_owned(),
        memory,
    };
    let module = SharingModule {
        path: "/lib/libx.so".to_owned(),
        deleted: false,
        format: Format::Elf,
        figures: figures(memory(4000, 400, 1400)),
        relocated_kib: 200,
        division: SectionDivision::Pages,
        sections: vec![
            section(".text", "r-x", memory(3600, 0, 1400)),
            section(".data", "rw-", memory(400, 400, 0)),
        ],
        base: vec![Some(MappedVa(0x7f00_0000)), Some(MappedVa(0x7e00_0000))],
    };
    let rest = SharingRest {
        kind: MemoryKind::Heap,
        name: String::new(),
        figures: figures(memory(2000, 600, 0)),
    };
    let mut totals = SharingTotals::default();
    let processes: Vec<_> = [1, 2].map(process).into();
    processes.iter().for_each(|process| totals += process.totals);
    SharingReport {
        schema: 1,
        headstart: "0".to_owned(),
        command: Some("program --shell".to_owned()),
        copies: Some(2),
        page_bytes: 4096,
        processes,
        unread: Vec::new(),
        modules: vec![module],
        rest: vec![rest],
        totals,
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn sums_processes_kinds_modules_and_addresses_are_shown() {
    let style = Style { color: false, width: 100, unicode: true };
    let shown = view(&report(), &style, false);
    for part in [
        "program --shell (2 copies)\n",
        "Each copy has 1,200 KiB in memory: 500 KiB that no other process has mapped, and 700 KiB",
        "2 copies take 1,700 KiB",
        "one more copy adds about 500 KiB.",
        "relocations write to take 100 KiB of private memory in\neach.",
        "  copy 1   idle     3,000      1,200      500     700      850     0  1.500 ms\n",
        "what the memory is, KiB, mean of 2 copies\n",
        "  1 module    2,000      2,000        900      200     700        700     200\n",
        "  heap (brk)  1,000      1,000        300      300       0          0     300\n",
        "  libx.so          2,000      2,000        900      200     700        700     200\n",
        "    .data  rw-       200        200        200      200       0          0     200\n",
        "  libx.so  7f000000  7e000000\n",
        "The only module in several processes is at different addresses",
        "note: a note",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

#[test]
fn commands_are_side_by_side_with_changes() {
    let style = Style { color: false, width: 80, unicode: true };
    let mut other = report();
    other.totals.figures.memory.private_kib = 500;
    let commands = vec![report(), other];
    let comparison = SharingComparison { schema: 1, headstart: "0".to_owned(), commands };
    let shown = super::comparison(&comparison, &style);
    let row = shown.lines().find(|line| line.trim_start().starts_with("private")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["private", "500", "250", "−50.0", "%"]);
    assert!(shown.starts_with("1  program --shell (2 copies)\n2  program"), "{shown}");
}

#[test]
fn published_figures_are_in_tables_of_their_own() {
    let style = Style { color: false, width: 80, unicode: true };
    let shown = published(&style);
    for part in [
        "OpenOffice.org",
        "55,152     86,392\n",
        "    image    3,016      2,624    2,108        516",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!view(&report(), &style, true).contains("OpenOffice"));
}

#[test]
fn programs_are_named_without_folders_of_either_system() {
    let mut process = report().processes.remove(0);
    for (command, name) in [
        ("/usr/bin/node --x", "node"),
        (r"'C:\windows\system32\wine boot.exe' --init", "wine boot.exe"),
        ("kthreadd", "kthreadd"),
    ] {
        command.clone_into(&mut process.command);
        assert_eq!(program(&process), name);
    }
}
