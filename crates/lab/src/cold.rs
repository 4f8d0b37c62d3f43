use crate::LabError;
use model::{CacheState, ColdCheck, Command};
use os::{attend, cache};
use std::path::PathBuf;

/// Empties the page cache before launches and checks what is left.
///
/// Files that the launches open or map are chosen, scripts, interpreters, plug-ins and data
/// included. What other running processes hold mapped (the C library, the loader) and dirty pages
/// of other users stay in memory, as they do when everything is dropped: the [`ColdCheck`] of each
/// launch counts them.
pub struct Chill {
    state: CacheState,
    files: Vec<Vec<PathBuf>>,
    /// How each variant's files were found.
    pub sources: Vec<String>,
}

impl Chill {
    /// Finds out which files each command uses, by launching it twice, and how the cache can be
    /// emptied: all of it as root, else exactly those files.
    pub fn new(commands: &[Command], options: &attend::Options) -> Result<Self, LabError> {
        let mut chill =
            Chill { state: CacheState::ColdEvicted, files: Vec::new(), sources: Vec::new() };
        for command in commands {
            let mapped = cache::mapped_files(command, options)?;
            chill.files.push(mapped.files);
            chill.sources.push(mapped.source);
        }
        if cache::drop_all().is_ok() {
            chill.state = CacheState::ColdDropped;
        }
        Ok(chill)
    }

    /// How the cache is emptied.
    pub fn state(&self) -> CacheState {
        self.state
    }

    /// Empties the cache for one variant.
    pub fn apply(&self, variant: usize) -> Result<ColdCheck, LabError> {
        let files = self.files.get(variant).map_or(&[][..], Vec::as_slice);
        if self.state == CacheState::ColdDropped {
            cache::drop_all().map_err(|error| LabError::Cold(error.to_string()))?;
        } else {
            let evicted = cache::evict(files);
            if evicted.files == 0 {
                return Err(LabError::Cold(
                    "none of the program's files could be evicted; run as root".to_owned(),
                ));
            }
        }
        Ok(cache::check(files, self.state))
    }
}
