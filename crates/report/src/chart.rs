//! Charts of a sweep: SVG that stands alone, and a plot for terminals. The same sweep gives the
//! same bytes.

mod axis;
mod draw;
mod svg;
mod terminal;

pub use terminal::plot;

use draw::{HEIGHT, WIDTH};
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

/// One SVG document with the given charts below each other, under one title. It loads nothing, runs nothing, and
/// follows the reader's preference for light or dark.
pub fn svg(scale: &Scale, charts: &[Chart]) -> String {
    let (head, head_height) = draw::head(scale);
    let height = head_height + HEIGHT * charts.len() as f64;
    let title = svg::escape(&draw::title(scale));
    let mut document = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hs-chart\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n"
    );
    document += svg::LOOK;
    document += &format!("<rect class=\"hs-paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n");
    document += &head;
    for (i, chart) in charts.iter().enumerate() {
        let down = head_height + HEIGHT * i as f64;
        document += &format!("<g transform=\"translate(0 {down})\">\n");
        document += &draw::chart(scale, *chart);
        document += "</g>\n";
    }
    document + "</svg>\n"
}
