//! Finding the tables of an image in its file.

use super::hash::Hash;
use super::{Bytes, ENDIAN, Endian, Loadable, Tables, versions};
use crate::ImageError;
use crate::elf::records::{FileHeader, ProgramHeader};
use crate::elf::{self, Elf64};
use crate::notes::{Notes, entries, string};
use model::text;
use object::elf::{self as spec, DynamicTag};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{Endianness, U32};
use std::ops::Range;

pub(super) fn loadable(path: &str, bytes: Bytes) -> Result<Loadable, ImageError> {
    let all = bytes.all();
    if elf::form(path, all)? != (spec::ELFCLASS64, Endianness::Little) {
        return Err(ImageError::NotLoadable(path.to_owned()));
    }
    let notes = &mut Notes::new(all.len());
    let file = &Elf64::parse(path, all, ENDIAN, None, notes)?;
    let tables = tables(file, notes);
    let strings = all.get(tables.strings.clone()).unwrap_or(&[]);
    let string = |at: u64| text::text_of(string(strings, at));
    let dynamic = &file.dynamic;
    let flag = |bit: u64| dynamic.flag(spec::DT_FLAGS, bit);
    let flag_1 = |bit: u64| dynamic.flag(spec::DT_FLAGS_1, bit);
    let has = |tags: &[DynamicTag]| tags.iter().any(|&tag| dynamic.has(tag));
    let interpreter = interpreter(file, notes);
    let loadable = Loadable {
        machine: elf::machine_name(file.header.e_machine(ENDIAN), 64),
        soname: dynamic.get(spec::DT_SONAME).map(string),
        needed: dynamic.all(spec::DT_NEEDED).map(string).collect(),
        rpath: dynamic.get(spec::DT_RPATH).map(string),
        runpath: dynamic.get(spec::DT_RUNPATH).map(string),
        symbolic: dynamic.has(spec::DT_SYMBOLIC) || flag(spec::DF_SYMBOLIC.0),
        bind_now: dynamic.has(spec::DT_BIND_NOW)
            || flag(spec::DF_BIND_NOW.0)
            || flag_1(spec::DF_1_NOW.0),
        no_default_folders: flag_1(spec::DF_1_NODEFLIB.0),
        first_initialized: flag_1(spec::DF_1_INITFIRST.0),
        filters: has(&[spec::DT_FILTER, spec::DT_AUXILIARY]),
        program: file.header.e_type(ENDIAN) == spec::ET_EXEC || flag_1(spec::DF_1_PIE.0),
        initializes: has(&[spec::DT_INIT, spec::DT_FINI])
            || [spec::DT_INIT_ARRAYSZ, spec::DT_FINI_ARRAYSZ, spec::DT_PREINIT_ARRAYSZ]
                .into_iter()
                .any(|tag| dynamic.get(tag).is_some_and(|size| size > 0)),
        fixed: file.header.e_type(ENDIAN) == spec::ET_EXEC,
        header: FileHeader::of(file.header),
        build_id: elf::build_id(file, notes),
        segments: file.segments.iter().map(ProgramHeader::of).collect(),
        dynamic: dynamic.entries().collect(),
        section_symbols: section_symbols(file),
        statics: super::static_symbols::Static::of(file),
        versions: versions::read(file, strings),
        hash: hash(file, notes),
        interpreter,
        tables,
        bytes: Bytes::Held(Vec::new()),
    };
    Ok(Loadable { bytes, ..loadable })
}

/// How many symbols the section of dynamic symbols has, where one is at their table's address.
fn section_symbols(file: &Elf64<'_>) -> Option<u32> {
    let address = file.dynamic.get(spec::DT_SYMTAB)?;
    let mut sections = file.sections.iter();
    let section = sections.find(|section| section.sh_type(ENDIAN) == spec::SHT_DYNSYM)?;
    let size = section.sh_size(ENDIAN) / size_of::<spec::Sym64<Endian>>() as u64;
    u32::try_from(size).ok().filter(|_| section.sh_addr(ENDIAN) == address)
}

/// Where a part of the file is.
fn place(file: &Elf64<'_>, part: &[u8]) -> Range<usize> {
    if part.is_empty() {
        return 0..0;
    }
    let start = file.offset_of(part) as usize;
    start..start + part.len()
}

