//! Flags of PE images: what they ask of the loader and may be changed after linking, under the
//! names that Microsoft's linker and editbin have for them.
//!
//! Format: *Characteristics* and *DLL Characteristics*.

mod rules;

use crate::Refusal;
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
enum Field {
    File(u16),
    Dll(u16),
}

impl Flag {
    /// All flags, those first that can be changed.
    pub const ALL: [Flag; 15] = [
        Flag::DynamicBase,
        Flag::HighEntropyVa,
        Flag::LargeAddressAware,
        Flag::SwapRunNet,
        Flag::SwapRunCd,
        Flag::NxCompat,
        Flag::TsAware,
        Flag::NoBind,
        Flag::ForceIntegrity,
        Flag::GuardCf,
        Flag::NoSeh,
        Flag::NoIsolation,
        Flag::AppContainer,
        Flag::WdmDriver,
        Flag::RelocsStripped,
    ];

    /// The name of the linker's option, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Flag::DynamicBase => "dynamicbase",
            Flag::HighEntropyVa => "highentropyva",
            Flag::LargeAddressAware => "largeaddressaware",
            Flag::SwapRunNet => "swaprun:net",
            Flag::SwapRunCd => "swaprun:cd",
            Flag::NxCompat => "nxcompat",
            Flag::TsAware => "tsaware",
            Flag::NoBind => "no-bind",
            Flag::ForceIntegrity => "force-integrity",
            Flag::GuardCf => "guard:cf",
            Flag::NoSeh => "no-seh",
            Flag::NoIsolation => "no-isolation",
            Flag::AppContainer => "appcontainer",
            Flag::WdmDriver => "driver:wdm",
            Flag::RelocsStripped => "fixed",
        }
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
        let Some(flag) = Flag::ALL.into_iter().find(|flag| flag.name() == name) else {
            let names = Flag::ALL.into_iter().filter(|flag| flag.fixed().is_none());
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
        match self {
            Flag::DynamicBase => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE),
            Flag::HighEntropyVa => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA),
            Flag::LargeAddressAware => Field::File(spec::IMAGE_FILE_LARGE_ADDRESS_AWARE),
            Flag::SwapRunNet => Field::File(spec::IMAGE_FILE_NET_RUN_FROM_SWAP),
            Flag::SwapRunCd => Field::File(spec::IMAGE_FILE_REMOVABLE_RUN_FROM_SWAP),
            Flag::NxCompat => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT),
            Flag::TsAware => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE),
            Flag::NoBind => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_BIND),
            Flag::ForceIntegrity => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY),
            Flag::GuardCf => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_GUARD_CF),
            Flag::NoSeh => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_SEH),
            Flag::NoIsolation => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_NO_ISOLATION),
            Flag::AppContainer => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_APPCONTAINER),
            Flag::WdmDriver => Field::Dll(spec::IMAGE_DLLCHARACTERISTICS_WDM_DRIVER),
            Flag::RelocsStripped => Field::File(spec::IMAGE_FILE_RELOCS_STRIPPED),
        }
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

/// The flags that an image has, in the order of [`Flag::ALL`].
pub fn of(headers: &Headers) -> Vec<Flag> {
    Flag::ALL.into_iter().filter(|flag| flag.is_set(headers)).collect()
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
    pub notes: Vec<String>,
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
