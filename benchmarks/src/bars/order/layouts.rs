//! Orders of the compiler: against the floor, against link order, and against LLVM's own order,
//! each launch in an order that does not know it.

use super::bed::{Bed, NAMES};
use super::{cold_start, prediction};
use crate::report::Row;
use crate::statistics::percent;
use crate::subjects::relinked::Link;
use anyhow::{Context as _, Result};
use model::{BuildFigures, OrderVerification};
use std::path::Path;

/// The task that the order of the other bars does not know.
const HELD_OUT: &str = "t8";
const MOST_HELD_IN: f64 = 1.05;
const MOST_HELD_OUT: f64 = 1.15;

/// What launches of one build did together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub pages: u64,
    pub floor: u64,
    /// Reads of the kernel within the code.
    pub reads: u64,
    /// Reads of the kernel of the whole file.
    pub all_reads: u64,
    pub major_faults: u64,
}

pub fn rows(bed: &Bed) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (mut ours, mut theirs) = (Sums::default(), Sums::default());
    for name in NAMES {
        let traces = bed.traces_without(name);
        let order = bed.order(&traces)?;
        let new = bed.link("ordered", &Link::ordered(&order.file))?;
        let llvm = bed.link("llvm", &Link::ordered(&bed.order_of_llvm(&traces)?))?;
        let found = bed.verify([&llvm, &new], bed.task(name)?, 0)?;
        let both = [sums(&found.old, &llvm)?, sums(&found.new, &new)?];
        rows.push(of_fold(name, both));
        theirs.add(both[0]);
        ours.add(both[1]);
        // The last one stays as it is.
        if name == HELD_OUT {
            rows.extend(held_in(bed, &new, &order)?);
            rows.extend(cold_start::rows(bed, &new, &order.file)?);
        }
    }
    rows.extend(held_out(ours, theirs));
    Ok(rows)
}

/// What one launch did in an order of the others: LLVM's and headstart's.
fn of_fold(name: &str, [llvm, ours]: [Sums; 2]) -> Row {
    let figure = format!("{name} held out: pages ÷ floor, reads of code");
    let text = |sums: Sums| format!("{:.3}, {}", sums.above_floor(), sums.reads);
    let row = match name {
        HELD_OUT => {
            let bar = format!("≤ {MOST_HELD_OUT}");
            Row::bar(figure, text(ours), &bar, ours.above_floor() <= MOST_HELD_OUT)
        }
        _ => Row::shown(figure, text(ours)),
    };
    row.beside(format!("LLVM {}", text(llvm)))
}

/// All launches that their order did not know.
fn held_out(ours: Sums, theirs: Sums) -> Vec<Row> {
    let ratio = |ours: u64, theirs: u64| ours as f64 / theirs as f64 - 1.0;
    let pages = ratio(ours.pages, theirs.pages);
    let reads = ratio(ours.reads, theirs.reads);
    let all_reads = ratio(ours.all_reads, theirs.all_reads);
    let above = ours.above_floor();
    let bar = format!("≤ {MOST_HELD_OUT}");
    vec![
        Row::bar("held-out pages ÷ floor", format!("{above:.3}"), &bar, above <= MOST_HELD_OUT)
            .beside(format!("LLVM {:.3}", theirs.above_floor())),
        Row::bar("held-out pages against LLVM", percent(pages), "≤ -5 %", pages <= -0.05),
        Row::bar("held-out reads of code against LLVM", percent(reads), "≤ -10 %", reads <= -0.10)
            .beside(format!("{} and {}", ours.reads, theirs.reads)),
        Row::shown("held-out reads of the whole file against LLVM", percent(all_reads)),
    ]
}

/// The launches that the order was made of, against link order.
fn held_in(bed: &Bed, new: &Path, order: &super::bed::Ordered) -> Result<Vec<Row>> {
    let mut found: Vec<OrderVerification> = Vec::new();
    let (mut before, mut after) = (Sums::default(), Sums::default());
    for name in NAMES.into_iter().filter(|name| *name != HELD_OUT) {
        let one = bed.verify([&bed.base, new], bed.task(name)?, 0)?;
        before.add(sums(&one.old, &bed.base)?);
        after.add(sums(&one.new, new)?);
        found.push(one);
    }
    let above = after.above_floor();
    let pages = after.pages as f64 / before.pages as f64 - 1.0;
    let faults = after.major_faults as f64 / before.major_faults as f64 - 1.0;
    let bar = format!("≤ {MOST_HELD_IN}");
    let mut rows = vec![
        Row::bar("held-in pages ÷ floor", format!("{above:.3}"), &bar, above <= MOST_HELD_IN),
        Row::bar("pages against link order", percent(pages), "≤ -60 %", pages <= -0.60)
            .beside(format!("{} and {}", after.pages, before.pages)),
        Row::bar("major faults against link order", percent(faults), "≤ -70 %", faults <= -0.70)
            .beside(format!("{} and {}", after.major_faults, before.major_faults)),
    ];
    rows.extend(prediction::rows(&order.report, found.len(), before, after));
    Ok(rows)
}

impl Sums {
    fn add(&mut self, more: Sums) {
        self.pages += more.pages;
        self.floor += more.floor;
        self.reads += more.reads;
        self.all_reads += more.all_reads;
        self.major_faults += more.major_faults;
    }

    fn above_floor(self) -> f64 {
        self.pages as f64 / self.floor as f64
    }
}

fn sums(figures: &BuildFigures, program: &Path) -> Result<Sums> {
    const NOT_RECORDED: &str = "cold reads were not recorded";
    let table = image::function_table(program)?;
    let code = table.code.iter().max_by_key(|part| part.bytes).context("no code")?;
    let code = code.offset.0..code.offset.0 + code.bytes;
    let reads = figures.read_list.iter().flat_map(|file| &file.reads);
    let reads = reads.filter(|read| code.contains(&read.offset.0)).count();
    Ok(Sums {
        pages: figures.pages,
        floor: figures.floor,
        reads: reads as u64,
        all_reads: figures.reads.get().context(NOT_RECORDED)?,
        major_faults: figures.major_faults.get().context(NOT_RECORDED)?,
    })
}
