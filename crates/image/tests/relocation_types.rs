//! Names of relocation types, for every machine and number, against the installed readelf.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::collections::BTreeMap;
use std::process::Command;

/// An object file of one machine whose only section of interest has relocations of types 0 to
/// `types`, one each.
fn object(machine: u16, bits: u8, types: u32) -> Vec<u8> {
    let wide = bits == 64;
    let word = |value: u64| match wide {
        true => value.to_le_bytes().to_vec(),
        false => (value as u32).to_le_bytes().to_vec(),
    };
    let header_bytes: u64 = if wide { 64 } else { 52 };
    let section_bytes: u16 = if wide { 64 } else { 40 };
    let entry_bytes: u64 = if wide { 24 } else { 12 };
    let table_bytes = entry_bytes * u64::from(types);
    let mut file = vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1];
    file.resize(16, 0);
    file.extend(1_u16.to_le_bytes()); // ET_REL
    file.extend(machine.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    for value in [0, 0, header_bytes + table_bytes] {
        file.extend(word(value));
    }
    file.extend([0; 4]);
    for value in [header_bytes as u16, 0, 0, section_bytes, 2, 0] {
        file.extend(value.to_le_bytes());
    }
    for kind in 0..types {
        for value in [0, u64::from(kind), 0] {
            file.extend(word(value));
        }
    }
    file.resize(file.len() + usize::from(section_bytes), 0);
    file.extend([0, 0, 0, 0, 4, 0, 0, 0]); // SHT_RELA
    for value in [0, 0, header_bytes, table_bytes] {
        file.extend(word(value));
    }
    file.extend([0; 8]);
    file.extend(word(1));
    file.extend(word(entry_bytes));
    file
}

/// Types by name as readelf prints them, and whether it is the version that the tables are of.
fn readelf(bytes: &[u8]) -> Option<BTreeMap<String, u64>> {
    let tool = testkit::tool("readelf")?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.o");
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new(tool).args(["-rW"]).arg(path).env("LC_ALL", "C").output().unwrap();
    let mut types = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        let numbers = words.next().zip(words.next());
        let hexadecimal = |text: &str| text.len() >= 8 && u64::from_str_radix(text, 16).is_ok();
        if !numbers.is_some_and(|(offset, info)| hexadecimal(offset) && hexadecimal(info)) {
            continue;
        }
        let count = if line.contains("unrecognized:") { 2 } else { 1 };
        let name: Vec<&str> = words.take(count).collect();
        *types.entry(name.join(" ")).or_default() += 1;
    }
    Some(types)
}

#[test]
fn types_have_readelfs_names() {
    let tool = testkit::tool("readelf").map(|tool| Command::new(tool).arg("--version").output());
    let Some(version) = tool else { return };
    let version = String::from_utf8_lossy(&version.unwrap().stdout).into_owned();
    // Newer versions name more types, older ones fewer; the names do not change.
    let same = version.lines().next().is_some_and(|line| line.contains(" 2.40"));
    let machines = [
        (3, 32),
        (62, 64),
        (40, 32),
        (183, 64),
        (243, 64),
        (20, 32),
        (21, 64),
        (22, 64),
        (22, 32),
        (8, 32),
        (2, 32),
        (0x9026, 64),
        (50, 64),
        (15, 32),
        (4, 32),
        (42, 32),
        (258, 64),
        (247, 64),
        (83, 32),
        (93, 32),
        (195, 32),
        (252, 32),
        (189, 32),
        (92, 32),
        (224, 64),
        (94, 32),
        (113, 32),
        (0xfff0, 64),
    ];
    for (machine, bits) in machines {
        let types = if bits == 64 { 1100 } else { 256 };
        let bytes = object(machine, bits, types);
        let theirs = readelf(&bytes).unwrap();
        let ours = image::elf::facts_of("types.o", &bytes).unwrap().relocations;
        assert_eq!(ours.values().sum::<u64>(), u64::from(types), "machine {machine}");
        if same {
            assert_eq!(ours, theirs, "machine {machine}");
        }
        for name in ours.keys().filter(|name| name.starts_with("R_")) {
            let known = theirs.contains_key(name);
            assert!(known || !same, "machine {machine}: readelf does not know {name}");
        }
    }
}
