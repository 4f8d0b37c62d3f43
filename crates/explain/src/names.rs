//! Paths and loaders as people read them.

/// The last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path; empty where the path has none.
pub(crate) fn folder(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(at) => &path[..at],
        None => "",
    }
}

/// Whether a file of this name is a dynamic loader.
pub(crate) fn is_loader_name(name: &str) -> bool {
    name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64.so")
}

/// The kind of loader that an image names, as `ProcessReport::loader` states it.
pub(crate) fn loader_kind(loader: Option<&str>) -> String {
    let Some(path) = loader else { return "static".to_owned() };
    let name = base_name(path);
    if name.starts_with("ld-musl") {
        "musl".to_owned()
    } else if name.starts_with("ld-linux") || name.starts_with("ld64.so") || name == "ld.so.1" {
        "glibc".to_owned()
    } else {
        format!("other loader {path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_by_name() {
        assert_eq!(loader_kind(None), "static");
        assert_eq!(loader_kind(Some("/lib64/ld-linux-x86-64.so.2")), "glibc");
        assert_eq!(loader_kind(Some("/lib/ld-musl-x86_64.so.1")), "musl");
        assert_eq!(loader_kind(Some("/opt/ld.so")), "other loader /opt/ld.so");
        assert_eq!((folder("/a/b"), folder("/a"), folder("a")), ("/a", "/", ""));
    }
}
