//! Paths and loaders as people read them.

pub(crate) use model::{file_name as base_name, folder_name as folder};

/// The file of Windows' loader.
pub(crate) const NTDLL: &str = "ntdll.dll";

/// The kind of loader that an image names, as `ProcessReport::loader` states it.
pub(crate) fn loader_kind(loader: Option<&str>) -> String {
    let Some(path) = loader else { return "static".to_owned() };
    let name = base_name(path);
    if name == NTDLL {
        "ntdll".to_owned()
    } else if name.starts_with("ld-musl") {
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
        assert_eq!(loader_kind(Some(NTDLL)), "ntdll");
    }
}
