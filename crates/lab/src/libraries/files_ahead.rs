//! Reading the files of libraries ahead, by several threads.

use model::{AheadWhen, FilesAhead};
use os::prefetch::AheadPlan;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

/// What is read of whole files, and of those of which a recording is there.
pub const WHOLE: &str = "whole files";
pub const RECORDED: &str = "the exact ranges that a recorded cold load needed";

/// Asks for what `recorded` has of the files, or else for all of them, in their order; returns when
/// all was asked for. The time is that of learning the files' sizes, too, where they are not
/// recorded.
pub fn ask(files: &[PathBuf], recorded: Option<&AheadPlan>, when: AheadWhen) -> FilesAhead {
    let started = Instant::now();
    let plan = match recorded {
        Some(plan) => Cow::Borrowed(plan),
        None => Cow::Owned(AheadPlan::whole_files(files)),
    };
    let done = os::prefetch::read_ahead(&plan);
    let asked = if recorded.is_some() { plan.files.len() } else { files.len() };
    let failed = match done.without_memory {
        true => asked,
        false => asked - plan.files.len() + done.skipped.len(),
    };
    FilesAhead {
        when,
        what: if recorded.is_some() { RECORDED } else { WHOLE }.to_owned(),
        files: asked as u32,
        bytes: done.bytes,
        us: started.elapsed().as_secs_f64() * 1e6,
        failed: failed as u32,
    }
}
