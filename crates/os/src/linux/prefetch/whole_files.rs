//! Plans that ask for whole files, and for parts of some files only.

use super::{AheadPlan, AheadRequest, PlannedFile};
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

impl AheadPlan {
    /// All of these files, in their order, asked for by several threads; without those whose size
    /// cannot be learned.
    pub fn whole_files(paths: &[PathBuf]) -> AheadPlan {
        let files: Vec<PlannedFile> = paths.iter().filter_map(|path| planned(path)).collect();
        let requests = files.iter().enumerate();
        let requests = requests.flat_map(|(at, file)| AheadRequest::pieces(at, 0..file.size_bytes));
        AheadPlan { requests: requests.collect(), files, parallel: true, ..AheadPlan::default() }
    }

    /// What this plan asks for of these files alone, whatever names they go by. Nothing is looked up
    /// or looked at.
    pub fn only(&self, paths: &[PathBuf]) -> AheadPlan {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let wanted: HashSet<PathBuf> = paths.iter().map(|path| real(path)).collect();
        let is_wanted: Vec<bool> =
            self.files.iter().map(|file| wanted.contains(&real(&file.path))).collect();
        let index = |at: usize| is_wanted[..at].iter().filter(|is_wanted| **is_wanted).count();
        let requests =
            self.requests.iter().filter(|request| is_wanted.get(request.file) == Some(&true));
        let requests =
            requests.map(|request| AheadRequest { file: index(request.file), ..*request });
        let files = self.files.iter().zip(&is_wanted).filter(|(_, is_wanted)| **is_wanted);
        AheadPlan {
            requests: requests.collect(),
            files: files.map(|(file, _)| file.clone()).collect(),
            looked_up: Vec::new(),
            samples: Vec::new(),
            in_disk_order: self.in_disk_order,
            parallel: self.parallel,
        }
    }
}

/// A file as it is now.
fn planned(path: &Path) -> Option<PlannedFile> {
    let data = path.metadata().ok()?;
    let modified_ns = data.mtime().checked_mul(1_000_000_000)?.checked_add(data.mtime_nsec())?;
    Some(PlannedFile { path: path.to_owned(), size_bytes: data.len(), modified_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache;
    use crate::prefetch::read_ahead;
    use model::CacheState;

    #[test]
    fn a_whole_file_comes_into_memory() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a"), folder.path().join("none")];
        std::fs::write(&paths[0], vec![1; 1_000_000]).unwrap();
        let resident = || cache::check(&paths[..1], CacheState::ColdEvicted).resident_pages.get();
        let evicted = || {
            cache::evict(&paths[..1]);
            resident() == Some(0)
        };
        let plan = AheadPlan::whole_files(&paths);
        assert_eq!((plan.files.len(), plan.requests.len(), plan.bytes()), (1, 8, 1_000_000));
        // It is asked for, not waited for.
        let ask = || assert_eq!(read_ahead(&plan).bytes, 1_000_000);
        let pages = Some(1_000_000_u64.div_ceil(rustix::param::page_size() as u64));
        match testkit::brought_in(&pages, evicted, ask, resident) {
            None => testkit::skip("the folder for temporary files is in memory"),
            found => assert_eq!(found, Some(pages)),
        }
    }

    #[test]
    fn other_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
        for (size, path) in [10, 20, 300_000].into_iter().zip(&paths) {
            std::fs::write(path, vec![1; size]).unwrap();
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&paths[2], &link).unwrap();
        let only = AheadPlan::whole_files(&paths).only(&[link, paths[0].clone()]);
        let sizes: Vec<u64> = only.files.iter().map(|file| file.size_bytes).collect();
        assert_eq!(sizes, [10, 300_000]);
        let asked: Vec<(usize, u64)> =
            only.requests.iter().map(|request| (request.file, request.bytes)).collect();
        assert_eq!(asked, [(0, 10), (1, 131_072), (1, 131_072), (1, 37_856)]);
    }
}
