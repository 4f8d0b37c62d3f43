//! CPU quotas of control groups: cgroup v2 `cpu.max`, v1 `cpu.cfs_quota_us`.

use super::{Outcome, words};
use crate::linux::host::{allowed_cpus, cgroup};
use model::Check;
use std::fs;
use std::path::Path;

/// The tightest quota on the way from our group to the root.
pub(super) fn quota() -> Check {
    let outcome = match cgroup::folders("cpu") {
        Err(error) => Outcome::unknown(
            format!("/proc/self/cgroup: {}", words(&error)),
            "a quota would stop launches for up to 100 ms at a time",
        ),
        Ok(folders) => {
            let quotas = folders.iter().filter_map(|folder| quota_of(folder));
            match quotas.min_by(f64::total_cmp) {
                Some(cpus) if cpus < allowed_cpus().len() as f64 => Outcome::warning(
                    format!("a control group allows {cpus:.2} CPUs"),
                    "launches are stopped for up to 100 ms once the quota is used up; run outside \
                     the container, or raise its quota",
                ),
                Some(cpus) => Outcome::good(
                    format!("a control group allows {cpus:.2} CPUs"),
                    "the quota covers all CPUs that may be used",
                ),
                None => Outcome::good("no quota", "launches are not stopped by a control group"),
            }
        }
    };
    outcome.named("quota")
}

/// CPUs that the group's own quota is worth; `None` where it has none.
fn quota_of(folder: &Path) -> Option<f64> {
    let number = |name: &str| -> Option<f64> {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    if let Ok(text) = fs::read_to_string(folder.join("cpu.max")) {
        return cpu_max(&text);
    }
    let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// `"max 100000"` or `"150000 100000"`.
fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_quotas() {
        assert_eq!(cpu_max("150000 100000\n"), Some(1.5));
        assert_eq!(cpu_max("max 100000\n"), None);
    }
}
