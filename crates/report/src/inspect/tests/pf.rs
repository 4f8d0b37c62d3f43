//! Tests of how prefetch files of Windows are printed.

use crate::inspect::files;
use model::{InspectedFile, PfFacts, PfFormat, PfListedFile, PfReference, PfVolume};

fn facts() -> PfFacts {
    let device = r"\VOLUME{01d1217a9c4c6779-8c9f49ec}";
    let file = |name: &str, pages: u64| PfListedFile {
        path: format!(r"{device}\WINDOWS\SYSTEM32\{name}"),
        reference: Some(PfReference { entry: 7, sequence: 1 }),
        pages: (0..pages).map(|page| page * 4096).collect(),
    };
    PfFacts {
        path: "NOTEPAD.EXE-D8414F97.pf".to_owned(),
        format: PfFormat::Prefetch,
        version: 30,
        windows: "Windows 10, Server 2016 or 2019".to_owned(),
        file_bytes: 2724,
        content_bytes: Some(10_124),
        executable: "NOTEPAD.EXE".to_owned(),
        hash: "D8414F97".to_owned(),
        hashed_path: Some(r"\DEVICE\HARDDISKVOLUME2\WINDOWS\SYSTEM32\NOTEPAD.EXE".to_owned()),
        boot: false,
        run_count: 1234,
        last_runs: ["2024-02-05T06:17:41.1440142Z", "2024-02-04T04:15:17.0602624Z"]
            .map(str::to_owned)
            .to_vec(),
        files: vec![file("NTDLL.DLL", 5), file("NOTEPAD.EXE", 1), file("LOCALE.NLS", 0)],
        volumes: vec![PfVolume {
            device_path: device.to_owned(),
            serial: "8C9F49EC".to_owned(),
            created: Some("2013-03-10T10:19:46.2343750Z".to_owned()),
            directories: vec![format!(r"{device}\WINDOWS")],
            references: Vec::new(),
        }],
        text: None,
        problems: vec!["its size is not that which its header says".to_owned()],
    }
}

#[test]
fn one_prefetch_file_is_a_block() {
    let file = InspectedFile::Prefetch(Box::new(facts()));
    insta::assert_snapshot!(files(&[file]));
}

#[test]
fn many_prefetch_files_are_a_table() {
    let several: Vec<InspectedFile> = (0..7)
        .map(|number| {
            let problems = facts().problems.into_iter().filter(|_| number == 3).collect();
            let facts = PfFacts { run_count: number * 500, problems, ..facts() };
            InspectedFile::Prefetch(Box::new(facts))
        })
        .collect();
    insta::assert_snapshot!(files(&several));
}
