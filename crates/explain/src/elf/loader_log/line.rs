//! Reads one line of the loader's debug output.

/// A line of the debug output that matters here. Paths and names are as printed, without the
/// ` [namespace]` behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Line<'a> {
    /// `file=NAME [0];  needed by PARENT [0]`
    Needed { name: &'a str, by: &'a str },
    /// `file=NAME [0];  dynamically loaded by CALLER [0]`
    Dlopen { name: &'a str },
    /// `find library=NAME [0]; searching`
    Search,
    /// `trying file=PATH`
    Trying { path: &'a str },
    /// `file=NAME [0];  generating link map`
    LinkMap,
    /// `dynamic: 0x…  base: 0x…   size: 0x…`: the segments are mapped.
    Mapped,
    /// `relocation processing: PATH (lazy)`
    Relocate { path: &'a str },
    /// `calling init: PATH` and `calling preinit: PATH`
    Init { path: &'a str },
    /// `initialize program: PATH`
    Program { path: &'a str },
    /// `transferring control: PATH`
    Transfer { path: &'a str },
    /// `opening file=PATH [0]; direct_opencount=N`: a call of dlopen is done.
    Opened { path: &'a str },
    /// `calling fini: PATH [0]`; the program's path is empty.
    Fini { path: &'a str },
    /// `file=PATH [0];  destroying link map`
    Destroy,
    /// Anything else.
    Other,
}

/// Makes a line of what follows its prefix.
type Event<'a> = fn(&'a str) -> Line<'a>;

impl<'a> Line<'a> {
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("file=") {
            return Self::file(rest);
        }
        let prefixes: [(&str, Event<'a>); 10] = [
            ("find library=", |_| Line::Search),
            ("trying file=", |path| Line::Trying { path }),
            ("dynamic: ", |_| Line::Mapped),
            ("relocation processing: ", |rest| Line::Relocate {
                path: rest.strip_suffix(" (lazy)").unwrap_or(rest),
            }),
            ("calling init: ", |path| Line::Init { path }),
            ("calling preinit: ", |path| Line::Init { path }),
            ("initialize program: ", |path| Line::Program { path }),
            ("transferring control: ", |path| Line::Transfer { path }),
            ("opening file=", |rest| Line::Opened { path: before_namespace(rest) }),
            ("calling fini:", |rest| Line::Fini { path: before_namespace(rest).trim_start() }),
        ];
        let found = prefixes
            .iter()
            .find_map(|(prefix, line)| text.strip_prefix(prefix).map(|rest| (line, rest)));
        found.map_or(Line::Other, |(line, rest)| line(rest))
    }

    /// `NAME [0];  what happens to it`
    fn file(rest: &'a str) -> Self {
        let Some((name, event)) = rest.split_once("];") else { return Line::Other };
        let name = before_namespace(name);
        let event = event.trim_start();
        // While BY is relocated: it is bound to something in NAME, which is loaded already.
        if event.ends_with(" (relocation dependency)") {
            return Line::Other;
        }
        if let Some(by) = event.strip_prefix("needed by ") {
            Line::Needed { name, by: before_namespace(by) }
        } else if event.starts_with("dynamically loaded by ") {
            Line::Dlopen { name }
        } else if event.starts_with("generating link map") {
            Line::LinkMap
        } else if event.starts_with("destroying link map") {
            Line::Destroy
        } else {
            Line::Other
        }
    }
}

/// What stands before ` [0]`, ` [0` or ` [0]; direct_opencount=1`.
fn before_namespace(text: &str) -> &str {
    text.rfind(" [").map_or(text, |at| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_glibc_2_36() {
        let cases = [
            (
                "file=libc.so.6 [0];  needed by /bin/true [0]",
                Line::Needed { name: "libc.so.6", by: "/bin/true" },
            ),
            (
                "file=/opt/a b.so [0];  dynamically loaded by /opt/p [0]",
                Line::Dlopen { name: "/opt/a b.so" },
            ),
            ("find library=libc.so.6 [0]; searching", Line::Search),
            ("trying file=/lib/libc.so.6", Line::Trying { path: "/lib/libc.so.6" }),
            ("file=libc.so.6 [0];  generating link map", Line::LinkMap),
            ("dynamic: 0x00007f  base: 0x00007f   size: 0x00000000001e1f50", Line::Mapped),
            ("relocation processing: /bin/true (lazy)", Line::Relocate { path: "/bin/true" }),
            ("relocation processing: /lib/l.so", Line::Relocate { path: "/lib/l.so" }),
            ("calling init: /lib/libc.so.6", Line::Init { path: "/lib/libc.so.6" }),
            ("initialize program: /bin/true", Line::Program { path: "/bin/true" }),
            ("transferring control: /bin/true", Line::Transfer { path: "/bin/true" }),
            ("opening file=/l.so [0]; direct_opencount=1", Line::Opened { path: "/l.so" }),
            ("calling fini:  [0]", Line::Fini { path: "" }),
            ("calling fini: /lib/libc.so.6 [0]", Line::Fini { path: "/lib/libc.so.6" }),
            ("file=/l.so [0];  destroying link map", Line::Destroy),
            ("file=/a.so [0];  needed by /b.so [0] (relocation dependency)", Line::Other),
            ("search cache=/etc/ld.so.cache", Line::Other),
            ("entry: 0x00007f  phdr: 0x00007f  phnum:  14", Line::Other),
            ("", Line::Other),
            ("file=", Line::Other),
            ("what a program prints itself", Line::Other),
        ];
        for (text, expected) in cases {
            assert_eq!(Line::parse(text), expected, "{text}");
        }
    }
}
