//! The figures of the Cygwin post on looking at programs.

use serde::{Deserialize, Serialize};

/// Launch times after two ways of looking at a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedProbes {
    /// Author, place, and when.
    pub source: String,
    /// System.
    pub machine: String,
    /// What was launched.
    pub command: String,
    /// What was done before, and how long each launch took then.
    pub rows: Vec<(String, String)>,
}

impl PublishedProbes {
    /// Daniel Colascione's post.
    pub fn cygwin() -> PublishedProbes {
        let rows = [
            ("from bash, which maps the program's start to look at it", "2.2 to 2.3 s each"),
            ("from cmd, which does not", "2.42 s the first time, then 0.05 s"),
            ("after a section of 64 KiB was made, never mapped", "2.1 s each"),
            ("after the same 64 KiB were read through the cache", "0.05 s"),
        ];
        PublishedProbes {
            source: "Daniel Colascione, cygwin-developers, 11 December 2012".to_owned(),
            machine: "Windows 2008 R2, Cygwin 1.7.17 i686".to_owned(),
            command: "emacs --batch -Q --eval '(kill-emacs)'".to_owned(),
            rows: rows.map(|(what, time)| (what.to_owned(), time.to_owned())).into(),
        }
    }
}
