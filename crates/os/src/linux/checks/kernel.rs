//! Kernel settings that change what a launch does.

use super::{Outcome, read};
use model::Check;

const ADDR_NO_RANDOMIZE: u64 = 0x0004_0000;

/// Whether addresses differ from launch to launch, as they do for users.
pub(super) fn address_randomization() -> Check {
    let personality = read("/proc/self/personality").ok();
    let personality = personality.and_then(|text| u64::from_str_radix(&text, 16).ok());
    let switched_off = personality.is_some_and(|bits| bits & ADDR_NO_RANDOMIZE != 0);
    let outcome = match read("/proc/sys/kernel/randomize_va_space") {
        Err(error) => Outcome::unknown(
            error,
            "with fixed addresses, launches would differ from those of \
                 users",
        ),
        Ok(_) if switched_off => Outcome::note(
            "off for this process (setarch -R)",
            "every launch has the same addresses: less spread, but users' launches differ",
        ),
        Ok(level) if level == "2" => Outcome::good(
            "on (randomize_va_space is 2)",
            "launches have random addresses, as for \
                 users",
        ),
        Ok(level) => Outcome::note(
            format!("randomize_va_space is {level}"),
            "launches share addresses that are random for users",
        )
        .remedy("sudo sysctl kernel.randomize_va_space=2"),
    };
    outcome.named("aslr")
}

/// Transparent huge pages for ordinary memory.
pub(super) fn huge_pages() -> Check {
    let outcome = match read("/sys/kernel/mm/transparent_hugepage/enabled") {
        Err(error) => Outcome::unknown(error, "huge pages affect page faults and memory use"),
        Ok(text) => match selected(&text) {
            Some("always") => Outcome::note(
                "always",
                "large heaps grow by 2 MiB at a time: fewer page faults, higher peak memory",
            )
            .remedy("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
            Some(mode) => Outcome::good(
                mode,
                "programs get huge pages only on request, so fault counts are comparable",
            ),
            None => Outcome::unknown(text, "huge pages affect page faults and memory use"),
        },
    };
    outcome.named("huge-pages")
}

/// The word in brackets of `always [madvise] never`.
fn selected(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_selected_mode() {
        assert_eq!(selected("always [madvise] never"), Some("madvise"));
        assert_eq!(selected("always"), None);
    }
}
