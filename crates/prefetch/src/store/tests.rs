//! A store in a folder of our own.

use super::*;
use crate::sample::{file, recording};
use std::os::unix::fs::PermissionsExt;

fn store(folder: &Path) -> Store {
    Store::of_user(Some(folder.join("cache"))).unwrap()
}

#[test]
fn launches_of_a_class_find_their_recording_and_others_the_union() {
    let folder = tempfile::tempdir().unwrap();
    let (store, program) = (store(folder.path()), Path::new("/usr/bin/git"));
    assert!(store.find(program, &["status"]).unwrap().is_none());
    let status = recording(vec![file("/a", &[(0, 1, 1.0)])]);
    let log = recording(vec![file("/b", &[(3, 1, 1.0)])]);
    store.keep(&store.path(program, &["status"]), &status).unwrap();
    store.keep(&store.path(program, &["log"]), &log).unwrap();
    assert_eq!(store.find(program, &["status"]).unwrap(), Some(status));
    assert_eq!(store.find(program, &["diff"]).unwrap().unwrap().files.len(), 2);
    assert!(store.find(Path::new("/bin/other"), &["status"]).unwrap().is_none());
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn what_others_may_have_written_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    save(&path, &recording(Vec::new())).unwrap();
    assert!(load(&path).is_ok());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o664)).unwrap();
    assert!(matches!(load(&path), Err(StoreError::NotTrusted { .. })));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    if os::host::user() != 0 {
        return testkit::skip("only root can give a file to somebody else");
    }
    std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
    assert!(matches!(load(&path), Err(StoreError::NotTrusted { .. })));
}

#[test]
fn a_file_of_another_kind_is_neither_read_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "mine").unwrap();
    assert!(!is_recording(&path));
    assert!(matches!(load(&path), Err(StoreError::Content { .. })));
    let error = save(&path, &recording(Vec::new())).unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert!(matches!(load(folder.path()), Err(StoreError::Io { .. })));
    assert!(matches!(load(&folder.path().join("gone")), Err(StoreError::Io { .. })));
}

#[test]
fn a_link_in_the_store_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let path = store.path(Path::new("/bin/a"), &["x"]);
    store.keep(&path, &recording(Vec::new())).unwrap();
    std::fs::remove_file(&path).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    let error = store.keep(&path, &recording(Vec::new())).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert!(!elsewhere.exists());
    std::fs::remove_file(&path).unwrap();
    if os::host::user() != 0 {
        return testkit::skip("only root can give a folder to somebody else");
    }
    std::os::unix::fs::chown(path.parent().unwrap(), Some(12345), None).unwrap();
    let error = store.keep(&path, &recording(Vec::new())).unwrap_err();
    assert!(error.to_string().contains("12345") && !path.exists(), "{error}");
}

#[test]
fn a_damaged_recording_is_listed_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let path = store.path(Path::new("/bin/a"), &["x"]);
    store.keep(&path, &recording(Vec::new())).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let list = store.list().unwrap();
    assert!(list[0].content.as_ref().unwrap_err().contains("checksum"), "{list:?}");
    assert!(store.find(Path::new("/bin/a"), &["x"]).is_err());
}
