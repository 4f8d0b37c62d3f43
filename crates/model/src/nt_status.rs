//! Exit codes of Windows processes that are an NTSTATUS, as after a crash.

/// Top four bits of a status that Microsoft has defined for an error: severity 3, no bit for
/// customers, reserved bit 0 (MS-ERREF 2.3).
const ERROR: u32 = 0xc;

/// Those that programs usually end with (MS-ERREF 2.3.1), and what Microsoft's C++ runtime raises.
const NAMED: [(u32, &str); 18] = [
    (0x4000_0015, "abort"),
    (0x4001_0005, "Ctrl-C in a debugger"),
    (0x8000_0001, "guard page"),
    (0x8000_0002, "misaligned data"),
    (0x8000_0003, "breakpoint"),
    (0x8000_0004, "single step"),
    (0xc000_0005, "access violation"),
    (0xc000_001d, "illegal instruction"),
    (0xc000_007b, "invalid image format"),
    (0xc000_0094, "integer division by zero"),
    (0xc000_00fd, "stack overflow"),
    (0xc000_0135, "a DLL was not found"),
    (0xc000_0139, "a function was not found in a DLL"),
    (0xc000_013a, "Ctrl-C"),
    (0xc000_0142, "DLL initialization failed"),
    (0xc000_0374, "heap corruption"),
    (0xc000_0409, "stack buffer overrun or fast fail"),
    (0xe06d_7363, "unhandled C++ exception"),
];

/// Whether a process that ends with this code is taken to have ended by the status of that number,
/// not by a code of its own.
pub fn is_status(code: u32) -> bool {
    code >> 28 == ERROR || name(code).is_some()
}

/// The status as people look it up, with its name where it is a usual one: `status c0000135 (a DLL
/// was not found)`.
pub fn words(status: u32) -> String {
    match name(status) {
        Some(name) => format!("status {status:08x} ({name})"),
        None => format!("status {status:08x}"),
    }
}

fn name(status: u32) -> Option<&'static str> {
    NAMED.iter().find(|(named, _)| *named == status).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_ones_have_names() {
        assert_eq!(words(0xc000_0135), "status c0000135 (a DLL was not found)");
        assert_eq!(words(0xc000_0022), "status c0000022");
        assert_eq!(words(0x8000_0003), "status 80000003 (breakpoint)");
        assert_eq!(words(7), "status 00000007");
        assert!(NAMED.is_sorted_by_key(|(status, _)| *status));
    }

    #[test]
    fn a_code_is_a_status_where_it_is_an_error_of_windows_or_named() {
        for status in [0xc000_0005, 0xc000_0022, 0xcfff_ffff, 0x8000_0003, 0x4000_0015, 0xe06d_7363]
        {
            assert!(is_status(status), "{status:08x}");
        }
        // −1 and other negative codes, a warning and a customer's error that nobody knows.
        for code in [0, 1, 259, 0x7fff_ffff, 0x8000_0005, 0xe000_0001, 0xffff_ffff, 0xffff_ff00] {
            assert!(!is_status(code), "{code:08x}");
        }
    }
}
