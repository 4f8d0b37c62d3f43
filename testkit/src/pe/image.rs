//! What is to be built.

use super::sources;

/// A processor that images are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// PE32+, relocations of the type DIR64.
    X86_64,
    /// PE32, relocations of the type HIGHLOW.
    I686,
    /// PE32+, relocations of the type DIR64.
    Arm64,
    /// PE32 with Thumb instructions, relocations of the types HIGHLOW and THUMB_MOV32.
    Arm,
}

impl Machine {
    /// As clang's `--target` names it.
    pub(super) fn target(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-pc-windows-msvc",
            Machine::I686 => "i686-pc-windows-msvc",
            Machine::Arm64 => "aarch64-pc-windows-msvc",
            Machine::Arm => "thumbv7-pc-windows-msvc",
        }
    }

    /// As llvm-dlltool's `-m` names it.
    pub(super) fn dlltool(self) -> &'static str {
        match self {
            Machine::X86_64 => "i386:x86-64",
            Machine::I686 => "i386",
            Machine::Arm64 => "arm64",
            Machine::Arm => "arm",
        }
    }
}

/// A DLL or program that clang and lld-link build. Whatever is not asked for is as these tools
/// have it, except that nothing depends on the time of day.
#[derive(Clone, Debug)]
pub struct Image {
    pub(super) name: String,
    pub(super) machine: Machine,
    pub(super) source: String,
    pub(super) exports: String,
    pub(super) libraries: Vec<String>,
    pub(super) system: Vec<(String, Vec<String>)>,
    pub(super) compile: Vec<String>,
    pub(super) link: Vec<String>,
}

impl Image {
    /// An image for x86-64 of that file name from C `source`: a DLL where the name ends in `.dll`,
    /// else a console program whose first function is `start`.
    pub fn new(name: &str, source: &str) -> Image {
        let link = match name.ends_with(".dll") {
            true => vec!["/dll".to_owned(), "/noentry".to_owned()],
            false => vec!["/entry:start".to_owned(), "/subsystem:console".to_owned()],
        };
        Image {
            name: name.to_owned(),
            machine: Machine::X86_64,
            source: source.to_owned(),
            exports: String::new(),
            libraries: Vec::new(),
            system: Vec::new(),
            compile: Vec::new(),
            link: [&link[..], &["/timestamp:1600000000".to_owned()]].concat(),
        }
    }

    /// For another processor.
    pub fn machine(mut self, machine: Machine) -> Image {
        self.machine = machine;
        self
    }

    /// C source in front of what is there.
    pub fn prelude(mut self, source: &str) -> Image {
        self.source = format!("{source}\n{}", self.source);
        self
    }

    /// Exports, a line each as in a module-definition file: `name`, `name @5`, `name @6 NONAME`,
    /// `name DATA`, `name = OTHER.function`.
    pub fn exports(mut self, lines: &str) -> Image {
        self.exports += lines;
        self.exports.push('\n');
        self
    }

    /// Linked against a DLL that was built before in the same folder.
    pub fn against(mut self, dll: &str) -> Image {
        self.libraries.push(dll.to_owned());
        self
    }

    /// Linked against a DLL that was built before in the same folder, which is loaded at the first
    /// call: never, as [`sources::DELAY_HELPER`] loads nothing.
    pub fn delayed(self, dll: &str) -> Image {
        let image = self.against(dll).link(&format!("/delayload:{dll}"));
        if image.source.contains(sources::DELAY_HELPER) {
            return image;
        }
        image.prelude(sources::DELAY_HELPER)
    }

    /// Linked against functions of a DLL of the system; for [`Machine::I686`] with the size of
    /// their arguments, as in `ExitProcess@4`. A `#` and an ordinal behind a name imports by that.
    pub fn system(mut self, dll: &str, functions: &[&str]) -> Image {
        let functions = functions.iter().map(|name| (*name).to_owned()).collect();
        self.system.push((dll.to_owned(), functions));
        self
    }

    /// With `say(text)` and `leave(code)`, which print and end by way of kernel32.dll.
    pub fn speaking(self) -> Image {
        let functions: &[&str] = match self.machine {
            Machine::I686 => &["ExitProcess@4", "GetStdHandle@4", "WriteFile@20"],
            _ => &["ExitProcess", "GetStdHandle", "WriteFile"],
        };
        self.system("kernel32.dll", functions).prelude(sources::SPEAKING)
    }

    /// With Control Flow Guard and its tables.
    pub fn guarded(self) -> Image {
        let image = self.prelude(sources::GUARD).link("/guard:cf");
        image.compile("-Xclang").compile("-cfguard")
    }

    /// With thread-local storage and `callbacks` callbacks, at most 9.
    pub fn thread_local(self, callbacks: usize) -> Image {
        let define = format!("#define TLS_CALLBACKS {callbacks}\n");
        self.prelude(&(define + sources::TLS))
    }

    /// The preferred base.
    pub fn base(self, base: u64) -> Image {
        self.link(&format!("/base:{base:#x}"))
    }

    /// Unit of places in the file.
    pub fn file_alignment(self, bytes: u32) -> Image {
        self.link(&format!("/filealign:{bytes}"))
    }

    /// `TimeDateStamp`.
    pub fn time_stamp(mut self, seconds: u32) -> Image {
        self.link.retain(|word| !word.starts_with("/timestamp"));
        self.link(&format!("/timestamp:{seconds}"))
    }

    /// With a checksum.
    pub fn checksum(self) -> Image {
        self.link("/release")
    }

    /// An option for clang.
    pub fn compile(mut self, option: &str) -> Image {
        self.compile.push(option.to_owned());
        self
    }

    /// An option for lld-link.
    pub fn link(mut self, option: &str) -> Image {
        self.link.push(option.to_owned());
        self
    }

    /// The name without its ending.
    pub(super) fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(&self.name, |(stem, _)| stem)
    }
}
