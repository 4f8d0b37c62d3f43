//! What a file is, by a look at its first bytes.

use serde::{Deserialize, Serialize};

/// What one file is.
///
/// What does not apply to its kind, or could not be told, is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// As it was named, or found below a folder.
    pub path: String,
    /// The file's format.
    pub kind: FileKind,
    /// All that is known of it, in words.
    pub detail: String,
    /// What a program image is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Processor, by the names that `inspect` uses; several for a universal Mach-O file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What Windows starts a PE program in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsystem: Option<Subsystem>,
    /// What a PE image runs on beside Windows itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<Runtime>,
    /// The program that a script or an ELF program is started with. Where a script asks `env` to
    /// find it, the name that `env` looks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// What could not be told, and why: never silently a "no".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Bytes read from the file; 65,536 at most.
    pub bytes_read: u64,
}

/// Format of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// ELF.
    Elf,
    /// PE, as Windows and Wine load it.
    Pe,
    /// A DOS program: MZ, and no newer header behind it.
    Dos,
    /// The segmented format of 16-bit Windows and OS/2.
    Ne,
    /// The linear format of OS/2 2 and of virtual device drivers (LE, LX).
    Le,
    /// COFF, an object file as linkers for Windows read it.
    Coff,
    /// Mach-O, for one processor or for several.
    MachO,
    /// A text that names its interpreter after `#!`.
    Script,
    /// Files in a file, or a compressed file.
    Archive,
    /// What Windows records of the launches of a program (`.pf`).
    Prefetch,
    /// A class of Java.
    JavaClass,
    /// WebAssembly.
    Wasm,
    /// LLVM bitcode.
    LlvmBitcode,
    /// Text without an interpreter.
    Text,
    /// No bytes at all.
    Empty,
    /// None of these, or no regular file.
    #[default]
    Other,
    /// It could not be read; `detail` has the reason.
    Unreadable,
}

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A program: ELF at a fixed address with a loader, PE, or Mach-O.
    Executable,
    /// A position-independent ELF program with a loader.
    Pie,
    /// An ELF program at a fixed address without a loader.
    Static,
    /// An ELF program that relocates itself.
    StaticPie,
    /// A shared library, DLL or plug-in.
    Library,
    /// A dynamic loader.
    Loader,
    /// An object file for a linker.
    Object,
    /// A core dump.
    Core,
}

/// Subsystem of a PE image. Microsoft, *PE Format*, *Windows Subsystem*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subsystem {
    /// None: drivers, and programs that start before Windows does.
    Native,
    /// Windows without a console.
    Gui,
    /// Windows with a console.
    Console,
    /// OS/2 with a console.
    Os2,
    /// POSIX with a console.
    Posix,
    /// A native driver of Windows 9x.
    Windows9xDriver,
    /// Windows CE.
    WindowsCe,
    /// An application of UEFI.
    EfiApplication,
    /// A driver of UEFI until the system has started.
    EfiBootDriver,
    /// A driver of UEFI that stays.
    EfiRuntimeDriver,
    /// A ROM image of UEFI.
    EfiRom,
    /// Xbox.
    Xbox,
    /// Windows' own boot programs.
    BootApplication,
    /// The code catalog of Xbox.
    XboxCodeCatalog,
}

/// What a PE image runs on beside Windows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// It imports `cygwin1.dll` or is that library.
    Cygwin,
    /// It imports `msys-2.0.dll` (or 1.0) or is that library.
    Msys,
    /// It has a header of the common language runtime.
    #[serde(rename = "dotnet")]
    DotNet,
}

/// The variants of an enum with their words in JSON and on the command line.
macro_rules! words {
    ($name:ident: $($variant:ident $word:literal)*) => {
        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// Its word, as in JSON.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    };
}

words!(FileKind: Elf "elf" Pe "pe" Dos "dos" Ne "ne" Le "le" Coff "coff" MachO "mach_o"
    Script "script" Archive "archive" Prefetch "prefetch" JavaClass "java_class" Wasm "wasm"
    LlvmBitcode "llvm_bitcode" Text "text" Empty "empty" Other "other" Unreadable "unreadable");
words!(Role: Executable "executable" Pie "pie" Static "static" StaticPie "static_pie"
    Library "library" Loader "loader" Object "object" Core "core");
words!(Subsystem: Native "native" Gui "gui" Console "console" Os2 "os2" Posix "posix"
    Windows9xDriver "windows9x_driver" WindowsCe "windows_ce" EfiApplication "efi_application"
    EfiBootDriver "efi_boot_driver" EfiRuntimeDriver "efi_runtime_driver" EfiRom "efi_rom"
    Xbox "xbox" BootApplication "boot_application" XboxCodeCatalog "xbox_code_catalog");
words!(Runtime: Cygwin "cygwin" Msys "msys" DotNet "dotnet");

impl Role {
    /// Whether it can be started.
    pub fn is_program(self) -> bool {
        matches!(self, Role::Executable | Role::Pie | Role::Static | Role::StaticPie)
    }
}
