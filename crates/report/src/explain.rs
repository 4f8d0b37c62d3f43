//! The terminal view of an explanation.
//!
//! Top to bottom: a bundle that did not run, what was launched and how long it took, the phases as bars, the
//! processes where there are several, the costliest modules, what the start of a bundle still does, counts,
//! findings with evidence and remedy, and where the figures come from. Every table ends in the sum of all its
//! rows, shown or not.

mod counts;
mod dlls;
mod figures;
mod findings;
mod modules;
pub(crate) mod page;
mod phases;
mod processes;
mod remains;
mod sources;

use crate::style::Style;
use model::Explanation;
use page::Page;

/// Modules, processes and functions listed by name unless all are asked for.
pub const ROWS: usize = 10;

/// The whole view, with a line feed at the end of each line. No line is wider than the style
/// says, or than 60 columns where it says less.
///
/// `rows`: modules and processes listed by name; all where `None`.
pub fn view(explanation: &Explanation, style: &Style, rows: Option<usize>) -> String {
    let mut page = Page::new(style, rows);
    phases::stale_bundles(&mut page, explanation);
    phases::header(&mut page, explanation);
    phases::bars(&mut page, explanation);
    processes::table(&mut page, explanation);
    modules::table(&mut page, explanation);
    dlls::table(&mut page, explanation);
    remains::lists(&mut page, explanation);
    counts::lines(&mut page, explanation);
    findings::list(&mut page, explanation);
    sources::list(&mut page, explanation);
    page.finish()
}

#[cfg(test)]
mod tests;
