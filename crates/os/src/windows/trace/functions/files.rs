//! The functions of files, read once a launch.

use image::{FunctionStarts, ImageError};
use model::text;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// What is known of files.
#[derive(Default)]
pub(super) struct Files(HashMap<Key, Arc<FunctionStarts>>);

/// A file as it is now: one that is replaced during the launch is another.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    path: String,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Files {
    /// The functions of the image at `path`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn functions(&mut self, path: &str) -> Result<Arc<FunctionStarts>, ImageError> {
        let file = text::name(path);
        let data = std::fs::metadata(&file).ok();
        let key = Key {
            path: path.to_owned(),
            bytes: data.as_ref().map_or(0, std::fs::Metadata::len),
            modified: data.and_then(|data| data.modified().ok()),
        };
        if let Some(known) = self.0.get(&key) {
            return Ok(Arc::clone(known));
        }
        let fresh = Arc::new(image::function_starts(Path::new(&file))?);
        self.0.insert(key, Arc::clone(&fresh));
        Ok(fresh)
    }
}
