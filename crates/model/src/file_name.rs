//! File names of paths that a result holds, which may be of another host.

/// The last component of a path: behind the last `/`, and of a path of Windows, which begins with a drive
/// or a share, behind the last `\` as well.
pub fn file_name(path: &str) -> &str {
    let divides = |c| c == '/' || c == '\\' && is_of_windows(path);
    path.rsplit(divides).next().unwrap_or(path)
}

/// The folder of a path; empty where it has none.
pub fn folder_name(path: &str) -> &str {
    match file_name(path) {
        name if name.len() == path.len() => "",
        name if path.len() == name.len() + 1 => &path[..1],
        name => &path[..path.len() - name.len() - 1],
    }
}

fn is_of_windows(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\' | b'/', ..]);
    drive || path.starts_with(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_both_hosts_have_names_and_folders() {
        for (path, folder, name) in [
            ("/a/b", "/a", "b"),
            ("/a", "/", "a"),
            ("a", "", "a"),
            (r"/a/b\c", "/a", r"b\c"),
            (r"C:\x\y.dll", r"C:\x", "y.dll"),
            (r"C:\y.dll", "C:", "y.dll"),
            (r"C:\x/y.dll", r"C:\x", "y.dll"),
            (r"\\server\share\y.dll", r"\\server\share", "y.dll"),
            ("", "", ""),
        ] {
            assert_eq!((folder_name(path), file_name(path)), (folder, name), "{path}");
        }
    }
}
