//! The finding on compressed images.

use super::*;
use model::{UnpackTimes, UnpackedFiles, UnpackingMount};

fn on(kind: &str, compression: Reading<String>) -> UnpackedFiles {
    UnpackedFiles {
        mount: UnpackingMount {
            kind: kind.to_owned(),
            point: "/snap/p".to_owned(),
            compression,
            through_overlay: false,
        },
        files: vec!["/snap/p/bin/p".to_owned(), "/snap/p/lib/l.so".to_owned()],
        read: Reading::Value(UnpackTimes { bytes: 1 << 20, first_us: 12_300.0, again_us: 80.0 }),
    }
}

fn found(unpacked: Vec<UnpackedFiles>) -> Option<Finding> {
    let mut case = quiet();
    case.inputs.unpacked = unpacked;
    run(&case).remove("compressed-image")
}

#[test]
fn a_compressed_image_is_told_with_what_it_takes() {
    assert!(found(Vec::new()).is_none());
    let finding = found(vec![on("squashfs", Reading::Value("xz".to_owned()))]).unwrap();
    assert!(
        finding.cause.contains("2 programs and libraries on squashfs (xz)"),
        "{}",
        finding.cause
    );
    assert_eq!(finding.evidence[0], "squashfs (xz) at /snap/p: p, l.so");
    assert!(finding.evidence[1].contains("1.0 MiB of them"), "{:?}", finding.evidence);
    assert!(finding.evidence[1].contains("12.3 ms"), "{:?}", finding.evidence);
    assert!(finding.remedy.contains("zstd") && finding.cost_us.get().is_none());
    let zstd = found(vec![on("squashfs", Reading::Value("zstd".to_owned()))]).unwrap();
    assert!(!zstd.remedy.contains("zstd"), "{}", zstd.remedy);
}

#[test]
fn what_is_not_known_is_said() {
    let unknown = || Reading::unavailable("/dev/loop0 cannot be read", "run as root");
    let finding = found(vec![on("squashfs", unknown())]).unwrap();
    assert!(finding.evidence[1].contains("cannot be read; run as root"), "{:?}", finding.evidence);
    let mut served = on("fuse.sshfs", unknown());
    served.read = Reading::unavailable("all of it is in memory", "");
    let finding = found(vec![served]).unwrap();
    assert!(finding.cause.contains("fuse.sshfs: what is not in memory has to be asked"));
    assert!(finding.evidence[1].contains("was not measured: all of it is in memory"));
    assert!(finding.remedy.contains("local file system"));
}
