//! Any bytes are a prefetch file of Windows or none, and what is kept of them is in proportion.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prefetch::pf;

fuzz_target!(|bytes: &[u8]| {
    let begins = pf::begins_as_one(bytes);
    let Ok(facts) = pf::read_bytes("FUZZ.EXE-00000000.pf", bytes) else { return };
    assert!(begins);
    let content = facts.content_bytes.unwrap_or(facts.file_bytes) as usize;
    let listed = facts.files.iter().map(|file| file.path.len() + 8 * file.pages.len());
    let folders = facts.volumes.iter().flat_map(|volume| &volume.directories).map(String::len);
    assert!(listed.chain(folders).sum::<usize>() <= 16 * content);
    for file in &facts.files {
        let _ = (pf::device_path(&file.path, "HARDDISKVOLUME2"), pf::host(&file.path));
    }
});
