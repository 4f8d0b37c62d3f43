//! Flags of PE images: what they ask of the loader and may be changed after linking, under the
//! names that Microsoft's linker and editbin have for them.
//!
//! Format: *Characteristics* and *DLL Characteristics*.

mod rules;

use crate::{Refusal, RefusalReason};
use image::pe::Headers;
use image::pe::edit::{OutsideFile, PeDraft};
use image::pe::spec;

/// A flag of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// May be loaded anywhere (ASLR).
    DynamicBase,
    /// May be loaded above 4 GiB, at addresses of more random bits.
    HighEntropyVa,
    /// The program can have addresses above 2 GiB.
    LargeAddressAware,
    /// Copied into memory first where it is on a network drive.
    SwapRunNet,
    /// Copied into memory first where it is on a removable drive.
    SwapRunCd,
    /// Data is never executed.
    NxCompat,
    /// The program can be used by several users at once on a terminal server.
    TsAware,
    /// Must not be bound.
    NoBind,
    /// Loaded only with a valid signature.
    ForceIntegrity,
    /// Has the tables of Control Flow Guard.
    GuardCf,
    /// Has no structured exception handlers.
    NoSeh,
    /// Manifests are not looked at.
    NoIsolation,
    /// Runs only in an app container.
    AppContainer,
    /// Is a driver of the Windows Driver Model.
    WdmDriver,
    /// Relocations were removed.
    RelocsStripped,
}

/// In which field of the headers a flag is.
#[derive(Clone, Copy)]
enum Field {
    File(u16),
    Dll(u16),
}

/// All flags, those first that can be changed, with the names of the linker's options in small
/// letters.
const FLAGS: [(Flag, &str, Field); 15] = [
    (Flag::DynamicBase, "dynamicbase", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE)),
    (
        Flag::HighEntropyVa,
        "highentropyva",
        Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA),
    ),
    (
        Flag::LargeAddressAware,
        "largeaddressaware",
        Field::File(spec::IMAGE_FILE_LARGE_ADDRESS_AWARE),
    ),
    (Flag::SwapRunNet, "swaprun:net", Field::File(spec::IMAGE_FILE_NET_RUN_FROM_SWAP)),
    (Flag::SwapRunCd, "swaprun:cd", Field::File(spec::IMAGE_FILE_REMOVABLE_RUN_FROM_SWAP)),
    (Flag::NxCompat, "nxcompat", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT)),
    (Flag::TsAware, "tsaware", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE)),
    (Flag::NoBind, "no-bind", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_BIND)),
    (
        Flag::ForceIntegrity,
        "force-integrity",
        Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY),
    ),
    (Flag::GuardCf, "guard:cf", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_GUARD_CF)),
    (Flag::NoSeh, "no-seh", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_SEH)),
    (Flag::NoIsolation, "no-isolation", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_ISOLATION)),
    (Flag::AppContainer, "appcontainer", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_APPCONTAINER)),
    (Flag::WdmDriver, "driver:wdm", Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_WDM_DRIVER)),
    (Flag::RelocsStripped, "fixed", Field::File(spec::IMAGE_FILE_RELOCS_STRIPPED)),
];

impl Flag {
    /// All flags, those first that can be changed.
    pub fn all() -> impl Iterator<Item = Flag> {
        FLAGS.into_iter().map(|(flag, ..)| flag)
    }

    /// The name of the linker's option, in small letters.
    pub fn name(self) -> &'static str {
        FLAGS[self as usize].1
    }

    /// Why it cannot be changed in a finished image; `None` where it can.
    pub fn fixed(self) -> Option<&'static str> {
        match self {
            Flag::ForceIntegrity => Some(
                "it requires a valid signature, which a changed file \
                 does not have",
            ),
            Flag::GuardCf => Some("it depends on tables and code that the compiler generates"),
            Flag::RelocsStripped => Some("it says whether the file has relocations"),
            Flag::NoSeh | Flag::NoIsolation | Flag::AppContainer | Flag::WdmDriver => {
                Some("it says what kind of program was built")
            }
            _ => None,
        }
    }

    /// The flag of a name, in large or small letters, with or without the option's `/`.
    ///
    /// # Errors
    /// There is no such flag, or it cannot be changed; a sentence.
    pub fn parse(text: &str) -> Result<Flag, String> {
        let name = text.trim().trim_start_matches('/').to_ascii_lowercase();
        let name = match name.as_str() {
            "allowbind:no" | "nobind" => "no-bind",
            "integritycheck" => "force-integrity",
            name => name,
        };
        let Some(flag) = Flag::all().find(|flag| flag.name() == name) else {
            let names = Flag::all().filter(|flag| flag.fixed().is_none());
            let names: Vec<&str> = names.map(Flag::name).collect();
            return Err(format!("there is no flag '{text}'; the flags are {}", names.join(", ")));
        };
        match flag.fixed() {
            Some(reason) => Err(format!("{} cannot be changed: {reason}", flag.name())),
            None => Ok(flag),
        }
    }

    /// Whether an image has it.
    pub fn is_set(self, headers: &Headers) -> bool {
        match self.field() {
            Field::File(bit) => headers.characteristics & bit != 0,
            Field::Dll(bit) => headers.dll_characteristics & bit != 0,
        }
    }

    fn field(self) -> Field {
        FLAGS[self as usize].2
    }

    fn put(self, draft: &mut PeDraft, on: bool) -> Result<(), OutsideFile> {
        let with = |field: u16, bit: u16| if on { field | bit } else { field & !bit };
        let headers = draft.headers();
        match self.field() {
            Field::File(bit) => draft.set_characteristics(with(headers.characteristics, bit)),
            Field::Dll(bit) => {
                draft.set_dll_characteristics(with(headers.dll_characteristics, bit))
            }
        }
    }
}

/// The flags that an image has, in the order of [`Flag::all`].
pub fn of(headers: &Headers) -> Vec<Flag> {
    Flag::all().filter(|flag| flag.is_set(headers)).collect()
}

/// What is to become of some flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Those to set.
    pub set: Vec<Flag>,
    /// Those to clear.
    pub clear: Vec<Flag>,
}

/// What was done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Flags that it had not before.
    pub set: Vec<Flag>,
    /// Flags that it has no more.
    pub cleared: Vec<Flag>,
    /// What a user should know, a sentence each.
    pub notes: Vec<RefusalReason>,
}

/// Changes an image's flags. `path` is the file's name in errors.
///
/// # Errors
/// The image would not be loaded any more, or not work. It is unchanged then.
pub fn change(draft: &mut PeDraft, path: &str, asked: &Change) -> Result<Changed, Refusal> {
    let refused = |reason: String| Refusal::new(path, reason);
    let had = |flag: &Flag| flag.is_set(draft.headers());
    let set: Vec<Flag> = asked.set.iter().copied().filter(|flag| !had(flag)).collect();
    let cleared: Vec<Flag> = asked.clear.iter().copied().filter(had).collect();
    for (flags, on) in [(&set, true), (&cleared, false)] {
        for flag in flags {
            rules::possible(&draft.pe(), *flag, on).map_err(refused)?;
        }
    }
    for (flags, on) in [(&set, true), (&cleared, false)] {
        for flag in flags {
            flag.put(draft, on).map_err(|error| refused(error.to_string()))?;
        }
    }
    let notes = rules::notes(&draft.pe(), &set, &cleared);
    Ok(Changed { set, cleared, notes })
}
