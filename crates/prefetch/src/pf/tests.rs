//! Prefetch files of all versions, as they are written for tests.

use super::*;
use model::PfFacts;
use proptest::prelude::*;
use testkit::pf::{Codes, PfForm, PfSample, PfSampleFile, PfSampleVolume, mam};

const CREATED: u64 = 130_073_839_092_812_500;

fn sample(form: PfForm) -> PfSample {
    let device = r"\DEVICE\HARDDISKVOLUME2";
    let file = |name: &str, reference, pages: &[u64]| PfSampleFile {
        path: format!(r"{device}\WINDOWS\SYSTEM32\{name}"),
        reference,
        pages: pages.to_vec(),
    };
    let program = format!(r"{device}\WINDOWS\SYSTEM32\NOTEPAD.EXE");
    let function = if form == PfForm::Seventeen { PfHash::Xp } else { PfHash::Server2008 };
    PfSample {
        form,
        executable: "NOTEPAD.EXE".to_owned(),
        hash: function.of(&program),
        run_count: 12,
        last_runs: (0..8).map(|launch| CREATED - launch * 36_000_000_000).collect(),
        files: vec![
            file("NTDLL.DLL", 51_305 | (14 << 48), &[0, 1024, 13_312, 17_408]),
            file("NOTEPAD.EXE", 0, &[0, 4096]),
            file("LOCALE.NLS", 7, &[]),
            file("ÜBERSICHT.TXT", 1, &[1 << 31]),
        ],
        volumes: vec![
            PfSampleVolume {
                device_path: device.to_owned(),
                serial: 0x24cb_074b,
                created: CREATED,
                directories: vec![
                    format!(r"{device}\WINDOWS"),
                    format!(r"{device}\WINDOWS\SYSTEM32"),
                ],
                references: vec![0, 51_305 | (14 << 48), 9],
            },
            PfSampleVolume {
                device_path: r"\DEVICE\HARDDISKVOLUME3".to_owned(),
                serial: 1,
                created: 0,
                directories: Vec::new(),
                references: Vec::new(),
            },
        ],
        text: r"\VOLUME{1}\X.EXE".to_owned(),
    }
}

fn agrees(facts: &PfFacts, sample: &PfSample) {
    assert_eq!(facts.problems, [""; 0]);
    assert_eq!((facts.version, facts.run_count), (sample.form.version(), sample.run_count));
    assert_eq!(facts.executable, sample.executable);
    assert_eq!(facts.hash, format!("{:08X}", sample.hash));
    let times = if facts.version < 26 { 1 } else { 8 };
    let times: Vec<String> =
        sample.last_runs.iter().take(times).filter_map(|time| time::utc(*time)).collect();
    assert_eq!(facts.last_runs, times);
    assert_eq!(facts.files.len(), sample.files.len());
    for (found, written) in facts.files.iter().zip(&sample.files) {
        assert_eq!((&found.path, &found.pages), (&written.path, &written.pages));
        let reference = if facts.version == 17 { 0 } else { written.reference };
        assert_eq!(found.reference, volumes::reference(reference));
    }
    assert_eq!(facts.volumes.len(), sample.volumes.len());
    for (found, written) in facts.volumes.iter().zip(&sample.volumes) {
        assert_eq!(found.device_path, written.device_path);
        assert_eq!(found.serial, format!("{:08X}", written.serial));
        assert_eq!(found.created, time::utc(written.created));
        assert_eq!(found.directories, written.directories);
        let references: Vec<_> =
            written.references.iter().filter_map(|value| volumes::reference(*value)).collect();
        assert_eq!(found.references, references);
    }
    let text = (facts.version >= 30).then_some(&sample.text);
    assert_eq!(facts.text.as_ref(), text);
}

#[test]
fn every_version_is_read_as_it_was_written() {
    for form in PfForm::ALL {
        let sample = sample(form);
        let bytes = sample.bytes();
        let facts = read_bytes("a.pf", &bytes).unwrap();
        agrees(&facts, &sample);
        let program = r"\DEVICE\HARDDISKVOLUME2\WINDOWS\SYSTEM32\NOTEPAD.EXE";
        assert_eq!(facts.hashed_path.as_deref(), Some(program));
        assert_eq!(facts.file_bytes, bytes.len() as u64);
        for codes in [Codes::Even, Codes::Skewed] {
            let compressed = mam(&bytes, codes);
            let found = read_bytes("a.pf", &compressed).unwrap();
            let (file_bytes, content) = (compressed.len() as u64, Some(bytes.len() as u64));
            assert_eq!(found, PfFacts { file_bytes, content_bytes: content, ..facts.clone() });
            assert!(begins_as_one(&compressed) && begins_as_one(&bytes));
        }
    }
}

