//! Charts of a sweep: SVG that stands alone, and a plot for terminals. The same sweep gives the
//! same bytes.

mod axis;
mod bars;
mod draw;
mod svg;
mod terminal;

pub use bars::Bars;
pub use terminal::plot;

use draw::HEIGHT;
use model::growth::Scale;

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// n against the value.
    Plain,
    /// n against the value's square root, Dawson's second graph: n² is a straight line.
    Root,
    /// Both by logarithms: every power of n is a straight line.
    Logarithmic,
}

impl Chart {
    /// All of them, in the order in which they are read.
    pub const ALL: [Chart; 3] = [Chart::Plain, Chart::Root, Chart::Logarithmic];

    /// A word for the name of a file: `plain`, `root`, `log`.
    pub fn name(self) -> &'static str {
        match self {
            Chart::Plain => "plain",
            Chart::Root => "root",
            Chart::Logarithmic => "log",
        }
    }
}

/// One SVG document with the given charts below each other, under one title. It loads nothing,
/// runs nothing, and follows the reader's preference for light or dark.
pub fn svg(scale: &Scale, charts: &[Chart]) -> String {
    let (head, head_height) = draw::head(scale);
    let height = head_height + HEIGHT * charts.len() as f64;
    let mut document = svg::open(&draw::title(scale), height);
    document += &head;
    for (i, chart) in charts.iter().enumerate() {
        let down = head_height + HEIGHT * i as f64;
        document += &format!("<g transform=\"translate(0 {down})\">\n");
        document += &draw::chart(scale, *chart);
        document += "</g>\n";
    }
    document + svg::CLOSE
}
