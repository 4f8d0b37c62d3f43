//! Paths and loaders as people read them.

pub(crate) use model::{file_name as base_name, folder_name as folder};

/// File names for a sentence: `a, b, c and 4 more`.
pub(crate) fn names<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<(&str, u64)> = Vec::new();
    for name in paths.map(base_name) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => all.push((name, 1)),
        }
    }
    let told = if all.len() > 4 { 3 } else { all.len() };
    let rest: u64 = all[told..].iter().map(|(_, times)| times).sum();
    let told: Vec<String> = all[..told]
        .iter()
        .map(|(name, times)| match times {
            1 => (*name).to_owned(),
            times => format!("{name} ({times} times)"),
        })
        .collect();
    match rest {
        0 => told.join(", "),
        rest => format!("{} and {rest} more", told.join(", ")),
    }
}

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
