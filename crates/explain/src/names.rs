//! Paths as people read them.

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

/// A count with thousands separated by commas.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 library`, `136 libraries`.
pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A duration for a sentence: `640 µs`, `38.1 ms`, `1.24 s`.
pub(crate) fn duration(us: f64) -> String {
    match us.abs() {
        x if x < 10.0 => format!("{us:.1} µs"),
        x if x < 1000.0 => format!("{us:.0} µs"),
        x if x < 10_000.0 => format!("{:.2} ms", us / 1e3),
        x if x < 1_000_000.0 => format!("{:.1} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

/// A size in bytes for a sentence: `812 B`, `26.4 MiB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_for_sentences() {
        assert_eq!(count(0), "0");
        assert_eq!(count(84_484), "84,484");
        assert_eq!(count(1_098_098), "1,098,098");
        assert_eq!(plural(1, "library", "libraries"), "1 library");
        assert_eq!(duration(2.25), "2.2 µs");
        assert_eq!(duration(640.4), "640 µs");
        assert_eq!(duration(38_123.0), "38.1 ms");
        assert_eq!(duration(1_240_000.0), "1.24 s");
        assert_eq!(bytes(812), "812 B");
        assert_eq!(bytes(27_682_406), "26.4 MiB");
        assert_eq!(bytes(1024 * 1024), "1.0 MiB");
    }

    #[test]
    fn loaders_by_name() {
        assert_eq!(loader_kind(None), "static");
        assert_eq!(loader_kind(Some("/lib64/ld-linux-x86-64.so.2")), "glibc");
        assert_eq!(loader_kind(Some("/lib/ld-musl-x86_64.so.1")), "musl");
        assert_eq!(loader_kind(Some("/opt/ld.so")), "other loader /opt/ld.so");
        assert_eq!((folder("/a/b"), folder("/a"), folder("a")), ("/a", "/", ""));
    }
}
