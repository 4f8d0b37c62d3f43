//! Where the loader found a DLL, and in which folders it had looked before.
//!
//! DLLs that are loaded by their whole path, or that a manifest or the registry redirects, are not looked for.

use super::inputs::PeInputs;
use crate::names::folder;

/// What is the same for two spellings of a path.
pub(super) fn key(path: &str) -> String {
    path.replace('/', r"\").trim_end_matches('\\').to_lowercase()
}

/// The folders in which the loader had not found a DLL before it found it at `path`; none where it was not
/// found in a folder that is searched, or where a folder before has a file of that name.
pub(super) fn misses<'a>(inputs: &'a PeInputs, program: &'a str, path: &str) -> Vec<&'a str> {
    let own = folder(program);
    let search = &inputs.search;
    let folders = std::iter::once(own)
        .chain(search.system.iter().map(String::as_str))
        .chain(std::iter::once(search.working.as_str()))
        .chain(search.path.iter().map(String::as_str));
    let found = key(folder(path));
    let mut before: Vec<&str> = Vec::new();
    for searched in folders.filter(|folder| !folder.is_empty()) {
        if key(searched) == found {
            return before;
        }
        if !before.iter().any(|known| key(known) == key(searched)) {
            before.push(searched);
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::test_launch;

    #[test]
    fn folders_are_searched_in_order() {
        let mut inputs = test_launch::inputs();
        inputs.search.system = vec![r"C:\Windows\System32".to_owned(), r"C:\Windows".to_owned()];
        inputs.search.working = r"C:\app".to_owned();
        inputs.search.path = vec![r"C:\tools\".to_owned(), r"D:\libs".to_owned()];
        let program = r"C:\app\app.exe";
        let before = |path| misses(&inputs, program, path);
        assert!(before(r"c:\APP\own.dll").is_empty());
        assert_eq!(before(r"C:\Windows\system32\x.dll"), [r"C:\app"]);
        // The working folder is the program's, which was searched.
        let system = [r"C:\app", r"C:\Windows\System32", r"C:\Windows"];
        assert_eq!(before(r"C:\tools\x.dll"), system);
        assert_eq!(before(r"D:\libs\x.dll").len(), 4);
        assert!(before(r"E:\elsewhere\x.dll").is_empty());
    }
}
