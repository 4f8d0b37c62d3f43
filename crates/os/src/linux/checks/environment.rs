//! Variables that change how programs load, and programs that headstart's own checks compare with.

use super::Outcome;
use model::Check;

/// Variables that the loader acts on (ld.so(8)).
const VARIABLES: [&str; 9] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_BIND_NOW",
    "LD_AUDIT",
    "LD_DEBUG",
    "LD_PROFILE",
    "LD_DYNAMIC_WEAK",
    "LD_HWCAP_MASK",
    "GLIBC_TUNABLES",
];

/// Programs named by the documentation, and what for. Headstart itself runs none of them.
const TOOLS: [(&str, &str); 3] =
    [("cc", "tests"), ("readelf", "checks of inspect"), ("hyperfine", "comparisons of the demo")];

/// Loader variables in the environment.
pub(super) fn variables() -> Check {
    judge_variables(&|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
        .named("environment")
}

fn judge_variables(is_set: &dyn Fn(&str) -> bool) -> Outcome {
    let set: Vec<&str> = VARIABLES.into_iter().filter(|name| is_set(name)).collect();
    if set.is_empty() {
        return Outcome::good("no loader variable is set", "programs load as they do for users");
    }
    Outcome::warning(
        format!("{} set", set.join(", ")),
        "launches inherit it, so programs load and bind differently than in a clean environment",
    )
    .remedy(format!("unset {}", set.join(" ")))
}

/// Tools that are missing.
pub(super) fn tools() -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let present =
        |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let missing: Vec<String> = TOOLS
        .into_iter()
        .filter(|(name, _)| !present(name))
        .map(|(name, purpose)| format!("{name} ({purpose})"))
        .collect();
    const EFFECT: &str = "measuring and explaining need no other tools";
    let outcome = if missing.is_empty() {
        Outcome::good("cc, readelf and hyperfine are present", EFFECT)
    } else {
        Outcome::note(format!("missing: {}", missing.join(", ")), EFFECT)
            .remedy("sudo apt-get install gcc binutils hyperfine")
    };
    outcome.named("tools")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn names_the_variables_to_unset() {
        let found = judge_variables(&|name| name.starts_with("LD_B") || name == "LD_PRELOAD");
        assert_eq!(found.state, CheckState::Warning);
        assert_eq!(found.remedy, "unset LD_PRELOAD LD_BIND_NOW");
        assert_eq!(judge_variables(&|_| false).state, CheckState::Good);
    }
}
