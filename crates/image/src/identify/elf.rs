//! ELF: what for, for which processor, and with which loader. gABI, chapters 4 and 5.

use super::fields::{Fields, text};
use super::source::{Missing, Source};
use crate::elf::machine_name;
use model::{FileKind, Identity, Role};
use object::elf;

/// Dynamic sections have some dozens of entries; more is not looked at.
const MOST_DYNAMIC_BYTES: usize = 8192;
/// Loaders have few symbols, and so few names.
const MOST_NAME_BYTES: u64 = 32_768;
const MOST_PATH_BYTES: usize = 256;
/// Defined by every loader: where debuggers are told of libraries.
const DEBUG_HOOK: &[u8] = b"\0_dl_debug_state\0";

pub(super) fn is_elf(start: &[u8]) -> bool {
    crate::is_elf(start)
}

/// What is known of the ELF file.
pub(super) fn identify(source: &mut Source) -> Identity {
    let found = |detail: &str| Identity {
        kind: FileKind::Elf,
        detail: detail.to_owned(),
        ..Identity::default()
    };
    let Some(header) = Header::read(source.start()) else {
        return found("damaged, or cut short within its header");
    };
    let machine = machine_name(elf::Machine(header.machine), if header.is_64 { 64 } else { 32 });
    let mut identity = Identity { machine: Some(machine), ..found("") };
    match role(source, &header, &mut identity) {
        Ok(What::For(role)) => identity.role = Some(role),
        Ok(What::DebugInformation) => {
            identity.detail = "debug information of an image".to_owned();
        }
        Ok(What::Undefined) => identity.detail = "image of unknown type".to_owned(),
        Err(missing) => identity.unknown = Some(unknown(missing)),
    }
    identity.detail = detail(&identity, header.big);
    identity
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

struct Header {
    is_64: bool,
    big: bool,
    file_type: elf::FileType,
    machine: u16,
    entry: u64,
    segments: u64,
    segment_bytes: usize,
    segment_count: u16,
    sections: u64,
}

impl Header {
    fn read(start: &[u8]) -> Option<Header> {
        let is_64 = match elf::FileClass(*start.get(4)?) {
            elf::ELFCLASS32 => false,
            elf::ELFCLASS64 => true,
            _ => return None,
        };
        let big = match elf::DataEncoding(*start.get(5)?) {
            elf::ELFDATA2LSB => false,
            elf::ELFDATA2MSB => true,
            _ => return None,
        };
        let fields = Fields::new(start, big);
        let [segments, sections, sizes] = if is_64 { [32, 40, 54] } else { [28, 32, 42] };
        Some(Header {
            is_64,
            big,
            file_type: elf::FileType(fields.u16(16)?),
            machine: fields.u16(18)?,
            entry: fields.word(24, is_64)?,
            segments: fields.word(segments, is_64)?,
            sections: fields.word(sections, is_64)?,
            segment_bytes: fields.u16(sizes)?.into(),
            segment_count: fields.u16(sizes + 2)?,
        })
    }

    /// The number of program headers; a large one is kept in the first section header.
    fn count(&self, source: &mut Source) -> Result<usize, Missing> {
        if self.segment_count != elf::PN_XNUM {
            return Ok(self.segment_count.into());
        }
        let at = if self.is_64 { 44 } else { 28 };
        let bytes = source.get(self.sections, at + 4)?;
        let count = Fields::new(bytes, self.big).u32(at);
        Ok(count.unwrap_or(0) as usize)
    }

    /// The table of program headers.
    fn table<'s>(&self, source: &'s mut Source) -> Result<&'s [u8], Missing> {
        let bytes = self.count(source)?.saturating_mul(self.segment_bytes);
        source.get(self.segments, bytes)
    }

    fn each_segment<'s>(&self, table: &'s [u8]) -> impl Iterator<Item = Segment> + use<'s> {
        let (is_64, big) = (self.is_64, self.big);
        let least = if is_64 { 56 } else { 32 };
        let entries = table.chunks_exact(self.segment_bytes.max(least));
        entries.filter_map(move |bytes| Segment::read(Fields::new(bytes, big), is_64))
    }
}

/// What an ELF file is.
enum What {
    For(Role),
    /// What `objcopy --only-keep-debug` leaves: the headers of an image, without its contents.
    DebugInformation,
    Undefined,
}

/// A program header's fields.
struct Segment {
    kind: elf::ProgramType,
    is_code: bool,
    offset: u64,
    address: u64,
    file_bytes: u64,
    memory_bytes: u64,
}

