//! Run-time libraries of sanitizers (`-fsanitize=address` and so on), shared or linked into a
//! program.
//!
//! They take the C library's functions over, keep shadow memory at addresses that they choose
//! themselves, and look at which modules the process has, and in which order.

use super::Loadable;
use std::fmt;

/// A sanitizer whose run-time library an image has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sanitizer {
    /// As its documentation names it.
    pub name: &'static str,
    /// The compiler's option that asks for it.
    pub option: &'static str,
}

impl fmt::Display for Sanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.option)
    }
}

/// A function that only the run-time library defines, and the variable with its options.
struct Signs {
    sanitizer: Sanitizer,
    function: &'static [u8],
    options: &'static [u8],
}

macro_rules! signs {
    ($($name:literal $option:literal $function:literal $options:literal)*) => { [ $( Signs {
        sanitizer: Sanitizer { name: $name, option: concat!("-fsanitize=", $option) },
        function: $function,
        options: $options,
    }, )* ] };
}

/// The sanitizer for undefined behavior is not among them: it only prints. LeakSanitizer is a
/// part of others, and so comes last.
const ALL: [Signs; 9] = signs! {
    "AddressSanitizer" "address" b"__asan_init" b"\0ASAN_OPTIONS\0"
    "HWAddressSanitizer" "hwaddress" b"__hwasan_init" b"\0HWASAN_OPTIONS\0"
    "ThreadSanitizer" "thread" b"__tsan_init" b"\0TSAN_OPTIONS\0"
    "MemorySanitizer" "memory" b"__msan_init" b"\0MSAN_OPTIONS\0"
    "DataFlowSanitizer" "dataflow" b"dfsan_set_label" b"\0DFSAN_OPTIONS\0"
    "NumericalStabilitySanitizer" "numerical" b"__nsan_init" b"\0NSAN_OPTIONS\0"
    "RealtimeSanitizer" "realtime" b"__rtsan_init" b"\0RTSAN_OPTIONS\0"
    "TypeSanitizer" "type" b"__tysan_init" b"\0TYSAN_OPTIONS\0"
    "LeakSanitizer" "leak" b"__lsan_init" b"\0LSAN_OPTIONS\0"
};

/// Part of a path in the messages that all of these libraries have in common.
const SOURCE: &[u8] = b"sanitizer_common/sanitizer_";

/// The sanitizer for which this image was compiled: it calls the run-time library, or has it in it.
pub fn instrumented(image: &Loadable) -> Option<Sanitizer> {
    let symbols = image.symbols().map(|(_, symbol)| symbol);
    let used = symbols.filter_map(|symbol| ALL.iter().position(|one| one.function == symbol.name));
    let used = used.min().and_then(|index| ALL.get(index)).map(|signs| signs.sanitizer);
    used.or_else(|| sanitizer(image))
}

/// The sanitizer whose run-time library this image is or contains.
pub fn sanitizer(image: &Loadable) -> Option<Sanitizer> {
    let dynamic = || image.symbols().map(|(_, symbol)| symbol);
    let signs_of = |name: &[u8]| ALL.iter().position(|signs| signs.function == name);
    let defined = dynamic().chain(image.static_symbols()).filter(|symbol| symbol.defined);
    let by_symbol = defined.filter_map(|symbol| signs_of(symbol.name)).min();
    // Of a stripped program into which it was linked, the symbols that libraries refer to are
    // left, and the texts.
    let by_text = || {
        let allocates = dynamic().any(|symbol| symbol.defined && symbol.name == b"malloc");
        let has = |text: &[u8]| contains(image.bytes(), text);
        let linked = allocates && has(SOURCE);
        ALL.iter().position(|signs| linked && has(signs.options))
    };
    by_symbol.or_else(by_text).and_then(|index| ALL.get(index)).map(|signs| signs.sanitizer)
}

/// Whether the text is among the bytes. Its first letter is looked for: files have many NULs.
fn contains(bytes: &[u8], text: &[u8]) -> bool {
    let Some((&rare, at)) = text.iter().zip(0..).find(|(byte, _)| **byte != 0) else { return true };
    let Some(from) = bytes.get(at..) else { return false };
    let mut places = from.iter().enumerate().filter(|(_, byte)| **byte == rare);
    places.any(|(place, _)| bytes[place..].starts_with(text))
}
