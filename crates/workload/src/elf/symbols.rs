//! The dynamic symbols and their names.

use super::bytes::Bytes;
use super::hash;
use super::image::{Export, Image, Place};
use super::layout::Layout;
use ::image::elf::loadable::{gnu_hash, sysv_hash};
use ::image::elf::records::{SymbolEntry, symbol_info};
use ::image::elf::spec::{STB_GLOBAL, STT_FUNC, STT_TLS};

const GLOBAL_FUNCTION: u8 = symbol_info(STB_GLOBAL, STT_FUNC);
const GLOBAL_TLS: u8 = symbol_info(STB_GLOBAL, STT_TLS);

/// Dynamic symbols in the order of the table: the null symbol, imports, exports by hash bucket.
pub(super) struct Symbols {
    /// DT_STRTAB.
    pub(super) strings: Vec<u8>,
    pub(super) soname: u64,
    pub(super) runpath: u64,
    pub(super) needed: Vec<u64>,
    pub(super) imports: Vec<Name>,
    pub(super) exports: Vec<(Name, usize)>,
    /// Buckets of the GNU hash table.
    pub(super) buckets: u32,
}

/// A symbol's name.
#[derive(Clone, Copy)]
pub(super) struct Name {
    at: u32,
    pub(super) gnu_hash: u32,
    pub(super) sysv_hash: u32,
}

impl Symbols {
    pub(super) fn new(image: &Image) -> Symbols {
        let mut strings = vec![0];
        let mut add = |text: &str| {
            let at = strings.len() as u64;
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            at
        };
        let soname = image.soname.as_deref().map_or(0, &mut add);
        let runpath = image.runpath.as_deref().map_or(0, &mut add);
        let needed = image.needed.iter().map(|name| add(name)).collect();
        let mut name = |text: &str| Name {
            at: add(text) as u32,
            gnu_hash: gnu_hash(text.as_bytes()),
            sysv_hash: sysv_hash(text.as_bytes()),
        };
        let imports = image.imports.iter().map(|import| name(import)).collect();
        let exports = image.exports.iter().enumerate();
        let mut exports: Vec<_> = exports.map(|(at, export)| (name(&export.name), at)).collect();
        let buckets = hash::gnu_buckets(exports.len());
        exports.sort_by_key(|(name, _)| name.gnu_hash % buckets);
        Symbols { strings, soname, runpath, needed, imports, exports, buckets }
    }

    /// Number of symbols, the null symbol included.
    pub(super) fn count(&self) -> u64 {
        1 + self.imports.len() as u64 + self.exports.len() as u64
    }

    pub(super) fn write(&self, image: &Image, at: &Layout, out: &mut Bytes) {
        out.put(at.dynstr.at, &self.strings);
        for (index, name) in self.imports.iter().enumerate() {
            let import = SymbolEntry { name: name.at, info: GLOBAL_FUNCTION, ..Default::default() };
            out.entry(at.dynsym, 1 + index, &import.bytes());
        }
        let (code, tls) = (at.index(at.text), at.index(at.tls));
        let first = 1 + self.imports.len();
        for (index, &(name, export)) in self.exports.iter().enumerate() {
            let Export { place, size, .. } = image.exports[export];
            let (info, section, value) = match place {
                Place::Code(offset) => (GLOBAL_FUNCTION, code, at.text.at + offset),
                Place::Tls(offset) => (GLOBAL_TLS, tls, offset),
            };
            let name = name.at;
            let export = SymbolEntry { name, info, section, value, size, ..Default::default() };
            out.entry(at.dynsym, first + index, &export.bytes());
        }
    }
}
