//! Cold launches: the page cache emptied before each of them, and how well that went.

use crate::{Failure, LabError};
use model::{CacheState, ColdCheck, Experiment, LaunchOptions, Until, VariantId};
use os::{attend, cache};
use std::path::PathBuf;
use std::time::Duration;

/// Empties the page cache before launches and checks what is left.
///
/// Files that the launches open or map are chosen, scripts, interpreters, plug-ins and data
/// included. What other running processes hold mapped (the C library, the loader) and dirty pages
/// of other users stay in memory, as they do when everything is dropped: the [`ColdCheck`] of each
/// launch counts them.
pub struct CacheEmptier {
    state: CacheState,
    /// The files of each variant.
    files: Vec<Vec<PathBuf>>,
    /// How they were found, in words.
    sources: Vec<String>,
}

impl CacheEmptier {
    /// Finds out which files each variant uses, by launching it twice, and how the cache can be
    /// emptied: all of it as root, else exactly those files.
    pub fn new(experiment: &Experiment) -> Result<Self, Failure> {
        let options = attend::AttendOptions {
            timeout: watched_for(&experiment.options),
            cpu: experiment.options.cpu,
            to_entry: false,
        };
        let (mut files, mut sources) = (Vec::new(), Vec::new());
        for (index, variant) in experiment.variants.iter().enumerate() {
            let mapped = cache::mapped_files(&variant.command, &options)
                .map_err(|error| Failure::at(VariantId::at(index), error))?;
            files.push(mapped.files);
            sources.push(mapped.source);
        }
        let dropped = cache::drop_all().is_ok();
        let state = if dropped { CacheState::ColdDropped } else { CacheState::ColdEvicted };
        Ok(CacheEmptier { state, files, sources })
    }

    /// Empties the cache for one variant.
    pub fn empty(&self, variant: VariantId) -> Result<ColdCheck, LabError> {
        let files = &self.files[variant.index()];
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

    /// What a cold start of a program's own files alone cannot make cold.
    pub fn limits(&self, experiment: &Experiment) -> Vec<String> {
        if self.state == CacheState::ColdDropped {
            return Vec::new();
        }
        let several = experiment.variants.len() > 1;
        let sources = experiment.variants.iter().zip(&self.sources);
        sources
            .map(|(variant, source)| match several {
                true => format!("{}: Evicted {source}.", variant.name),
                false => format!("Evicted {source}."),
            })
            .collect()
    }
}

/// How long to watch a launch for the files that it maps. One that does not end by itself is
/// ended after a few seconds.
fn watched_for(options: &LaunchOptions) -> Duration {
    let most_s = match options.until {
        Until::Exit => options.timeout_s,
        _ => options.timeout_s.min(5.0),
    };
    Duration::try_from_secs_f64(most_s).unwrap_or(Duration::MAX)
}
