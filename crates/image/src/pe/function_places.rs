//! Where the functions of a PE image begin, by everything that tells.

use super::exports::ExportTarget;
use super::headers::SectionHeader;
use super::read::Pe;
use super::symbols::PeSymbol;
use super::{pdb, relocations, spec, symbols};
use crate::CodePart;
use model::{Rva, Va};
use std::ops::Range;
use std::path::Path;

/// Sections that hold code: the parts of the file that are mapped executable.
pub(super) fn code(file: &Pe<'_>) -> Vec<CodePart> {
    let part = |section: &SectionHeader| {
        let (offset, bytes) = file.address_map().run(section.rva)?;
        let bytes = bytes.min(section.extent() as usize) as u64;
        Some(CodePart {
            offset,
            address: file.headers().base.wrapping_add(section.rva.0.into()),
            bytes,
        })
    };
    file.headers().sections.iter().filter(is_code).filter_map(part).collect()
}

fn is_code(section: &&SectionHeader) -> bool {
    section.flags & spec::IMAGE_SCN_MEM_EXECUTE != 0
}

/// What is known of the functions of an image.
pub(super) struct Places {
    /// COFF symbols of functions.
    pub symbols: Vec<PeSymbol>,
    /// Those of its PDB file.
    pub pdb: Vec<PeSymbol>,
    /// Where functions begin, in order of address.
    pub starts: Vec<Rva>,
}

impl Places {
    /// Reads what tells of functions; `path` is where the file is, for its PDB file: functions that
    /// leave the stack alone are not in the exception table.
    pub fn read(file: &Pe<'_>, path: Option<&Path>) -> Places {
        let mut symbols = symbols(file);
        symbols.retain(|symbol| symbol.is_function);
        let mut starts: Vec<Rva> = file
            .runtime_functions()
            .filter(|function| !function.is_part)
            .map(|function| function.start)
            .collect();
        let mut pdb = path.and_then(|path| pdb::beside(file, path)).unwrap_or_default();
        pdb.retain(|symbol| symbol.is_function);
        starts.extend(symbols.iter().chain(&pdb).map(|symbol| symbol.rva));
        let exported = exported(file).filter(|&rva| !has_tables(file, rva));
        starts.extend(exported.chain(file.guarded_functions()).filter(|&rva| is_pure(file, rva)));
        starts.extend(file.tls_callbacks());
        starts.extend(Some(file.headers().entry).filter(|entry| *entry != Rva(0)));
        starts.sort_unstable();
        starts.dedup();
        let fields = Fields::read(file);
        starts.retain(|&start| {
            file.section(start).as_ref().is_some_and(is_code) && !fields.hold(start)
        });
        Places { symbols, pdb, starts }
    }
}

/// Addresses of what is exported.
fn exported<'f>(file: &'f Pe<'_>) -> impl Iterator<Item = Rva> + use<'f> {
    let exports = file.exports().ok().flatten();
    let address = |target| match target {
        ExportTarget::Address(rva) => Some(rva),
        ExportTarget::Forwarder(_) => None,
    };
    exports.into_iter().flat_map(move |exports| {
        (0..exports.len() as u32).filter_map(move |index| exports.target(index).and_then(address))
    })
}

/// Whether an address is in a section of code alone: exported data may be in one that can be
/// written.
fn is_pure(file: &Pe<'_>, rva: Rva) -> bool {
    file.section(rva).is_some_and(|section| section.flags & spec::IMAGE_SCN_MEM_WRITE == 0)
}

/// Tables of the data directory that linkers put into a section of read-only data.
const TABLES: [usize; 5] =
    [spec::EXPORT, spec::IMPORT, spec::EXCEPTION, spec::DEBUG, spec::LOAD_CONFIG];

/// Whether an address is in a section that holds read-only data, too (`/MERGE:.rdata=.text`): what is exported there
/// may be a function or data.
fn has_tables(file: &Pe<'_>, rva: Rva) -> bool {
    let Some(section) = file.section(rva) else { return false };
    let is_there = |table: usize| {
        let table = file.directory(table).and_then(|table| file.section(table.rva));
        table.is_some_and(|other| other.rva == section.rva)
    };
    TABLES.into_iter().any(is_there)
}

/// Fields in code that change when the image is moved: no instruction begins in one.
struct Fields(Vec<Range<Rva>>);

impl Fields {
    fn read(file: &Pe<'_>) -> Fields {
        let is_code = |rva: Rva| file.section(rva).as_ref().is_some_and(is_code);
        let blocks = file.relocation_blocks().map_while(Result::ok);
        let relocations = blocks
            .filter(|block| is_code(block.page) || is_code(block.page.saturating_add(0xfff)))
            .flat_map(|block| block.relocations().map_while(Result::ok));
        let field = |relocation: relocations::BaseRelocation| {
            let bytes = match relocation.kind {
                spec::IMAGE_REL_BASED_ABSOLUTE => return None,
                spec::IMAGE_REL_BASED_DIR64 => 8,
                spec::IMAGE_REL_BASED_HIGHLOW => 4,
                _ => 2,
            };
            Some(relocation.rva..relocation.rva.saturating_add(bytes))
        };
        let mut fields: Vec<Range<Rva>> = relocations.filter_map(field).collect();
        fields.sort_unstable_by_key(|field| (field.start, field.end));
        Fields(fields)
    }

    fn hold(&self, rva: Rva) -> bool {
        let next = self.0.partition_point(|field| field.start <= rva);
        next.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|field| field.contains(&rva))
    }
}

/// A start as an address.
pub(super) fn address(file: &Pe<'_>, rva: Rva) -> Va {
    file.headers().base.wrapping_add(rva.0.into())
}
