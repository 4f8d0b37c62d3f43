//! Peak RSS is the program's own.
#![cfg(unix)]

use model::Until;
use os::launcher::{LaunchSpec, Launcher, Stdio};
use os::program::resolve;
use std::time::Duration;

fn peak_kib(launcher: &mut Launcher, argv: &[&str]) -> u64 {
    let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
    let null = Stdio::null().expect("/dev/null");
    let command = resolve(&argv).expect("found");
    let slot = launcher.prepare(&command, &null, &[]).expect("prepared");
    let spec = LaunchSpec {
        until: Until::Exit,
        timeout: Duration::from_secs(10),
        grace: Duration::from_secs(1),
    };
    let launch = launcher.launch(slot, &spec).expect("launched");
    launch.peak_rss_kib.get().expect("a value")
}

#[test]
fn neither_the_launcher_nor_an_earlier_program_counts() {
    let ballast = vec![1_u8; 64 << 20];
    let mut launcher = Launcher::start().expect("launcher");
    assert_eq!(ballast.len(), 64 << 20);
    let before = peak_kib(&mut launcher, &["/bin/true"]);
    let large =
        peak_kib(&mut launcher, &["sh", "-c", "head -c 200000000 /dev/zero | tail -c 190000000"]);
    let after = peak_kib(&mut launcher, &["/bin/true"]);
    assert!(large > 180_000, "{large} KiB");
    assert!(before.abs_diff(after) < 200, "{before} and {after} KiB");
    assert!(after < 3000, "{after} KiB");
}
