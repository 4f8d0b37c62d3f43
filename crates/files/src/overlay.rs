//! A file's bytes with changes over them: only the pages that differ are held in memory.

use std::collections::BTreeMap;

/// Bytes of a page of the overlay; any size would do.
const PAGE: u64 = 4096;

/// The bytes of a file, changed page by page.
#[derive(Clone)]
pub struct Overlay<'a> {
    base: &'a [u8],
    length: u64,
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl<'a> Overlay<'a> {
    /// The bytes as they are.
    pub fn of(base: &'a [u8]) -> Self {
        Overlay { base, length: base.len() as u64, pages: BTreeMap::new() }
    }

    /// How many there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Those of the file.
    pub fn base(&self) -> &'a [u8] {
        self.base
    }

    /// Makes it longer, by zeros, or shorter, before anything is written.
    pub fn set_length(&mut self, length: u64) {
        self.extend_to(length);
        self.length = length;
    }

    /// Makes it longer, by zeros.
    pub fn extend_to(&mut self, length: u64) {
        if length <= self.length {
            return;
        }
        let first = self.length / PAGE;
        self.length = length;
        for page in first..length.div_ceil(PAGE) {
            self.page(page);
        }
    }

    /// Exactly these bytes; `None` where they reach over the end.
    pub fn read(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        if offset.checked_add(size)? > self.length {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.fill(offset, &mut bytes);
        Some(bytes)
    }

    /// As [`Overlay::read`], where the number of bytes is known.
    pub fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        if offset.checked_add(N as u64)? > self.length {
            return None;
        }
        let mut bytes = [0; N];
        self.fill(offset, &mut bytes);
        Some(bytes)
    }

    fn fill(&self, mut offset: u64, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let within = (offset % PAGE) as usize;
            let size = bytes.len().min(PAGE as usize - within);
            let (part, rest) = bytes.split_at_mut(size);
            let from = match self.pages.get(&(offset / PAGE)) {
                Some(page) => page.get(within..within + size),
                None => self.base.get(offset as usize..offset as usize + size),
            };
            if let Some(from) = from {
                part.copy_from_slice(from);
            }
            offset += size as u64;
            bytes = rest;
        }
    }

    /// Puts bytes in place of others; `None`, and nothing done, where they reach over the end.
    pub fn write(&mut self, mut offset: u64, mut bytes: &[u8]) -> Option<()> {
        if offset.checked_add(bytes.len() as u64)? > self.length {
            return None;
        }
        while !bytes.is_empty() {
            let within = (offset % PAGE) as usize;
            let size = bytes.len().min(PAGE as usize - within);
            let (part, rest) = bytes.split_at(size);
            let page = self.page(offset / PAGE);
            page.get_mut(within..within + size)?.copy_from_slice(part);
            offset += size as u64;
            bytes = rest;
        }
        Some(())
    }

    /// Zeros in place of what is there.
    pub fn clear(&mut self, offset: u64, size: u64) -> Option<()> {
        const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
        let end = offset.checked_add(size).filter(|&end| end <= self.length)?;
        let mut at = offset;
        while at < end {
            let part = (end - at).min(PAGE);
            self.write(at, ZEROS.get(..part as usize)?)?;
            at += part;
        }
        Some(())
    }

    fn page(&mut self, number: u64) -> &mut [u8] {
        let base = self.base;
        self.pages.entry(number).or_insert_with(|| {
            let mut page = vec![0; PAGE as usize].into_boxed_slice();
            let start = usize::try_from(number * PAGE).unwrap_or(usize::MAX).min(base.len());
            let end = start.saturating_add(PAGE as usize).min(base.len());
            page[..end - start].copy_from_slice(&base[start..end]);
            page
        })
    }

    /// The changed file from its first byte to its last, in pieces.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces { overlay: self, at: 0, changed: self.pages.iter().peekable() }
    }

    /// Offsets and bytes of the changed pages, the last one as long as the file has it.
    pub fn changed(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pages.iter().filter_map(|(&number, page)| {
            let offset = number * PAGE;
            let size = self.length.checked_sub(offset)?.min(PAGE);
            Some((offset, page.get(..size as usize)?))
        })
    }
}

impl Overlay<'_> {
    /// Puts the changed pages over the bytes of the file from `offset` on.
    pub fn put_changes(&self, offset: u64, bytes: &mut [u8]) {
        let end = offset + bytes.len() as u64;
        for (&number, page) in self.pages.range(offset / PAGE..end.div_ceil(PAGE)) {
            let (first, last) = ((number * PAGE).max(offset), ((number + 1) * PAGE).min(end));
            let from = page.get((first % PAGE) as usize..).unwrap_or(&[]);
            let to = bytes.get_mut((first - offset) as usize..(last - offset) as usize);
            if let (Some(to), Some(from)) = (to, from.get(..(last - first) as usize)) {
                to.copy_from_slice(from);
            }
        }
    }
}

/// See [`Overlay::pieces`].
pub struct Pieces<'a> {
    overlay: &'a Overlay<'a>,
    at: u64,
    changed: std::iter::Peekable<std::collections::btree_map::Iter<'a, u64, Box<[u8]>>>,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let left = self.overlay.length.checked_sub(self.at).filter(|&left| left > 0)?;
        let piece = match self.changed.peek() {
            Some(&(&number, page)) if number * PAGE == self.at => {
                self.changed.next();
                page.get(..left.min(PAGE) as usize)?
            }
            next => {
                let end = next.map_or(self.overlay.length, |(number, _)| *number * PAGE);
                self.overlay.base.get(self.at as usize..end as usize)?
            }
        };
        self.at += piece.len() as u64;
        Some(piece)
    }
}
