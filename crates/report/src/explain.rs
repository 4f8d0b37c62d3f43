//! The terminal view of an explanation.
//!
//! Top to bottom: what was launched and how long it took, the phases as bars, the processes where
//! there are several, the costliest modules, counts, findings with evidence and remedy, and
//! where the figures come from. Every table ends in the sum of all its rows, shown or not.

mod counts;
mod figures;
mod findings;
mod modules;
pub(crate) mod page;
mod phases;
mod processes;
mod sources;

use model::Explanation;
use page::Page;

/// How the view is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    /// Columns of the terminal; less than 60 are drawn as 60.
    pub width: usize,
    /// Escape sequences for colour and weight.
    pub colour: bool,
    /// Block characters and arrows; otherwise ASCII for bars and marks.
    pub unicode: bool,
    /// Modules and processes listed by name; all where `None`.
    pub rows: Option<usize>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        ViewOptions { width: 80, colour: false, unicode: true, rows: Some(10) }
    }
}

/// The whole view, each line at most `options.width` columns wide, with a line feed at its end.
pub fn view(explanation: &Explanation, options: ViewOptions) -> String {
    let mut page = Page::new(options);
    phases::header(&mut page, explanation);
    phases::bars(&mut page, explanation);
    processes::table(&mut page, explanation);
    modules::table(&mut page, explanation);
    counts::lines(&mut page, explanation);
    findings::list(&mut page, explanation);
    sources::list(&mut page, explanation);
    page.finish()
}

#[cfg(test)]
mod tests;
