//! Errors of what Linux does with programs.

mod bundles;
mod experiments;
mod orders;
mod recordings;

use super::{AsKnown, INTERRUPTED, as_known};
use bundle::BundleError;
use install::ProgramError;
use optimize::OptimizeError;
use ordering::attempt::AttemptError;
use ordering::openoffice::OpenOfficeError;
use ordering::verify::VerifyError;
use ordering::windows::WindowsLaunchError;
use os::wine::WineError;
use prefetch::launchers::InstallError;
use prefetch::store::StoreError;
use sharing::SharingError;

/// 128 and the number of the signal by which the user wanted to stop.
pub fn interrupted() -> Option<u8> {
    let signal = os::interrupt::signal()?;
    Some(u8::try_from(128 + signal).unwrap_or(INTERRUPTED))
}

/// The types of known errors.
pub(super) const KNOWN: &[AsKnown] = &[
    as_known::<WineError>,
    as_known::<BundleError>,
    as_known::<OptimizeError>,
    as_known::<VerifyError>,
    as_known::<AttemptError>,
    as_known::<OpenOfficeError>,
    as_known::<WindowsLaunchError>,
    as_known::<StoreError>,
    as_known::<InstallError>,
    as_known::<ProgramError>,
    as_known::<SharingError>,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::words;

    #[test]
    fn a_cause_is_told_once() {
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let explained = BundleError::Write { path: "/x".into(), source: denied() };
        assert!(!words(&explained.into()).contains(&denied().to_string()));
    }
}
