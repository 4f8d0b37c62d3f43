//! Where the functions of an image are, in one layout of it.

use crate::{Movability, PlacedFunction};
use model::{FunctionId, Rva};
use std::ops::Range;

/// Where a function is in one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionExtent {
    /// Where it begins.
    pub rva: Rva,
    /// Its size.
    pub bytes: u32,
}

/// Where each function of an image is, in one layout of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlacement {
    extents: Vec<Option<FunctionExtent>>,
}

impl TextPlacement {
    /// The layout that the image has.
    pub fn present(functions: &[PlacedFunction]) -> TextPlacement {
        let extents = functions.iter().map(|f| Some(FunctionExtent { rva: f.rva, bytes: f.bytes }));
        TextPlacement { extents: extents.collect() }
    }

    /// The layout of another build: where it has each function of this one, if it has it.
    pub fn of_build(extents: Vec<Option<FunctionExtent>>) -> TextPlacement {
        TextPlacement { extents }
    }

    /// The layout after relinking with an order: from where the first function is now, the ordered
    /// functions one after the other, then all others as they follow each other now.
    ///
    /// What is in one input section moves together.
    /// Functions that the linker cannot move are among the others, wherever the order has them, or
    /// stay where they are, in another section.
    /// Bytes between two functions that alignment does not explain stay with the others, too.
    pub fn reordered(functions: &[PlacedFunction], order: &[FunctionId]) -> TextPlacement {
        let mut linker = Linker::of(functions);
        linker.place_all(functions, ordered(functions, order));
        linker.place_others(functions, &vec![false; functions.len()]);
        linker.finish(functions)
    }

    /// The same, but the ordered functions come last, as gold has them.
    pub fn reordered_behind(functions: &[PlacedFunction], order: &[FunctionId]) -> TextPlacement {
        let mut is_ordered = vec![false; functions.len()];
        ordered(functions, order).flatten().for_each(|at| is_ordered[at] = true);
        let mut linker = Linker::of(functions);
        linker.place_others(functions, &is_ordered);
        linker.place_all(functions, ordered(functions, order));
        linker.finish(functions)
    }

    /// Where this function is; `None` where the layout does not have it.
    pub fn extent(&self, function: FunctionId) -> Option<FunctionExtent> {
        self.extents.get(function.index()).copied().flatten()
    }

    /// All functions that the layout has, in the order of their numbers.
    pub fn extents(&self) -> impl Iterator<Item = (FunctionId, FunctionExtent)> {
        let numbered = self.extents.iter().enumerate();
        numbered.filter_map(|(at, extent)| Some((FunctionId::at(at), (*extent)?)))
    }

    /// The functions as they follow each other in this layout.
    pub fn in_order_of_address(&self) -> Vec<FunctionId> {
        // A function without bytes comes before the one that it shares its address with.
        let place = |(id, extent): (FunctionId, FunctionExtent)| (extent.rva, extent.bytes > 0, id);
        let mut all: Vec<_> = self.extents().map(place).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, _, id)| id).collect()
    }
}

/// The functions of the section that is ordered, with their numbers.
fn in_section(functions: &[PlacedFunction]) -> impl Iterator<Item = (usize, &PlacedFunction)> {
    let numbered = functions.iter().enumerate();
    numbered.filter(|(_, function)| function.movability != Movability::Fixed)
}

/// The functions of the section that is ordered, by input section.
fn input_sections(functions: &[PlacedFunction]) -> impl Iterator<Item = Range<usize>> {
    let sections = functions.chunk_by(|_, next| next.moves_with_previous);
    let ranges = sections.scan(0, |end, section| {
        let start = *end;
        *end += section.len();
        Some(start..*end)
    });
    let is_ordered = |range: &Range<usize>| functions[range.start].movability != Movability::Fixed;
    ranges.filter(move |range| is_ordered(range))
}

/// The functions that are in one input section with this one.
fn input_section(functions: &[PlacedFunction], at: usize) -> Range<usize> {
    let start = (0..=at).rev().find(|at| !functions[*at].moves_with_previous).unwrap_or(0);
    let behind = functions[at + 1..].iter().take_while(|next| next.moves_with_previous);
    start..at + 1 + behind.count()
}

/// The input sections of the functions that move, in this order.
fn ordered(
    functions: &[PlacedFunction],
    order: &[FunctionId],
) -> impl Iterator<Item = Range<usize>> {
    let is_free = |at: &usize| functions.get(*at).is_some_and(PlacedFunction::is_free);
    let places = order.iter().map(|id| id.index()).filter(is_free);
    places.map(|at| input_section(functions, at))
}

/// Places one input section after the other.
struct Linker {
    end: u64,
    extents: Vec<Option<FunctionExtent>>,
}

impl Linker {
    fn of(functions: &[PlacedFunction]) -> Linker {
        let first = in_section(functions).map(|(_, function)| u64::from(function.rva.0)).min();
        Linker { end: first.unwrap_or(0), extents: vec![None; functions.len()] }
    }

    fn place_all(
        &mut self,
        functions: &[PlacedFunction],
        sections: impl Iterator<Item = Range<usize>>,
    ) {
        sections.for_each(|section| self.place(functions, section));
    }

    /// Places what is not placed yet, as it is now, but for what comes later.
    fn place_others(&mut self, functions: &[PlacedFunction], is_later: &[bool]) {
        let mut others = input_sections(functions).peekable();
        while let Some(section) = others.next() {
            let next = others.peek().and_then(|next| functions.get(next.start));
            let last = functions.get(section.end - 1);
            if !is_later[section.start] {
                self.place(functions, section);
            }
            self.end += last.zip(next).map_or(0, |(last, next)| unexplained(last, next));
        }
    }

    /// What is in another section stays where it is.
    fn finish(self, functions: &[PlacedFunction]) -> TextPlacement {
        let stays = |it: &PlacedFunction| FunctionExtent { rva: it.rva, bytes: it.bytes };
        let extents = functions.iter().zip(self.extents);
        let extents = extents.map(|(function, extent)| extent.or(Some(stays(function))));
        TextPlacement { extents: extents.collect() }
    }

    /// Places the functions of an input section, if they are not placed yet.
    fn place(&mut self, functions: &[PlacedFunction], section: Range<usize>) {
        let Some(first) = functions.get(section.start) else { return };
        if self.extents[section.start].is_some() {
            return;
        }
        let start = self.end.next_multiple_of(alignment(first));
        for at in section {
            let PlacedFunction { rva, bytes, bytes_behind, .. } = functions[at];
            let place = start + u64::from(rva.0 - first.rva.0);
            let rva = Rva(u32::try_from(place).unwrap_or(u32::MAX));
            self.extents[at] = Some(FunctionExtent { rva, bytes });
            self.end = self.end.max(place + u64::from(bytes) + u64::from(bytes_behind));
        }
    }
}

/// Its alignment, as a power of two whatever the image says.
pub(crate) fn alignment(function: &PlacedFunction) -> u64 {
    u64::from(function.alignment.max(1)).next_power_of_two()
}

/// Bytes between two functions that are no padding of the second.
fn unexplained(function: &PlacedFunction, next: &PlacedFunction) -> u64 {
    let PlacedFunction { rva, bytes, bytes_behind, .. } = *function;
    let end = u64::from(rva.0) + u64::from(bytes) + u64::from(bytes_behind);
    u64::from(next.rva.0).saturating_sub(end.next_multiple_of(alignment(next)))
}