impl Segment {
    fn read(fields: Fields, is_64: bool) -> Option<Segment> {
        let [flags, offset, address, sizes] = if is_64 { [4, 8, 16, 32] } else { [24, 4, 8, 16] };
        let word = if is_64 { 8 } else { 4 };
        Some(Segment {
            kind: elf::ProgramType(fields.u32(0)?),
            is_code: fields.u32(flags)? & elf::PF_X.0 != 0,
            offset: fields.word(offset, is_64)?,
            address: fields.word(address, is_64)?,
            file_bytes: fields.word(sizes, is_64)?,
            memory_bytes: fields.word(sizes + word, is_64)?,
        })
    }
}

/// The segments that tell what an image is for.
#[derive(Default)]
struct Segments {
    interpreter: Option<Segment>,
    dynamic: Option<Segment>,
    code: u32,
    /// Of them those of which the file has nothing.
    absent_code: u32,
}

impl Segments {
    fn read(source: &mut Source, header: &Header) -> Result<Segments, Missing> {
        let mut segments = Segments::default();
        for segment in header.each_segment(header.table(source)?) {
            match segment.kind {
                elf::PT_INTERP if segment.file_bytes > 0 => segments.interpreter = Some(segment),
                elf::PT_DYNAMIC => segments.dynamic = Some(segment),
                elf::PT_LOAD if segment.is_code && segment.memory_bytes > 0 => {
                    segments.code += 1;
                    segments.absent_code += u32::from(segment.file_bytes == 0);
                }
                _ => {}
            }
        }
        Ok(segments)
    }
}

/// What the image is for, by the rules of `inspect`; its interpreter goes into `identity`.
fn role(source: &mut Source, header: &Header, identity: &mut Identity) -> Result<What, Missing> {
    match header.file_type {
        elf::ET_REL => return Ok(What::For(Role::Object)),
        elf::ET_CORE => return Ok(What::For(Role::Core)),
        elf::ET_EXEC | elf::ET_DYN => {}
        _ => return Ok(What::Undefined),
    }
    let segments = Segments::read(source, header)?;
    if segments.code > 0 && segments.absent_code == segments.code {
        return Ok(What::DebugInformation);
    }
    let has_interpreter = segments.interpreter.is_some();
    if let Some(segment) = segments.interpreter {
        let length = MOST_PATH_BYTES.min(segment.file_bytes as usize);
        identity.interpreter = Some(text(source.up_to(segment.offset, length)?));
    }
    if header.file_type == elf::ET_EXEC {
        let role = if has_interpreter { Role::Executable } else { Role::Static };
        return Ok(What::For(role));
    }
    let Some(dynamic) = segments.dynamic else { return Ok(What::For(Role::Library)) };
    let dynamic = Dynamic::read(source, header, &dynamic)?;
    Ok(What::For(match (dynamic.pie, has_interpreter) {
        (true, true) => Role::Pie,
        (true, false) => Role::StaticPie,
        // Old linkers set no DF_1_PIE; libraries that can be run, such as libc.so.6, have a name.
        (false, true) if !dynamic.has_name => Role::Pie,
        (false, false) if is_loader(source, header, &dynamic)? => Role::Loader,
        _ => Role::Library,
    }))
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

impl Dynamic {
    fn read(source: &mut Source, header: &Header, segment: &Segment) -> Result<Dynamic, Missing> {
        let mut dynamic = Dynamic::default();
        let length = MOST_DYNAMIC_BYTES.min(segment.file_bytes as usize);
        let bytes = source.get(segment.offset, length)?;
        let word = if header.is_64 { 8 } else { 4 };
        for entry in bytes.chunks_exact(2 * word) {
            let fields = Fields::new(entry, header.big);
            let (tag, value) = (fields.word(0, header.is_64), fields.word(word, header.is_64));
            let (Some(tag), Some(value)) = (tag, value) else { break };
            match elf::DynamicTag(tag as i64) {
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
}

/// A loader needs no library, starts by itself, and tells debuggers of libraries.
fn is_loader(source: &mut Source, header: &Header, dynamic: &Dynamic) -> Result<bool, Missing> {
    let few_names = dynamic.name_bytes <= MOST_NAME_BYTES;
    if header.entry == 0 || dynamic.needs_libraries || !few_names {
        return Ok(false);
    }
    let table = header.table(source)?;
    let at = header.each_segment(table).find_map(|segment| {
        let within = dynamic.names.checked_sub(segment.address)?;
        let holds = segment.kind == elf::PT_LOAD && within < segment.file_bytes;
        holds.then(|| segment.offset.checked_add(within))?
    });
    let Some(at) = at else { return Ok(false) };
    let names = source.up_to(at, dynamic.name_bytes as usize)?;
    Ok(names.windows(DEBUG_HOOK.len()).any(|name| name == DEBUG_HOOK))
}
