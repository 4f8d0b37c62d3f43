//! libscca's `sccainfo` reads the same in prefetch files as headstart does.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::path::Path;
use std::process::Command;
use testkit::pf::{Codes, PfForm, PfSample, PfSampleFile, PfSampleVolume, mam};

/// What both tell: the run count and the listed files.
type Told = (u32, Vec<String>);

fn told_by_sccainfo(tool: &Path, file: &Path) -> Told {
    let output = Command::new(tool).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "sccainfo {file:?}: {errors}");
    let value = |line: &str| line.split_once(": ").unwrap().1.trim().to_owned();
    let files = text.lines().filter_map(|line| line.trim().strip_prefix("Filename: ")).map(value);
    let count = text.lines().find(|line| line.trim().starts_with("Run count")).map(value).unwrap();
    (count.parse().unwrap(), files.collect())
}

fn told_by_headstart(file: &Path) -> Told {
    let facts = prefetch::pf::read(file).unwrap();
    assert_eq!(facts.problems, [""; 0], "{file:?}");
    (facts.run_count, facts.files.into_iter().map(|file| file.path).collect())
}

fn sample(form: PfForm, files: usize) -> PfSample {
    let device = r"\DEVICE\HARDDISKVOLUME2".to_owned();
    let file = |number: usize| PfSampleFile {
        path: format!(r"{device}\WINDOWS\SYSTEM32\LIBRARY-{number}-OF-{}.DLL", number * 7919),
        reference: 100 + number as u64,
        pages: (0..number as u64 % 90).map(|page| 1024 + 4096 * page).collect(),
    };
    PfSample {
        form,
        executable: "PROGRAM.EXE".to_owned(),
        hash: 0x0123_4567,
        run_count: 3 + files as u32,
        last_runs: vec![130_073_839_092_812_500, 130_000_000_000_000_000],
        files: (0..files).map(file).collect(),
        volumes: vec![PfSampleVolume {
            device_path: device.clone(),
            serial: 0x24cb_074b,
            created: 130_073_839_092_812_500,
            directories: vec![format!(r"{device}\WINDOWS")],
            references: vec![5, 6],
        }],
        text: "A TEXT".to_owned(),
    }
}

#[test]
fn both_tell_the_same_of_every_version() {
    let Some(tool) = testkit::tool("sccainfo") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("PROGRAM.EXE-01234567.pf");
    // sccainfo expects compressed content to be smaller; the largest here has several blocks.
    for (form, files) in
        PfForm::ALL.into_iter().flat_map(|form| [20, 90, 700].map(|files| (form, files)))
    {
        let sample = sample(form, files);
        let expected: Vec<String> = sample.files.iter().map(|file| file.path.clone()).collect();
        let bytes = sample.bytes();
        for compressed in [None, Some(Codes::Even), Some(Codes::Skewed)] {
            let write = |bytes: &[u8]| {
                let bytes = compressed.map_or(bytes.to_owned(), |codes| mam(bytes, codes));
                std::fs::write(&path, bytes).unwrap();
            };
            write(&bytes);
            let told = told_by_headstart(&path);
            assert_eq!(told, (sample.run_count, expected.clone()), "{form:?}, {compressed:?}");
            // Version 31 is as version 30; sccainfo knows it since 2024.
            write(&[&[bytes[0].min(30)], &bytes[1..]].concat());
            assert_eq!(told, told_by_sccainfo(&tool, &path), "{form:?}, {compressed:?}");
        }
    }
}

/// By hand, with files that Windows has written: `HEADSTART_PF=FOLDER cargo test -p prefetch --test
/// sccainfo -- --ignored --nocapture`.
#[test]
#[ignore = "needs files that Windows has written"]
fn both_tell_the_same_of_real_files() {
    let Some(tool) = testkit::tool("sccainfo") else { return };
    let folder =
        std::env::var_os("HEADSTART_PF").expect("HEADSTART_PF names a folder of .pf files");
    let mut same = 0;
    let mut hashed = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match prefetch::pf::read(&path) {
            Ok(facts) if facts.version < 31 => {
                assert_eq!(told_by_headstart(&path), told_by_sccainfo(&tool, &path), "{path:?}");
                same += 1;
                hashed += usize::from(facts.hashed_path.is_some());
            }
            Ok(facts) => {
                println!("{path:?}: version {}, {} files", facts.version, facts.files.len())
            }
            Err(error) => println!("{error}"),
        }
    }
    println!("{same} files agree; the hash of {hashed} follows from a listed path");
    assert!(same > 0);
}
