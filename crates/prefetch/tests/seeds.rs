//! Writes prefetch files as seeds for fuzzing.
#![allow(clippy::unwrap_used)] // nothing to begin with then

use testkit::pf::{Codes, PfForm, PfSample, PfSampleFile, PfSampleVolume, mam};

fn sample(form: PfForm) -> PfSample {
    let device = r"\DEVICE\HARDDISKVOLUME1".to_owned();
    let file = |number: u64| PfSampleFile {
        path: format!(r"{device}\LIBRARY-{number}.DLL"),
        reference: number,
        pages: (0..number).map(|page| page * 4096).collect(),
    };
    PfSample {
        form,
        executable: "LIBRARY-1.DLL".to_owned(),
        hash: 1,
        run_count: 2,
        last_runs: vec![1, 2],
        files: (0..5).map(file).collect(),
        volumes: vec![PfSampleVolume {
            device_path: device.clone(),
            serial: 1,
            created: 2,
            directories: vec![device.clone()],
            references: vec![1],
        }],
        text: "T".to_owned(),
    }
}

#[test]
#[ignore = "writes files: HEADSTART_PF_SEEDS=FOLDER"]
fn seeds_are_written() {
    let folder = std::env::var_os("HEADSTART_PF_SEEDS").expect("HEADSTART_PF_SEEDS names a folder");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: String, bytes: &[u8]| {
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
    };
    for form in PfForm::ALL {
        let bytes = sample(form).bytes();
        assert!(prefetch::pf::read_bytes("seed", &bytes).is_ok());
        write(format!("{form:?}"), &bytes);
        write(format!("{form:?}-even"), &mam(&bytes, Codes::Even));
        write(format!("{form:?}-skewed"), &mam(&bytes, Codes::Skewed));
    }
}
