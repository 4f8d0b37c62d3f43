//! The tables that are behind one another so far.

use super::ahead::{self, Whole};
use super::relocations::Relocations;
use super::strings::Strings;
use super::{Table, populate};
use crate::plan::Plan;
use crate::plan::file_order::FileOrder;
use crate::plan::layout::{PAGE, aligned};
use crate::plan::written::runs;
use crate::read_ahead::PagesAhead;
use image::elf::loadable::Section;
use image::elf::records::SectionHeader;
use image::elf::spec;
use model::bundle::{BundlePopulate, BundleReadAhead};
use model::{BundleVa, FileOffset, Va};
use startup::WrittenPages;
use std::os::unix::ffi::OsStrExt;

/// The tables so far.
pub(super) struct Placed {
    /// Address and offset behind them.
    pub(super) address: BundleVa,
    pub(super) offset: FileOffset,
    pub(super) all: Vec<Table>,
}

impl Placed {
    /// Of a bundle. The kernel reads the page of the interpreter's name, and with it the strings that come first.
    pub(super) fn add_interpreter(&mut self, plan: &Plan<'_>) {
        if plan.layout.has_program() {
            let interpreter = plan.graph.interpreter.as_os_str().as_bytes();
            self.add(".interp", spec::SHT_PROGBITS, 0, PAGE, [interpreter, b"\0"].concat());
        }
    }

    /// `entry`: size of an entry, if it is a table of them.
    pub(super) fn add(
        &mut self,
        name: &str,
        kind: u32,
        entry: usize,
        alignment: u64,
        bytes: Vec<u8>,
    ) -> &mut Table {
        let address = aligned(self.address, alignment);
        let offset = self.offset + (address - self.address);
        let header = SectionHeader {
            kind,
            flags: spec::SHF_ALLOC,
            address: Va(address.0),
            offset,
            size: bytes.len() as u64,
            alignment,
            entry_size: entry as u64,
            ..SectionHeader::default()
        };
        self.address = address + header.size;
        self.offset = offset + header.size;
        self.all.push_mut(Table { section: Section { name: name.to_owned(), header }, bytes })
    }

    /// The next table begins at this offset, or behind it.
    pub(super) fn begin_at(&mut self, offset: FileOffset) {
        let distance = offset.0.saturating_sub(self.offset.0);
        self.address += distance;
        self.offset += distance;
    }

    /// Writes the list of what is read ahead into its place, and gives it in figures.
    pub(super) fn fill_list(
        &mut self,
        plan: &Plan<'_>,
        order: &FileOrder,
        read_ahead: &PagesAhead,
    ) -> BundleReadAhead {
        let (list, said) = ahead::list(&Whole { plan, order, tables: &self.all }, read_ahead);
        let place = self.all.iter_mut().find(|table| table.section.name == ahead::LIST_SECTION);
        let bytes = list.bytes();
        place.expect("it has a place").bytes[..bytes.len()].copy_from_slice(&bytes);
        said
    }

    /// Writes the list of what is mapped at once into its place, and gives the numbers of its ranges and what is told
    /// of it.
    pub(super) fn fill_recorded(
        &mut self,
        (plan, order): (&Plan<'_>, &FileOrder),
        populate: &BundlePopulate,
        known: (&WrittenPages, &Relocations),
    ) -> ((u64, u64), BundlePopulate) {
        let (written, relocations) = known;
        let moved = relocations.addresses().filter(|_| !plan.spec.fixed);
        let relocated = runs(moved.chain(relocations.others()).map(|address| address.0));
        let relocated = relocated.into_iter().flatten().collect();
        let whole = Whole { plan, order, tables: &self.all };
        let (pages, told) = populate::pages(&whole, populate, (written, &relocated));
        let place = self.all.iter_mut().find(|table| table.section.name == populate::SECTION);
        let bytes = pages.bytes();
        place.expect("it has a place").bytes[..bytes.len()].copy_from_slice(&bytes);
        (pages.counts(), told)
    }

    /// Names for the loader have a section of their own, as patchelf moves the others' strings.
    pub(super) fn add_names(&mut self, names: &[Vec<u8>]) -> Vec<BundleVa> {
        if names.is_empty() {
            return Vec::new();
        }
        let mut strings = Strings::new();
        let names: Vec<u32> = names.iter().map(|name| strings.add(name)).collect();
        let table = self.add(".rodata.headstart", spec::SHT_PROGBITS, 0, 1, strings.bytes);
        names.into_iter().map(|name| table.address() + u64::from(name)).collect()
    }
}
