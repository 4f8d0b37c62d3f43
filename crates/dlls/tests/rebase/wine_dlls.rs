//! Every image of Wine, moved and moved back.

use dlls::rebase::{self, RebaseOptions};
use image::pe::Pe;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Debian's folder of Wine's 64-bit images.
const FOLDER: &str = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows";
/// A base that none of them has.
const ELSEWHERE: u64 = 0x31_4159_0000;

/// Wine's images; none where Wine is not installed, which is said.
fn images() -> Vec<PathBuf> {
    if testkit::tool("wine64").is_none() {
        return Vec::new();
    }
    let files = std::fs::read_dir(FOLDER).expect("Debian's folder").flatten();
    let mut images: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"MZ")))
        .collect();
    images.sort();
    assert!(images.len() > 400, "Wine has hundreds of images, not {}", images.len());
    images
}

/// What became of an image: refused, and why; or moved, and whether its checksum was right.
fn there_and_back(path: &PathBuf) -> Result<bool, String> {
    let name = path.display().to_string();
    let original = std::fs::read(path).expect("it is readable");
    let before = Pe::parse(&name, &original).expect("it is PE");
    let moved =
        rebase::rebase(&name, original.clone(), model::Va(ELSEWHERE), RebaseOptions::default());
    let moved = moved.map_err(|error| error.to_string())?;
    let after = Pe::parse(&name, &moved.bytes).expect("it is still PE");
    assert_eq!(after.headers().base.0, ELSEWHERE, "{name}");
    assert_ne!(after.headers().time_stamp, before.headers().time_stamp, "{name}");
    let stored = before.headers().checksum;
    let right = stored == before.computed_checksum();
    if right {
        assert_eq!(after.headers().checksum, after.computed_checksum(), "{name}");
    } else {
        assert_eq!(after.headers().checksum, stored, "{name}");
    }
    let counts = |bytes| image::pe::facts_of(&name, bytes).expect("it is PE").relocations;
    assert_eq!(counts(&original), counts(&moved.bytes), "{name}");
    let base = before.headers().base;
    let back =
        rebase::rebase(&name, moved.bytes, base, RebaseOptions::default()).expect("a way back");
    assert!(back.bytes == original, "{name} is not what it was");
    Ok(right)
}

#[test]
fn all_of_wines_images_move_there_and_back() {
    let outcomes: BTreeMap<PathBuf, Result<bool, String>> =
        images().into_par_iter().map(|path| (path.clone(), there_and_back(&path))).collect();
    let refused: Vec<&String> =
        outcomes.values().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}
