//! Files of runs that are removed, and full disks.

use super::*;
use model::{Ending, Launch, Reading, VariantId};

fn sample() -> Sample {
    let launch = Launch {
        total_us: 1.0,
        created_us: None,
        ending: Ending::Code(0),
        user_us: Reading::Value(0.0),
        system_us: Reading::Value(0.0),
        private_kib: None,
        peak_rss_kib: Reading::Value(1),
        minor_faults: Reading::Value(1),
        major_faults: Reading::Value(1),
        read_bytes: Reading::Value(1),
        left_running: 0,
    };
    Sample { round: 0, position: 0, variant: VariantId(0), launch, cold: None }
}

#[test]
fn a_full_disk_is_said_with_the_file_and_the_next_step() {
    let Ok(launches) = File::options().append(true).open("/dev/full") else {
        testkit::skip("there is no /dev/full");
        return;
    };
    let mut run = RunFolder { path: PathBuf::from("run"), launches, lock: None };
    let text = run.append(&sample()).unwrap_err().to_string();
    for part in ["run/launches.jsonl", "No space left", "free some space", "continue"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_run_whose_file_was_removed_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = RunFolder::open_launches(folder.path()).unwrap();
    run.append(&sample()).unwrap();
    fs::remove_file(folder.path().join(LAUNCHES)).unwrap();
    let text = run.append(&sample()).unwrap_err().to_string();
    assert!(text.contains("launches.jsonl': it was removed during"), "{text}");
}
