//! The rules that a recording keeps.

use model::{RecordedFile, Recording};

/// Pages of any machine that Linux runs on.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 4096..=65536;

/// # Errors
/// The rule that is broken, in words.
pub(super) fn check(recording: &Recording) -> Result<(), String> {
    let page = recording.page_bytes;
    if !page.is_power_of_two() || !PAGE_BYTES.contains(&page) {
        return Err(format!("its pages have {page} bytes"));
    }
    if !recording.total_us.is_finite() || recording.total_us < 0.0 {
        return Err("its time is no time".to_owned());
    }
    let paths = recording.files.iter().map(|file| &file.path);
    let paths = paths.chain(recording.looked_up.iter().map(|looked| &looked.path));
    if let Some(path) = paths.into_iter().find(|path| !path.starts_with('/')) {
        return Err(format!("the path '{path}' is not absolute"));
    }
    recording.files.iter().try_for_each(|file| ranges(file, page))
}

fn ranges(file: &RecordedFile, page: u64) -> Result<(), String> {
    let path = &file.path;
    if file.ranges.len() != file.touched_us.len() {
        return Err(format!("'{path}' has not one time for each range"));
    }
    if file.touched_us.iter().any(|time| !time.is_finite() || *time < 0.0) {
        return Err(format!("a time of '{path}' is no time"));
    }
    let size = file.identity.size_bytes;
    let mut sorted = file.ranges.clone();
    sorted.sort();
    let mut behind = 0;
    for range in sorted {
        let (from, end) = (range.offset.0, range.end());
        let is_whole = from % page == 0 && (end % page == 0 || end == size);
        if range.bytes == 0 || !is_whole || from < behind || end > size {
            return Err(format!("the range of {} bytes at {from} of '{path}'", range.bytes));
        }
        behind = end;
    }
    Ok(())
}