fn interpreter(file: &Elf64<'_>, notes: &mut Notes) -> Option<String> {
    let segment = file.segments.iter().find(|s| s.p_type(ENDIAN) == spec::PT_INTERP)?;
    let (offset, size) = (segment.p_offset(ENDIAN), segment.p_filesz(ENDIAN));
    let bytes = file.at_offset(offset, size, "PT_INTERP", notes);
    Some(text::text_of(string(bytes, 0)))
}

fn tables(file: &Elf64<'_>, notes: &mut Notes) -> Tables {
    let dynamic = &file.dynamic;
    let mut range = |address, size, what| match dynamic.range(address, size) {
        Some((address, size)) => place(file, file.at_address(address, size, what, notes)),
        None => 0..0,
    };
    let strings = range(spec::DT_STRTAB, spec::DT_STRSZ, "DT_STRTAB");
    let plt = range(spec::DT_JMPREL, spec::DT_PLTRELSZ, "DT_JMPREL");
    let mut rela = range(spec::DT_RELA, spec::DT_RELASZ, "DT_RELA");
    // Some linkers count the table of the linkage as the end of the other one.
    if !plt.is_empty() && rela.contains(&plt.start) && plt.end == rela.end {
        rela.end = plt.start;
    }
    let relr = range(spec::DT_RELR, spec::DT_RELRSZ, "DT_RELR");
    let rest = |tag| dynamic.get(tag).and_then(|address| file.rest_at_address(address));
    let symbols = rest(spec::DT_SYMTAB).map_or(0..0, |rest| place(file, rest));
    let symbol_versions = rest(spec::DT_VERSYM).map(|rest| place(file, rest));
    let machine = file.header.e_machine(ENDIAN);
    let classes = elf::classes(machine);
    Tables { symbols, strings, symbol_versions, rela, plt, relr, classes }
}

fn hash(file: &Elf64<'_>, notes: &mut Notes) -> Hash {
    let rest = |tag| file.dynamic.get(tag).and_then(|address| file.rest_at_address(address));
    if let Some(hash) = rest(spec::DT_GNU_HASH).and_then(|table| gnu(file, table)) {
        return hash;
    }
    if let Some(hash) = rest(spec::DT_HASH).and_then(|table| sysv(file, table)) {
        return hash;
    }
    if file.dynamic.has(spec::DT_GNU_HASH) || file.dynamic.has(spec::DT_HASH) {
        notes.problem("the hash table ends before its own size".to_owned());
    }
    Hash::None
}

/// Four words, the Bloom filter, the buckets, and chains to the end of the segment.
fn gnu(file: &Elf64<'_>, table: &[u8]) -> Option<Hash> {
    let [buckets, first, words, shift] = words::<4>(table)?;
    if !words.is_power_of_two() {
        return None;
    }
    let bloom_end = 16 + (words as usize).checked_mul(8)?;
    let buckets_end = bloom_end.checked_add((buckets as usize).checked_mul(4)?)?;
    let part = |range: Range<usize>| Some(place(file, table.get(range)?));
    Some(Hash::Gnu {
        first,
        shift,
        bloom: part(16..bloom_end)?,
        buckets: part(bloom_end..buckets_end)?,
        chains: part(buckets_end..table.len())?,
    })
}

fn sysv(file: &Elf64<'_>, table: &[u8]) -> Option<Hash> {
    let [buckets, chains] = words::<2>(table)?;
    let buckets_end = 8 + (buckets as usize).checked_mul(4)?;
    let chains_end = buckets_end.checked_add((chains as usize).checked_mul(4)?)?;
    let part = |range: Range<usize>| Some(place(file, table.get(range)?));
    Some(Hash::Sysv { buckets: part(8..buckets_end)?, chains: part(buckets_end..chains_end)? })
}

fn words<const N: usize>(table: &[u8]) -> Option<[u32; N]> {
    let words = entries::<U32<Endian>>(table.get(..4 * N)?);
    words.iter().map(|word| word.get(ENDIAN)).collect::<Vec<u32>>().try_into().ok()
}
