//! Numbers and texts at places of untrusted bytes, and a budget for what is kept of them.

/// Bytes, read in little-endian order. What is not there is `None`.
#[derive(Clone, Copy)]
pub(super) struct PfFields<'a>(pub(super) &'a [u8]);

impl<'a> PfFields<'a> {
    pub(super) fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    pub(super) fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// A number that is a place or a size.
    pub(super) fn size(self, at: usize) -> Option<usize> {
        usize::try_from(self.u32(at)?).ok()
    }

    /// `length` bytes at `at`.
    pub(super) fn part(self, at: usize, length: usize) -> Option<PfFields<'a>> {
        self.0.get(at..at.checked_add(length)?).map(PfFields)
    }

    /// The bytes from `at`.
    pub(super) fn from(self, at: usize) -> Option<PfFields<'a>> {
        self.0.get(at..).map(PfFields)
    }

    /// `characters` UTF-16 code units at `at`, up to a NUL. Windows permits surrogates without their
    /// other half, which no text can hold: they are replaced.
    pub(super) fn text(self, at: usize, characters: usize) -> Option<String> {
        let bytes = self.part(at, characters.checked_mul(2)?)?.0;
        let units = bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
        let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
        Some(String::from_utf16_lossy(&units))
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }
}

/// How much may still be kept, in bytes of the file.
pub(super) struct PfBudget(pub(super) usize);

impl PfBudget {
    /// Takes `bytes` off; `None` where they are more than are left.
    pub(super) fn take(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}
