//! PE: which subsystem and processor, and what it runs on. Microsoft, *PE Format*.

mod dotnet;
mod headers;
mod hybrid;
mod imports;

use super::source::Source;
use headers::Headers;
use model::{FileKind, Identity, Role, Runtime, Rva, Subsystem};
use object::pe;

/// Why something in a PE file could not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    Outside,
    Budget,
}

impl From<super::source::Missing> for Unread {
    fn from(missing: super::source::Missing) -> Unread {
        match missing {
            super::source::Missing::End => Unread::Outside,
            super::source::Missing::Budget => Unread::Budget,
        }
    }
}

/// What is known of the PE file whose signature is at `at`.
pub(super) fn identify(source: &mut Source, at: u64) -> Identity {
    let found = Identity { kind: FileKind::Pe, ..Identity::default() };
    let headers = match Headers::read(source, at) {
        Ok(headers) => headers,
        Err(Unread::Outside) => {
            return Identity { detail: "cut short within its headers".to_owned(), ..found };
        }
        Err(Unread::Budget) => {
            let unknown = Some("everything else: the headers are longer than 64 KiB".to_owned());
            return Identity { detail: "image".to_owned(), unknown, ..found };
        }
    };
    let mut identity = Identity {
        role: Some(if headers.is_library() { Role::Library } else { Role::Executable }),
        machine: Some(machine(source, &headers)),
        subsystem: subsystem(headers.pe.subsystem),
        ..found
    };
    let mut remarks = Vec::new();
    runtime(source, &headers, &mut identity, &mut remarks);
    remarks.extend(dotnet::remark(source, &headers, &mut identity));
    remarks.extend(wine(source.start()).map(str::to_owned));
    let first = format!("{}, {}", what(&identity), identity.machine.as_deref().unwrap_or_default());
    remarks.insert(0, first);
    identity.detail = remarks.join(", ");
    identity
}

/// Cygwin or MSYS, by what the image imports or by its own name; which it is goes to `remarks`.
fn runtime(
    source: &mut Source,
    headers: &Headers,
    identity: &mut Identity,
    remarks: &mut Vec<String>,
) {
    let (runtime, remark) = match imports::runtime(source, headers) {
        Ok(Some((runtime, name))) => (runtime, format!("{} ({name})", word(runtime))),
        imported => {
            if let Err(unread) = imported {
                identity.unknown = Some(unknown("whether it is a Cygwin or MSYS program", unread));
            }
            // A library that cannot say its name is not the runtime: that one is well-formed.
            match imports::own_name(source, headers) {
                Ok(Some((runtime, _))) => {
                    (runtime, format!("the {} library itself", word(runtime)))
                }
                _ => return,
            }
        }
    };
    identity.unknown = None;
    identity.runtimes.push(runtime);
    remarks.push(remark);
}

fn unknown(what: &str, unread: Unread) -> String {
    match unread {
        Unread::Outside => format!("{what}: the imports are outside the file, which is damaged"),
        Unread::Budget => format!("{what}: imports not read: beyond 64 KiB"),
    }
}

fn word(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Cygwin => "Cygwin",
        Runtime::Msys => "MSYS",
        Runtime::DotNet => ".NET",
    }
}

/// Wine marks its own files behind the DOS header.
fn wine(start: &[u8]) -> Option<&'static str> {
    let mark = start.get(0x40..)?;
    if mark.starts_with(b"Wine builtin DLL\0") {
        Some("part of Wine")
    } else if mark.starts_with(b"Wine placeholder DLL\0") {
        Some("Wine placeholder")
    } else {
        None
    }
}

fn what(identity: &Identity) -> &'static str {
    let library = identity.role == Some(Role::Library);
    match identity.subsystem {
        Some(Subsystem::EfiApplication) => "EFI application",
        Some(Subsystem::EfiBootDriver) => "EFI boot driver",
        Some(Subsystem::EfiRuntimeDriver) => "EFI runtime driver",
        Some(Subsystem::EfiRom) => "EFI ROM image",
        Some(Subsystem::Native) if library => "native DLL",
        _ if library => "DLL",
        Some(Subsystem::Native) => "driver or native program",
        Some(Subsystem::Gui) => "GUI program",
        Some(Subsystem::Console) => "console program",
        Some(Subsystem::Os2) => "OS/2 program",
        Some(Subsystem::Posix) => "POSIX program",
        Some(Subsystem::Windows9xDriver) => "Windows 9x driver",
        Some(Subsystem::WindowsCe) => "Windows CE program",
        Some(Subsystem::Xbox) => "Xbox program",
        Some(Subsystem::BootApplication) => "boot application",
        Some(Subsystem::XboxCodeCatalog) => "Xbox code catalog",
        None => "program for an unknown subsystem",
    }
}

fn subsystem(value: u16) -> Option<Subsystem> {
    Some(match pe::Subsystem(value) {
        pe::IMAGE_SUBSYSTEM_NATIVE => Subsystem::Native,
        pe::IMAGE_SUBSYSTEM_WINDOWS_GUI => Subsystem::Gui,
        pe::IMAGE_SUBSYSTEM_WINDOWS_CUI => Subsystem::Console,
        pe::IMAGE_SUBSYSTEM_OS2_CUI => Subsystem::Os2,
        pe::IMAGE_SUBSYSTEM_POSIX_CUI => Subsystem::Posix,
        pe::IMAGE_SUBSYSTEM_NATIVE_WINDOWS => Subsystem::Windows9xDriver,
        pe::IMAGE_SUBSYSTEM_WINDOWS_CE_GUI => Subsystem::WindowsCe,
        pe::IMAGE_SUBSYSTEM_EFI_APPLICATION => Subsystem::EfiApplication,
        pe::IMAGE_SUBSYSTEM_EFI_BOOT_SERVICE_DRIVER => Subsystem::EfiBootDriver,
        pe::IMAGE_SUBSYSTEM_EFI_RUNTIME_DRIVER => Subsystem::EfiRuntimeDriver,
        pe::IMAGE_SUBSYSTEM_EFI_ROM => Subsystem::EfiRom,
        pe::IMAGE_SUBSYSTEM_XBOX => Subsystem::Xbox,
        pe::IMAGE_SUBSYSTEM_WINDOWS_BOOT_APPLICATION => Subsystem::BootApplication,
        pe::IMAGE_SUBSYSTEM_XBOX_CODE_CATALOG => Subsystem::XboxCodeCatalog,
        _ => return None,
    })
}

fn machine(source: &mut Source, headers: &Headers) -> String {
    let hybrid = hybrid::name(source, headers).map(str::to_owned);
    hybrid.unwrap_or_else(|| crate::pe::machine(headers.pe.machine))
}

/// Where a table of the data directory is in the file, and how much of its section follows there,
/// or why it cannot be read; `None` where there is none.
fn directory(headers: &Headers, index: usize) -> Result<Option<(u64, usize)>, Unread> {
    match headers.pe.directories.get(index) {
        Some(directory) if directory.rva != Rva(0) => {
            headers.place(directory.rva).map(Some).ok_or(Unread::Outside)
        }
        _ => Ok(None),
    }
}
