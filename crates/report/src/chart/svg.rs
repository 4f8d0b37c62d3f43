//! Parts that all SVG charts share: colors, the frame and escaped text.

use super::draw::WIDTH;
use crate::text::printable;

/// Colors of every chart, for light and dark surroundings; classes start with `hs-`, so that a
/// page that holds a chart keeps its own. No variables: Inkscape and librsvg know none.
pub(super) const LOOK: &str = "<style>
.hs-paper{fill:#ffffff}
.hs-chart text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:13px;fill:#59636e}
.hs-chart .hs-title{font-size:18px;font-weight:600;fill:#1f2328}
.hs-chart .hs-law{font-size:14px;fill:#1f2328}
.hs-chart .hs-name{fill:#1f2328}
.hs-grid{stroke:#e4e7eb;stroke-width:1}
.hs-axis{stroke:#9aa3ad;stroke-width:1.2}
.hs-curve{fill:none;stroke:#d1570a;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.hs-bar{stroke:#0b62c4;stroke-width:1.6;fill:none}
.hs-point{fill:#0b62c4;stroke:#ffffff;stroke-width:1.2}
.hs-s0{fill:#0b62c4}
.hs-s1{fill:#d1570a}
.hs-s2{fill:#2a8a43}
.hs-s3{fill:#8250df}
.hs-s4{fill:#b3841a}
.hs-s5{fill:#0e7f86}
@media (prefers-color-scheme:dark){
.hs-paper{fill:#14181d}
.hs-chart text{fill:#a3adb8}
.hs-chart .hs-title,.hs-chart .hs-law,.hs-chart .hs-name{fill:#e8ebef}
.hs-grid{stroke:#2a3037}
.hs-axis{stroke:#6b7580}
.hs-curve{stroke:#ff9d5c}
.hs-bar{stroke:#6cb2ff}
.hs-point{fill:#6cb2ff;stroke:#14181d}
.hs-s0{fill:#6cb2ff}
.hs-s1{fill:#ff9d5c}
.hs-s2{fill:#69d585}
.hs-s3{fill:#c297ff}
.hs-s4{fill:#e3b341}
.hs-s5{fill:#56d4dd}
}
</style>
";

/// Ends a document.
pub(super) const CLOSE: &str = "</svg>\n";

/// Begins a document of the usual width.
pub(super) fn open(title: &str, height: f64) -> String {
    let title = escape(title);
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hs-chart\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n"
    );
    let paper = format!("<rect class=\"hs-paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n");
    head + LOOK + &paper
}

/// A filled bar with a text that appears under the pointer.
pub(super) fn bar(
    class: &str,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    title: &str,
) -> String {
    let title = escape(title);
    format!(
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{title}</title></rect>\n"
    )
}

/// Radius of a point.
pub(super) const RADIUS: f64 = 4.5;

/// How a text stands to its position.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text; what comes from elsewhere is made harmless.
pub(super) fn text(x: f64, y: f64, anchor: Anchor, class: &str, words: &str) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let words = escape(words);
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{class}>{words}</text>\n")
}

/// A straight line.
pub(super) fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    let ((x1, y1), (x2, y2)) = (from, to);
    format!("<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>\n")
}

/// A line through many points.
pub(super) fn path(class: &str, points: &[(f64, f64)]) -> String {
    let step = |(i, (x, y)): (usize, &(f64, f64))| {
        format!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' })
    };
    let steps: String = points.iter().enumerate().map(step).collect();
    format!("<path class=\"{class}\" d=\"{steps}\"/>\n")
}

/// A mark of a measured point with a text that appears under the pointer.
pub(super) fn point(x: f64, y: f64, title: &str) -> String {
    let title = escape(title);
    format!(
        "<circle class=\"hs-point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"><title>{title}</title></circle>\n"
    )
}

/// Text as XML has it.
pub(super) fn escape(text: &str) -> String {
    let text = printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
