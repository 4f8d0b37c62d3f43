//! What glibc's loader says with `LD_DEBUG=bindings` (ld.so(8)): what simulations are held against.

/// A reference that the loader has bound.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoggedBinding {
    /// Module that refers.
    pub object: String,
    /// Module that defines.
    pub definer: String,
    /// Symbol, without its version.
    pub symbol: String,
    /// The version asked for; empty for none.
    pub version: String,
}

/// Reads a line of the log; other lines than those of bindings are `None`, and so is what the
/// loader looks up in the kernel's own library for itself.
///
/// ```text
/// PID: binding file A [0] to B [0]: normal symbol `s' [V]
/// ```
pub fn bound(line: &str) -> Option<LoggedBinding> {
    let (_, rest) = line.split_once("binding file ")?;
    let (object, rest) = rest.split_once(" [0] to ")?;
    let (definer, rest) = rest.split_once(" [0]: ")?;
    let (_, rest) = rest.split_once('`')?;
    let (symbol, rest) = rest.split_once('\'')?;
    let version = rest.trim().trim_start_matches('[').trim_end_matches(']');
    let [object, definer, symbol, version] = [object, definer, symbol, version].map(str::to_owned);
    (!object.contains("linux-vdso")).then_some(LoggedBinding { object, definer, symbol, version })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // Here a panic is a failed test.
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_are_read() {
        let line =
            "  71:\tbinding file ./p [0] to /lib/libc.so.6 [0]: normal symbol `puts' [GLIBC_2.2.5]";
        let found = bound(line).unwrap();
        assert_eq!((found.object.as_str(), found.definer.as_str()), ("./p", "/lib/libc.so.6"));
        assert_eq!((found.symbol.as_str(), found.version.as_str()), ("puts", "GLIBC_2.2.5"));
        let line = "71: binding file a [0] to b [0]: protected symbol `f'";
        assert_eq!(bound(line).unwrap().version, "");
        let line =
            "71: binding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `t' [V]";
        assert_eq!(bound(line), None);
        assert_eq!(bound("71: calling init: /lib/libc.so.6"), None);
    }
}
