//! Samples of a real program.

use super::*;
use crate::linux::program::resolve;
use std::time::Duration;

/// Computes for some 50 ms, mostly in `spin`, in a child too.
const SPIN: &str = r#"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) static void spin(void) {
    for (int i = 0; i < 100000; i++) sum += i;
}
int main(void) {
    struct timespec now;
    int child = fork();
    do { spin(); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); } while (now.tv_nsec < 50000000);
    if (child == 0) _exit(0);
    while (wait(0) > 0) {}
    return 0;
}"#;

#[test]
fn samples_are_proportional_to_processor_time_and_lie_in_the_program() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "spin", SPIN, &["-O1"]);
    let command = resolve(&[program.to_str().unwrap().to_owned()]).unwrap();
    let options = AttendOptions { timeout: Duration::from_secs(20), cpu: None, to_entry: false };
    let found = match record(&command, &options) {
        Err(error @ LaunchError::NotPermitted { .. }) => return testkit::skip(&error.to_string()),
        found => found.unwrap(),
    };
    // Twice 50 ms at the stated frequency; a virtual machine that is held up loses some.
    let expected = f64::from(found.frequency_hz) * 0.1;
    let count = found.samples.len() as f64;
    assert!(count > expected * 0.5 && count < expected * 2.0, "{count} for {expected}");
    assert_eq!(found.lost, 0);
    assert!(found.samples.is_sorted_by(|one, other| one.at_us <= other.at_us));
    let in_program = |sample: &&CodeSample| {
        let covering = |mapping: &&model::Mapping| {
            mapping.pid == sample.pid
                && mapping.at_us <= sample.at_us
                && sample.address >= mapping.start
                && sample.address - mapping.start < mapping.bytes
        };
        let mapped = found.mappings.iter().filter_map(model::MemoryChange::mapping);
        let mapping = mapped.rev().find(covering);
        mapping.is_some_and(|mapping| mapping.executable && mapping.path.ends_with("/spin"))
    };
    for (who, is_child) in [("parent", false), ("child", true)] {
        let inside = |sample: &&CodeSample| (sample.pid != found.pid) == is_child;
        let inside = found.samples.iter().filter(inside).filter(in_program).count() as f64;
        assert!(inside > count * 0.3, "{inside} of {count} in the {who}");
    }
    let kernel = found.samples.iter().filter(|sample| sample.kernel);
    assert!(kernel.clone().all(|sample| sample.address > u64::MAX / 2));
    assert!(found.with_kernel || kernel.count() == 0);
}

#[test]
fn up_to_the_entry_point_the_program_itself_is_not_sampled() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "spin", SPIN, &["-O1"]);
    let command = resolve(&[program.to_str().unwrap().to_owned()]).unwrap();
    let options = AttendOptions { to_entry: true, ..AttendOptions::default() };
    let found = match record(&command, &options) {
        Err(error @ LaunchError::NotPermitted { .. }) => return testkit::skip(&error.to_string()),
        found => found.unwrap(),
    };
    // The program would run for 100 ms: 1000 samples.
    assert!(found.samples.len() < 300, "{} samples", found.samples.len());
    assert!(found.samples.iter().all(|sample| sample.pid == found.pid), "a child ran");
}
