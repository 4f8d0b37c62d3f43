//! From which path the hash in the header follows: a text of later versions, or the program among the
//! listed files.

use super::hash::PfHash;
use super::name::{device_path, kept};
use model::PfFacts;

/// Listed files of the program's name that are tried: more only a damaged file has.
const MOST_CANDIDATES: usize = 16;
/// Numbers of volumes that are tried where the file names none.
const MOST_VOLUMES: u32 = 16;

/// The device path whose hash is that of the header.
pub(super) fn hashed_path(facts: &PfFacts) -> Option<String> {
    let function = if facts.version == 17 { PfHash::Xp } else { PfHash::Vista };
    let hash = u32::from_str_radix(&facts.hash, 16).ok()?;
    // Since version 30 the text is what was hashed.
    let text = facts.text.as_ref().filter(|text| function.of(text) == hash);
    if let Some(text) = text {
        return Some(text.clone());
    }
    let named = facts.files.iter().filter(|file| kept(&file.path) == facts.executable);
    let mut paths = named.take(MOST_CANDIDATES).flat_map(|file| {
        let volume = |number| device_path(&file.path, &format!("HARDDISKVOLUME{number}")).ok();
        (1..=MOST_VOLUMES).filter_map(volume)
    });
    paths.find(|path| function.of(path) == hash)
}
