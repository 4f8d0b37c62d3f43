use super::bytes::Bytes;
use super::hash;
use super::image::{Export, Image, Place};
use super::layout::Layout;
use ::image::elf::loadable::{gnu_hash, sysv_hash};

const GLOBAL_FUNCTION: u8 = 0x12;
const GLOBAL_TLS: u8 = 0x16;

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
        let mut symbol = at.dynsym.at + 24;
        for name in &self.imports {
            out.u32(symbol, name.at);
            out.put(symbol + 4, &[GLOBAL_FUNCTION]);
            symbol += 24;
        }
        let (code, tls) = (at.index(at.text), at.index(at.tls));
        for &(name, index) in &self.exports {
            let Export { place, size, .. } = image.exports[index];
            let (info, section, value) = match place {
                Place::Code(offset) => (GLOBAL_FUNCTION, code, at.text.at + offset),
                Place::Tls(offset) => (GLOBAL_TLS, tls, offset),
            };
            out.u32(symbol, name.at);
            out.put(symbol + 4, &[info]);
            out.u16(symbol + 6, section);
            out.words(symbol + 8, &[value, size]);
            symbol += 24;
        }
    }
}
