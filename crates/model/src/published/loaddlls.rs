//! The figures of LoadDlls.

use serde::{Deserialize, Serialize};

/// Load times with and without Windows' prefetch file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedPrefetch {
    /// Author and title.
    pub source: String,
    /// What is known of the machine.
    pub machine: String,
    /// What was launched.
    pub method: String,
    /// DLLs of the list.
    pub libraries: u32,
    /// Milliseconds with the prefetch file.
    pub with_ms: f64,
    /// And without.
    pub without_ms: f64,
}

impl PublishedPrefetch {
    /// LoadDlls of TMurgent.
    pub fn loaddlls() -> PublishedPrefetch {
        PublishedPrefetch {
            source: "TMurgent, LoadDlls".to_owned(),
            machine: "Windows; the machine is not named".to_owned(),
            method: "102 DLLs of a list; SuperFetch stopped, working sets and standby lists \
                     emptied before each launch; means of several launches, with the program's \
                     prefetch file and without"
                .to_owned(),
            libraries: 102,
            with_ms: 172.0,
            without_ms: 407.0,
        }
    }

    /// How many times as long without as with.
    pub fn ratio(&self) -> f64 {
        self.without_ms / self.with_ms
    }
}
