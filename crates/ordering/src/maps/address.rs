//! From addresses of a trace to those of a map.

use super::LinkerMap;
use model::{MappedVa, Rva, Va};

/// The RVA of what a trace saw at `address` in an image that was loaded at `base`; `None` where
/// the address is in front of the image, or more than 4 GiB behind its start.
///
/// The example of OpenOffice's document: a trace has 0x03ac74d0, and its header says that the
/// library was loaded at 0x03ab0000.
/// ```
/// use model::{MappedVa, Rva};
/// let rva = ordering::maps::rva_of(MappedVa(0x03ac_74d0), MappedVa(0x03ab_0000));
/// assert_eq!(rva, Some(Rva(0x1_74d0)));
/// ```
pub fn rva_of(address: MappedVa, base: MappedVa) -> Option<Rva> {
    address.since(base).and_then(|distance| u32::try_from(distance).ok()).map(Rva)
}

impl LinkerMap {
    /// The address that the map has for an RVA: the preferred base plus the RVA. In the example of
    /// [`rva_of`] the map's preferred base is 0x10000000, so that the address is 0x100174d0.
    ///
    /// `None` where the map does not tell its base, or where no number is large enough.
    pub fn va_of(&self, rva: Rva) -> Option<Va> {
        self.preferred_base?.checked_add(rva.0.into())
    }

    /// The RVA of an address of the map.
    pub fn rva_of(&self, va: Va) -> Option<Rva> {
        let distance = va.since(self.preferred_base?)?;
        u32::try_from(distance).ok().map(Rva)
    }

    /// The same map of an image whose preferred base is known, as its headers tell it.
    #[must_use]
    pub fn with_base(self, base: Va) -> LinkerMap {
        LinkerMap { preferred_base: Some(base), ..self }
    }
}
