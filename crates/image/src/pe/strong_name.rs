//! Strong names of .NET assemblies: an RSA signature inside the image, over nearly all of its bytes.
//!
//! Format: ECMA-335, II.25.3.3 (*CLI header*) and II.6.2.1.3 (what is hashed: headers and sections
//! without `CheckSum`, the certificate table's entry and the signature itself).

use super::read::Pe;
use super::spec;
use model::{FileOffset, Rva};
use object::pe;
use object::{LittleEndian as LE, U32};
use std::mem::offset_of;
use std::ops::Range;

/// A place for a strong-name signature, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrongName {
    /// Where in the file the signature is; `None` where it is not in the file.
    pub signature: Option<Range<FileOffset>>,
    /// What the header says, and the bytes.
    pub state: StrongNameState,
}

/// How far an assembly is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrongNameState {
    /// It has a signature; whether it is right is not known.
    Signed,
    /// It says that it is signed, and has no signature, or one that is all zero: public signing.
    Public,
    /// It has room for a signature, which is all zero: delay signing.
    Delayed,
}

impl Pe<'_> {
    /// The strong name of a .NET assembly; `None` without one.
    pub fn strong_name(&self) -> Option<StrongName> {
        let directory = self.directory(spec::COM_DESCRIPTOR)?;
        let header = self.range(directory.rva, size_of::<pe::ImageCor20Header>())?;
        let field = |offset: usize| {
            let bytes: &U32<LE> = crate::notes::entry(header.get(offset..)?)?;
            Some(bytes.get(LE))
        };
        let flags = field(offset_of!(pe::ImageCor20Header, flags))?;
        let place = offset_of!(pe::ImageCor20Header, strong_name_signature);
        let (rva, size) = (Rva(field(place)?), field(place + 4)?);
        let says_signed = flags & pe::COMIMAGE_FLAGS_STRONGNAMESIGNED.0 != 0;
        if size == 0 && !says_signed {
            return None;
        }
        // The headers are no place for it.
        let inside = self.section(rva).is_some();
        let bytes = self.range(rva, size as usize).filter(|bytes| inside && !bytes.is_empty());
        let start = bytes.and_then(|_| self.offset(rva));
        // What counts is the signature: Mono's sn signs again without setting the flag.
        let state = match bytes {
            Some(bytes) if bytes.iter().any(|&byte| byte != 0) => StrongNameState::Signed,
            None if says_signed && size != 0 => StrongNameState::Signed,
            _ if says_signed => StrongNameState::Public,
            _ => StrongNameState::Delayed,
        };
        Some(StrongName { signature: start.map(|start| start..start + u64::from(size)), state })
    }
}
