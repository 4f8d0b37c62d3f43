//! Parsers of single values that verbs of Linux have.

use crate::args::choice;
use crate::args::values::until;
use clap::builder::{PossibleValue, TypedValueParser};
use model::bundle::BundleCheck;
use model::toolchain::Toolchain;
use model::{Disk, Until};

/// The disk that is read from.
pub fn disk() -> impl TypedValueParser<Value = Disk> {
    choice(Disk::ALL.map(|disk| {
        let what = match disk {
            Disk::Flash => "Flash memory of the machine itself",
            Disk::SlowFlash => "A volume of a cloud, or a memory card",
            Disk::MovingHead => "A disk with a moving head",
        };
        (PossibleValue::new(disk.name()).help(what), disk)
    }))
}

/// The compilers of which toolchains are made.
pub fn toolchain() -> impl TypedValueParser<Value = Toolchain> {
    choice(Toolchain::ALL.map(|toolchain| {
        let what = match toolchain {
            Toolchain::Clang => "clang and clang++, and the linkers ld and ld.lld",
            Toolchain::Gcc => "gcc and g++, and what they start: cc1, cc1plus, as, collect2, ld",
            Toolchain::Rustc => "rustc",
        };
        (PossibleValue::new(toolchain.word()).help(what), toolchain)
    }))
}

/// What a bundle looks at when it is started.
pub fn check() -> impl TypedValueParser<Value = BundleCheck> {
    choice(BundleCheck::ALL.map(|check| {
        let what = match check {
            BundleCheck::Host => "For this machine: inodes and exact times of files and folders",
            BundleCheck::Image => {
                "For container images, archives, copies of a machine: sizes and times of files (in whole \
                 seconds), and the build-ids of the C library and the loader"
            }
            BundleCheck::Immutable => {
                "As for host, except for files in /nix/store, /gnu/store and --immutable FOLDER"
            }
            BundleCheck::Sealed => {
                "Only the build-ids of the C library and the loader; the program and its libraries need \
                 not be there"
            }
        };
        (PossibleValue::new(check.word()).help(what), check)
    }))
}

/// `idle`, or as [`until`].
pub fn idle_or_until(text: &str) -> Result<Option<Until>, String> {
    match text {
        "idle" => Ok(None),
        _ => until(text).map(Some).map_err(|error| match error.strip_prefix("write ") {
            Some(forms) => format!("write idle, {forms}"),
            None => error,
        }),
    }
}
