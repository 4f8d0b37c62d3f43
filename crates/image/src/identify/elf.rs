//! ELF: what for, for which processor, and with which loader. gABI, chapters 4 and 5.

use super::fields::text;
use super::source::{Missing, Source};
use crate::elf::{form, machine_name};
use crate::notes::{entries, entry};
use model::{FileKind, Identity, Role};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, elf};

/// Dynamic sections have some dozens of entries; more is not looked at.
const MOST_DYNAMIC_BYTES: usize = 8192;
/// Loaders have few symbols, and so few names.
const MOST_NAME_BYTES: u64 = 32_768;
const MOST_PATH_BYTES: usize = 256;
/// Defined by every loader: where debuggers are told of libraries.
const DEBUG_HOOK: &[u8] = b"\0_dl_debug_state\0";

/// What is known of the ELF file.
pub(super) fn identify(source: &mut Source) -> Identity {
    let identity = match form("", source.start()) {
        Ok((elf::ELFCLASS64, endian)) => known::<elf::FileHeader64<Endianness>>(source, endian),
        Ok((_, endian)) => known::<elf::FileHeader32<Endianness>>(source, endian),
        Err(_) => None,
    };
    identity.unwrap_or_else(|| found("damaged, or cut short within its header"))
}

fn found(detail: &str) -> Identity {
    Identity { kind: FileKind::Elf, detail: detail.to_owned(), ..Identity::default() }
}

fn known<H: FileHeader<Endian = Endianness>>(
    source: &mut Source,
    endian: Endianness,
) -> Option<Identity> {
    let image: Image<'_, H> = Image { header: entry(source.start())?, endian };
    let machine = image.header.e_machine(endian);
    let machine = machine_name(machine, if H::is_type_64_sized() { 64 } else { 32 });
    let mut identity = Identity { machine: Some(machine), ..found("") };
    match image.role(source, &mut identity) {
        Ok(What::For(role)) => identity.role = Some(role),
        Ok(What::DebugInformation) => {
            identity.detail = "debug information of an image".to_owned();
        }
        Ok(What::Undefined) => identity.detail = "image of unknown type".to_owned(),
        Err(missing) => identity.unknown = Some(unknown(missing)),
    }
    identity.detail = detail(&identity, endian == Endianness::Big);
    Some(identity)
}

fn unknown(missing: Missing) -> String {
    let place = match missing {
        Missing::End => "outside the file, which is cut short",
        Missing::Budget => "beyond 64 KiB",
    };
    format!("whether it is a program or a library: the headers that say so are {place}")
}

fn detail(identity: &Identity, big: bool) -> String {
    let what = match identity.role {
        Some(Role::Executable) => "executable",
        Some(Role::Pie) => "PIE",
        Some(Role::Static) => "static executable",
        Some(Role::StaticPie) => "static PIE",
        Some(Role::Library) => "shared library",
        Some(Role::Loader) => "loader",
        Some(Role::Object) => "object file",
        Some(Role::Core) => "core dump",
        None if identity.detail.is_empty() => "image",
        None => &identity.detail,
    };
    let mut detail = format!("{what}, {}", identity.machine.as_deref().unwrap_or_default());
    if big {
        detail += ", big-endian";
    }
    // glibc's loader goes without saying.
    let usual = |path: &str| path.contains("/ld-linux") || path.contains("/ld64.so");
    if let Some(loader) = identity.interpreter.as_deref().filter(|path| !usual(path)) {
        detail += &format!(", loader {loader}");
    }
    detail
}

/// What an ELF file is.
enum What {
    For(Role),
    /// What `objcopy --only-keep-debug` leaves: the headers of an image, without its contents.
    DebugInformation,
    Undefined,
}

/// An image, of which no more is read than is asked for.
struct Image<'a, H: FileHeader> {
    header: &'a H,
    endian: H::Endian,
}

/// The segments that tell what an image is for.
struct Segments<P> {
    interpreter: Option<P>,
    dynamic: Option<P>,
    code: u32,
    /// Of them those of which the file has nothing.
    absent_code: u32,
}

/// What the dynamic section says.
#[derive(Default)]
struct Dynamic {
    pie: bool,
    has_name: bool,
    needs_libraries: bool,
    names: u64,
    name_bytes: u64,
}

