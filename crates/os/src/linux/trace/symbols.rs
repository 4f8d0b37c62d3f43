//! The little that tracing must know of an ELF file, read piece by piece: headers, load segments
//! and the values of a few symbols (gABI chapters 4 and 5; 64-bit little-endian files only).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;
const PF_X: u32 = 1;
/// No table of a real file is larger; a damaged size is refused before it is allocated.
const LARGEST_TABLE: u64 = 1 << 30;

/// A segment that the kernel or the loader maps.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Addresses before relocation.
    pub addresses: Range<u64>,
    /// Where its bytes are in the file.
    pub file: Range<u64>,
    /// Holds code.
    pub executable: bool,
}

/// Which symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `.dynsym`: what other modules may use; never stripped.
    Dynamic,
    /// `.symtab`: everything; often stripped.
    Full,
}

/// An open ELF file with its headers read.
pub struct Elf {
    file: File,
    size: u64,
    /// Entry point before relocation; 0 where there is none.
    pub entry: u64,
    /// PT_LOAD segments.
    pub segments: Vec<Segment>,
    /// PT_INTERP.
    pub interpreter: Option<String>,
    /// Address and bytes in the file of `.eh_frame_hdr`.
    pub unwind_index: Option<(u64, Range<u64>)>,
    sections: Range<u64>,
    section_bytes: u64,
}

impl Elf {
    /// Reads the headers.
    pub fn read(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let mut head = [0; 64];
        file.read_exact_at(&mut head, 0)?;
        if !head.starts_with(b"\x7fELF\x02\x01") {
            return Err(malformed("not a 64-bit little-endian ELF file"));
        }
        let (section_bytes, sections) =
            (u64::from(u16_at(&head, 58)), u64::from(u16_at(&head, 60)));
        let from = u64_at(&head, 40);
        let mut elf = Elf {
            file,
            size,
            entry: u64_at(&head, 24),
            segments: Vec::new(),
            interpreter: None,
            unwind_index: None,
            sections: from..from.saturating_add(section_bytes * sections),
            section_bytes,
        };
        let (bytes, count) = (u64::from(u16_at(&head, 54)), u64::from(u16_at(&head, 56)));
        let from = u64_at(&head, 32);
        let headers = elf.bytes(from..from.saturating_add(bytes * count))?;
        for header in headers.chunks_exact(bytes.max(56) as usize) {
            elf.take_program_header(header)?;
        }
        Ok(elf)
    }

    fn take_program_header(&mut self, header: &[u8]) -> io::Result<()> {
        let (offset, address) = (u64_at(header, 8), u64_at(header, 16));
        let file = offset..offset.saturating_add(u64_at(header, 32));
        match u32_at(header, 0) {
            PT_LOAD => self.segments.push(Segment {
                addresses: address..address.saturating_add(u64_at(header, 40)),
                file,
                executable: u32_at(header, 4) & PF_X != 0,
            }),
            PT_INTERP => {
                let bytes = self.bytes(file)?;
                let text = bytes.split(|&byte| byte == 0).next().unwrap_or(&[]);
                self.interpreter = Some(String::from_utf8_lossy(text).into_owned());
            }
            PT_GNU_EH_FRAME => self.unwind_index = Some((address, file)),
            _ => {}
        }
        Ok(())
    }

    /// Bytes of the file; an error where it has none there.
    pub fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let length = range.end.checked_sub(range.start).unwrap_or(u64::MAX);
        if range.end > self.size || length > LARGEST_TABLE {
            return Err(malformed("a table lies outside the file"));
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    /// Values of the defined symbols named `names` in `table`, `None` for each that is missing.
    pub fn symbols<const N: usize>(
        &self,
        table: Table,
        names: [&str; N],
    ) -> io::Result<[Option<u64>; N]> {
        let mut values = [None; N];
        let Some((symbols, strings)) = self.symbol_table(table)? else { return Ok(values) };
        for symbol in symbols.chunks_exact(24) {
            let (name, section, value) =
                (u32_at(symbol, 0) as usize, u16_at(symbol, 6), u64_at(symbol, 8));
            // Undefined symbols, and IFUNCs, whose value is not where the code is.
            if section == 0 || symbol[4] & 0xf == 10 {
                continue;
            }
            let rest = strings.get(name..).unwrap_or(&[]);
            for (wanted, found) in names.iter().zip(&mut values) {
                let end = rest.get(wanted.len());
                if found.is_none() && end == Some(&0) && rest.starts_with(wanted.as_bytes()) {
                    *found = Some(value);
                }
            }
        }
        Ok(values)
    }

    /// The bytes of a symbol table and of its strings.
    fn symbol_table(&self, table: Table) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let wanted = if table == Table::Dynamic { SHT_DYNSYM } else { SHT_SYMTAB };
        if self.section_bytes < 64 {
            return Ok(None);
        }
        let headers = self.bytes(self.sections.clone())?;
        let mut headers = headers.chunks_exact(self.section_bytes as usize);
        let all = headers.clone();
        let Some(header) = headers.find(|header| u32_at(header, 4) == wanted) else {
            return Ok(None);
        };
        let Some(strings) = all.clone().nth(u32_at(header, 40) as usize) else {
            return Err(malformed("a symbol table names no string table"));
        };
        let content = |header: &[u8]| {
            let offset = u64_at(header, 24);
            self.bytes(offset..offset.saturating_add(u64_at(header, 32)))
        };
        Ok(Some((content(header)?, content(strings)?)))
    }

    /// Whether `address`, before relocation, lies in code.
    pub fn is_code(&self, address: u64) -> bool {
        self.segments.iter().any(|s| s.executable && s.addresses.contains(&address))
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads a little-endian number; 0 beyond the end, which callers have excluded by length.
fn number<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes.get(offset..offset + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(number(bytes, offset))
}

/// A 32-bit word at `offset`.
pub fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(number(bytes, offset))
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(number(bytes, offset))
}
