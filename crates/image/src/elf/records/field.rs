//! Numbers of records, as they are in a file and as they are used.

use super::Identification;
use model::{FileOffset, Va};
use object::elf::{
    DataEncoding, DynamicTag, FileClass, FileVersion, Ident, OsAbi, SymbolInfo, SymbolOther,
};
use object::{I64, LittleEndian as LE, U16, U32, U64, Wrap};

/// A number as a record has it, of one in a file.
pub(super) trait Field<Raw> {
    fn of(raw: Raw) -> Self;
    fn raw(self) -> Raw;
}

macro_rules! fields {
    ($($type:ty = $raw:ident,)*) => { $(
        impl<T: Wrap<Inner = $type>> Field<$raw<LE, T>> for $type {
            #[inline]
            fn of(raw: $raw<LE, T>) -> $type {
                raw.get(LE).into_inner()
            }
            #[inline]
            fn raw(self) -> $raw<LE, T> {
                $raw::new(LE, T::from_inner(self))
            }
        }
    )* };
}

fields! { u16 = U16, u32 = U32, u64 = U64, i64 = I64, }

macro_rules! wrapped {
    ($($type:ident = $raw:ty: $get:expr, $new:expr;)*) => { $(
        impl Field<$raw> for $type {
            #[inline]
            fn of(raw: $raw) -> $type {
                $get(raw)
            }
            #[inline]
            fn raw(self) -> $raw {
                $new(self)
            }
        }
    )* };
}

wrapped! {
    Va = U64<LE>: |raw: U64<LE>| Va(raw.get(LE)), |va: Va| U64::new(LE, va.0);
    FileOffset = U64<LE>: |raw: U64<LE>| FileOffset(raw.get(LE)), |at: FileOffset| U64::new(LE, at.0);
    u64 = I64<LE, DynamicTag>: |raw: I64<LE, DynamicTag>| raw.get(LE).0 as u64,
        |tag: u64| I64::new(LE, DynamicTag(tag as i64));
    u8 = SymbolInfo: |raw: SymbolInfo| raw.0, SymbolInfo;
    u8 = SymbolOther: |raw: SymbolOther| raw.0, SymbolOther;
}

impl Field<Ident> for Identification {
    fn of(raw: Ident) -> Identification {
        let Ident { magic, class, data, version, os_abi, abi_version, padding } = raw;
        let (class, data, version, os_abi) = (class.0, data.0, version.0, os_abi.0);
        Identification { magic, class, data, version, os_abi, abi_version, padding }
    }

    fn raw(self) -> Ident {
        let Identification { magic, abi_version, padding, .. } = self;
        let (class, data) = (FileClass(self.class), DataEncoding(self.data));
        let (version, os_abi) = (FileVersion(self.version), OsAbi(self.os_abi));
        Ident { magic, class, data, version, os_abi, abi_version, padding }
    }
}