impl<H: FileHeader> Image<'_, H> {
    /// The program headers. A large number of them is kept in the first section header.
    fn program_headers(&self, source: &mut Source) -> Result<Vec<H::ProgramHeader>, Missing> {
        let mut count = self.header.e_phnum(self.endian) as usize;
        if count == usize::from(elf::PN_XNUM) {
            let bytes = source
                .get(self.header.e_shoff(self.endian).into(), size_of::<H::SectionHeader>())?;
            let first: Option<&H::SectionHeader> = entry(bytes);
            count = first.map_or(0, |section| section.sh_info(self.endian) as usize);
        }
        let size = usize::from(self.header.e_phentsize(self.endian));
        let table =
            source.get(self.header.e_phoff(self.endian).into(), count.saturating_mul(size))?;
        let headers = table.chunks_exact(size.max(size_of::<H::ProgramHeader>()));
        Ok(headers.filter_map(entry).copied().collect())
    }

    fn segments(&self, source: &mut Source) -> Result<Segments<H::ProgramHeader>, Missing> {
        let mut segments = Segments { interpreter: None, dynamic: None, code: 0, absent_code: 0 };
        for segment in self.program_headers(source)? {
            let is_code = segment.p_flags(self.endian).contains(elf::PF_X);
            let (in_file, in_memory) =
                (segment.p_filesz(self.endian), segment.p_memsz(self.endian));
            let (in_file, in_memory): (u64, u64) = (in_file.into(), in_memory.into());
            match segment.p_type(self.endian) {
                elf::PT_INTERP if in_file > 0 => segments.interpreter = Some(segment),
                elf::PT_DYNAMIC => segments.dynamic = Some(segment),
                elf::PT_LOAD if is_code && in_memory > 0 => {
                    segments.code += 1;
                    segments.absent_code += u32::from(in_file == 0);
                }
                _ => {}
            }
        }
        Ok(segments)
    }

    /// What the image is for, by the rules of `inspect`; its interpreter goes into `identity`.
    fn role(&self, source: &mut Source, identity: &mut Identity) -> Result<What, Missing> {
        let file_type = self.header.e_type(self.endian);
        match file_type {
            elf::ET_REL => return Ok(What::For(Role::Object)),
            elf::ET_CORE => return Ok(What::For(Role::Core)),
            elf::ET_EXEC | elf::ET_DYN => {}
            _ => return Ok(What::Undefined),
        }
        let segments = self.segments(source)?;
        if segments.code > 0 && segments.absent_code == segments.code {
            return Ok(What::DebugInformation);
        }
        let has_interpreter = segments.interpreter.is_some();
        if let Some(segment) = segments.interpreter {
            let size: u64 = segment.p_filesz(self.endian).into();
            let length = MOST_PATH_BYTES.min(size as usize);
            let name = source.up_to(segment.p_offset(self.endian).into(), length)?;
            identity.interpreter = Some(text(name));
        }
        if file_type == elf::ET_EXEC {
            let role = if has_interpreter { Role::Executable } else { Role::Static };
            return Ok(What::For(role));
        }
        let Some(dynamic) = segments.dynamic else { return Ok(What::For(Role::Library)) };
        let dynamic = self.dynamic(source, &dynamic)?;
        Ok(What::For(match (dynamic.pie, has_interpreter) {
            (true, true) => Role::Pie,
            (true, false) => Role::StaticPie,
            // Old linkers set no DF_1_PIE; libraries that can be run, such as libc.so.6, have a
            // name.
            (false, true) if !dynamic.has_name => Role::Pie,
            (false, false) if self.is_loader(source, &dynamic)? => Role::Loader,
            _ => Role::Library,
        }))
    }

    fn dynamic(&self, source: &mut Source, segment: &H::ProgramHeader) -> Result<Dynamic, Missing> {
        let mut dynamic = Dynamic::default();
        let size: u64 = segment.p_filesz(self.endian).into();
        let length = MOST_DYNAMIC_BYTES.min(size as usize);
        let bytes = source.get(segment.p_offset(self.endian).into(), length)?;
        for entry in entries::<H::Dyn>(bytes) {
            let value = entry.val(self.endian);
            match entry.tag(self.endian) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => dynamic.needs_libraries = true,
                elf::DT_SONAME => dynamic.has_name = true,
                elf::DT_STRTAB => dynamic.names = value,
                elf::DT_STRSZ => dynamic.name_bytes = value,
                elf::DT_FLAGS_1 => dynamic.pie = value & elf::DF_1_PIE.0 != 0,
                _ => {}
            }
        }
        Ok(dynamic)
    }

    /// A loader needs no library, starts by itself, and tells debuggers of libraries.
    fn is_loader(&self, source: &mut Source, dynamic: &Dynamic) -> Result<bool, Missing> {
        let few_names = dynamic.name_bytes <= MOST_NAME_BYTES;
        let entry: u64 = self.header.e_entry(self.endian).into();
        if entry == 0 || dynamic.needs_libraries || !few_names {
            return Ok(false);
        }
        let at = self.program_headers(source)?.iter().find_map(|segment| {
            let within = dynamic.names.checked_sub(segment.p_vaddr(self.endian).into())?;
            let holds = segment.p_type(self.endian) == elf::PT_LOAD
                && within < segment.p_filesz(self.endian).into();
            let offset: u64 = segment.p_offset(self.endian).into();
            holds.then(|| offset.checked_add(within))?
        });
        let Some(at) = at else { return Ok(false) };
        let names = source.up_to(at, dynamic.name_bytes as usize)?;
        Ok(names.windows(DEBUG_HOOK.len()).any(|name| name == DEBUG_HOOK))
    }
}