#[test]
fn what_is_no_prefetch_file_is_refused() {
    let problem = |bytes: &[u8]| read_bytes("a.pf", bytes).unwrap_err();
    assert_eq!(problem(b""), PfProblem::OtherFile);
    assert_eq!(problem(b"\x1e\0\0\0SDCA"), PfProblem::OtherFile);
    assert_eq!(problem(b"\x20\0\0\0SCCA"), PfProblem::Version(32));
    assert_eq!(problem(b"\x1e\0\0\0SCCA"), PfProblem::CutShort);
    assert_eq!(problem(b"MAM\x02\0\0\0\0"), PfProblem::Compression(2));
    assert_eq!(problem(b"MAM\x04\0"), PfProblem::CutShort);
    assert_eq!(problem(b"MAM\x04\xff\xff\xff\xff"), PfProblem::TooLarge(u64::from(u32::MAX)));
    assert!(matches!(problem(b"MAM\x04\xff\xff\0\0"), PfProblem::Damaged(_)));
    assert_eq!(problem(&mam(b"a database of SuperFetch", Codes::Even)), PfProblem::OtherContent);
    assert!(!begins_as_one(&mam(b"a database of SuperFetch", Codes::Even)));
}

#[test]
fn a_checksum_is_checked() {
    // "MAM\x84", the size, the checksum, and the same as without one.
    let plain = mam(&sample(PfForm::Thirty).bytes(), Codes::Even);
    let mut bytes = [b"MAM\x84", &plain[4..8], &[0; 4], &plain[8..]].concat();
    assert_eq!(read_bytes("a.pf", &bytes).unwrap().problems, ["its checksum is wrong"]);
    let sum = mam::checksum(&bytes);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(read_bytes("a.pf", &bytes).unwrap().problems, [""; 0]);
}

#[test]
fn parts_outside_of_the_file_are_problems() {
    let whole = sample(PfForm::TwentySix).bytes();
    for (place, wanted) in
        [(88, "list of files"), (96, "trace chains"), (104, "names"), (112, "volumes")]
    {
        let mut bytes = whole.clone();
        bytes[place..place + 4].fill(0xff);
        let problems = read_bytes("a.pf", &bytes).unwrap().problems;
        assert!(problems.iter().any(|problem| problem.contains(wanted)), "{wanted}: {problems:?}");
    }
    let cut = read_bytes("a.pf", &whole[..whole.len() - 1]).unwrap();
    assert!(cut.problems[0].contains("its size is not"), "{:?}", cut.problems);
}

#[test]
fn no_entries_that_say_the_same_again_take_memory() {
    // 100,000 files of the same name of 60,000 characters would be 12 GB.
    let mut sample = sample(PfForm::TwentyThree);
    sample.files.truncate(1);
    sample.files[0].path = "A".repeat(60_000);
    let few = sample.bytes();
    sample.files = (0..100_000)
        .map(|_| PfSampleFile { path: String::new(), reference: 0, pages: vec![] })
        .collect();
    let mut bytes = sample.bytes();
    let names = bytes.len();
    bytes.extend(&few);
    let name_of = |place: usize| 240 + 32 * place;
    bytes[100..104].copy_from_slice(&(names as u32).to_le_bytes());
    bytes[104..108].copy_from_slice(&(few.len() as u32).to_le_bytes());
    for place in 0..100_000 {
        let at = name_of(place) + 16;
        bytes[at..at + 4].copy_from_slice(&(few.len() as u32 / 2).to_le_bytes());
    }
    let facts = read_bytes("a.pf", &bytes).unwrap();
    assert!(facts.files.len() < 100, "{}", facts.files.len());
    assert!(facts.problems.iter().any(|problem| problem.contains("listed files")));
}

#[test]
fn blocks_and_long_matches_are_decompressed() {
    let mut content = vec![0; 200_000];
    for (place, byte) in content[70_000..150_000].iter_mut().enumerate() {
        *byte = (place * place / 7) as u8;
    }
    for codes in [Codes::Even, Codes::Skewed] {
        let compressed = testkit::pf::compress(&content, codes);
        assert!(xpress::decompress(&compressed, content.len()).unwrap() == content);
        assert_eq!(xpress::decompress(&compressed, 100).unwrap(), content[..100]);
    }
}

proptest! {
    #[test]
    fn what_was_compressed_comes_back(
        content in proptest::collection::vec(prop_oneof![Just(0_u8), Just(b'E'), any::<u8>()], 0..3000),
        skewed in any::<bool>(),
    ) {
        let codes = if skewed { Codes::Skewed } else { Codes::Even };
        let compressed = testkit::pf::compress(&content, codes);
        prop_assert_eq!(xpress::decompress(&compressed, content.len()).unwrap(), content);
    }

    #[test]
    fn damage_never_panics_and_a_cut_is_never_silent(
        form in 0..6_usize,
        compressed in any::<bool>(),
        cut in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let bytes = sample(PfForm::ALL[form]).bytes();
        let bytes = if compressed { mam(&bytes, Codes::Skewed) } else { bytes };
        // The last words of a compressed file may be zeros that nothing needs.
        let short = &bytes[..cut.index(bytes.len() - 4)];
        prop_assert!(read_bytes("a.pf", short).map_or(true, |facts| !facts.problems.is_empty()));
        let mut damaged = bytes.clone();
        for (place, value) in changes {
            let place = place.index(damaged.len());
            damaged[place] = value;
        }
        let _ = begins_as_one(&damaged);
        if let Ok(facts) = read_bytes("a.pf", &damaged) {
            let kept: usize = facts.files.iter().map(|file| file.path.len() + 8 * file.pages.len()).sum();
            prop_assert!(kept <= 64 * damaged.len().max(facts.content_bytes.unwrap_or(0) as usize));
        }
    }
}
