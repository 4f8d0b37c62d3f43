//! What a preamble is to know of plug-ins.

use crate::{FileIdentity, FileRecord};
use std::ffi::OsString;

/// A file of plug-ins and libraries that are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// Its folder, in that of the bundle.
    pub folder: OsString,
    /// Its name, which no other loaded file has.
    pub name: OsString,
    /// Which of the names for the loader, behind [`plugin_names`](crate::Addresses::plugin_names), are those of what is in it: the
    /// number of the first, and how many.
    pub names: (u64, u64),
    /// Names without folders by which what is in it may be loaded as files of their own: it is not loaded beside
    /// those.
    pub loaded: Vec<OsString>,
    /// Its preamble, from where it is loaded.
    pub preamble: u64,
}

/// A plug-in, or a library that is merged with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// What its file is.
    pub identity: FileIdentity,
    /// The file that it is in: a number of [`plugin_files`](crate::Tables::plugin_files).
    pub file: usize,
    /// A name by which the loader knows it, where it is opened only if its file is loaded.
    pub alias: Option<OsString>,
    /// The folder that a path has to lead through for the plug-in to be what was merged; none where any may.
    pub folder: Option<OsString>,
    /// All files that are loaded with it, its own first.
    pub needs: Vec<usize>,
    /// What all that is in these has to be.
    pub records: Vec<FileRecord>,
}
