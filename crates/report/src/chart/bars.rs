//! Charts of horizontal bars.

use super::axis::{Axis, Spacing, label, time_unit};
use super::draw::WIDTH;
use super::svg::{self, Anchor, line, text};
use crate::figure::time;
use crate::style::Style;
use crate::text::columns;

/// Horizontal bars: a group for each row, a bar for each series.
pub struct Bars<'a> {
    /// What was measured.
    pub title: &'a str,
    /// How.
    pub caption: &'a str,
    /// Names of the rows, from above.
    pub rows: &'a [&'a str],
    /// Name of each series and its time in microseconds for each row; NaN draws no bar.
    pub series: &'a [(String, Vec<f64>)],
}

const STYLE: Style = Style { color: false, width: 80, unicode: true };
const TOP: f64 = 76.0;
const BAR: f64 = 15.0;
const GAP: f64 = 12.0;
const RIGHT: f64 = WIDTH - 96.0;
/// Pixels of a character of the names.
const LETTER: f64 = 7.2;
/// Colors there are; more series begin again.
const COLORS: usize = 6;

impl Bars<'_> {
    /// The document; alone like every chart.
    pub fn svg(&self) -> String {
        let group = BAR * self.series.len() as f64 + GAP;
        let bottom = TOP + group * self.rows.len() as f64;
        let height = bottom + 84.0;
        let widest = self.rows.iter().map(|row| columns(row)).max().unwrap_or(0);
        let left = 28.0 + LETTER * widest as f64;
        let times = self.series.iter().flat_map(|(_, times)| times);
        let most = times.copied().filter(|us| us.is_finite()).fold(0.0, f64::max);
        let (unit, unit_name) = time_unit(most);
        let axis = Axis::new(Spacing::Even, 0.0, most / unit, (left, RIGHT), 7.0);
        let mut drawn = svg::open(self.title, height);
        drawn += &text(28.0, 32.0, Anchor::Start, "hs-title", &STYLE.shorten(self.title, 76));
        drawn += &text(28.0, 56.0, Anchor::Start, "hs-law", self.caption);
        for &tick in &axis.ticks {
            let at = axis.at(tick);
            drawn += &line("hs-grid", (at, TOP - 4.0), (at, bottom));
            drawn += &text(at, bottom + 20.0, Anchor::Middle, "", &label(tick));
        }
        for (index, row) in self.rows.iter().enumerate() {
            let top = TOP + group * index as f64;
            let middle = top + (group - GAP) / 2.0 + 4.5;
            drawn += &text(left - 10.0, middle, Anchor::End, "hs-name", row);
            drawn += &self.group(index, top, unit, &axis);
        }
        drawn += &line("hs-axis", (left, TOP - 4.0), (left, bottom));
        drawn += &text((left + RIGHT) / 2.0, bottom + 42.0, Anchor::Middle, "hs-name", &unit_name);
        drawn += &self.legend(bottom + 68.0);
        drawn + svg::CLOSE
    }

    fn group(&self, row: usize, top: f64, unit: f64, axis: &Axis) -> String {
        let mut drawn = String::new();
        for (index, (name, times)) in self.series.iter().enumerate() {
            let Some(us) = times.get(row).copied().filter(|us| us.is_finite()) else { continue };
            let y = top + BAR * index as f64;
            let words = time(us, &STYLE);
            let (from, to) = (axis.at(0.0), axis.at(us / unit));
            let title = format!("{name}, {}: {words}", self.rows[row]);
            drawn += &svg::bar(&class(index), (from, y + 1.0), (to - from, BAR - 2.0), &title);
            drawn += &text(to + 6.0, y + BAR - 3.5, Anchor::Start, "", &words);
        }
        drawn
    }

    fn legend(&self, y: f64) -> String {
        let mut x = 28.0;
        let mut drawn = String::new();
        for (index, (name, _)) in self.series.iter().enumerate() {
            let name = STYLE.shorten(name, 28);
            drawn += &svg::bar(&class(index), (x, y - 10.0), (12.0, 12.0), &name);
            drawn += &text(x + 18.0, y, Anchor::Start, "", &name);
            x += 42.0 + LETTER * columns(&name) as f64;
        }
        drawn
    }
}

fn class(series: usize) -> String {
    format!("hs-s{}", series % COLORS)
}
