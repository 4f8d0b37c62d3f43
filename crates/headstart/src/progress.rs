//! Progress on stderr: nothing for the first second, nothing where stderr is no terminal.

use crate::output;
use dlls::rewrite::{Step, Watcher};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::{Event, Progress, UNBOUNDED_ROUNDS};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const QUIET_FOR: Duration = Duration::from_secs(1);

/// A line of progress.
pub struct StatusLine {
    bar: ProgressBar,
    started: Instant,
    silent: bool,
}

impl StatusLine {
    /// A line that appears when there is something to wait for.
    pub fn new() -> StatusLine {
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::hidden());
        let template = "{bar:24.cyan/dim} {msg}";
        // The template is constant; the fallback only looks plainer.
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸─");
        bar.set_style(style);
        StatusLine { bar, started: Instant::now(), silent: false }
    }

    /// A line that never appears.
    pub fn silent() -> StatusLine {
        let mut line = StatusLine::new();
        line.silent = true;
        line
    }

    /// Shows a share between 0 and 1 and a text.
    pub fn show(&self, share: f64, text: String) {
        if self.bar.is_hidden() && self.is_due() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        if self.bar.is_finished() {
            self.bar.reset();
        }
        self.bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
        self.bar.set_message(text);
    }

    /// Shows what happens while launches are made.
    pub fn observe(&self, event: Event) {
        match event {
            Event::FindingFiles => {
                self.show(0.0, "finding the files that the launches map".to_owned());
            }
            Event::Trying { size } => self.show(0.0, format!("trying n = {size}")),
            Event::Counting { size, done, of } => {
                self.show(done as f64 / of.max(1) as f64, format!("counting n = {size}"));
            }
            Event::Launched(progress) => {
                let (share, text) = of_run(&progress);
                self.show(share, text);
            }
            Event::Over => self.clear(),
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn is_due(&self) -> bool {
        !self.silent && self.started.elapsed() >= QUIET_FOR && std::io::stderr().is_terminal()
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A line that counts files, by any thread.
struct Counter {
    line: StatusLine,
    doing: &'static str,
    all: usize,
    done: AtomicUsize,
}

impl Counter {
    /// For so many files, and what is done with them: `writing`.
    fn new(doing: &'static str, all: usize) -> Counter {
        Counter { line: StatusLine::new(), doing, all, done: AtomicUsize::new(0) }
    }

    /// One more is done.
    fn one_more(&self) {
        let (doing, all) = (self.doing, self.all);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.line.show(done as f64 / all as f64, format!("{doing} {done} of {all} files"));
    }
}

/// What is told of files that are rewritten.
pub struct FileProgress;

impl Watcher for FileProgress {
    fn begins(&self, step: Step, files: usize) -> Box<dyn Fn() + Send + Sync> {
        let doing = match step {
            Step::Check => "checking",
            Step::Write => "writing",
        };
        let counter = Counter::new(doing, files);
        Box::new(move || counter.one_more())
    }

    fn waits(&self, folder: &Path) {
        let folder = folder.display();
        output::tell(format_args!("another headstart is writing to {folder}; waiting for its end"));
    }
}

/// How far a run is: as a share, and in words. What ends it first counts: rounds or budget.
fn of_run(progress: &Progress) -> (f64, String) {
    if progress.warming_up {
        return (0.0, "warming up".to_owned());
    }
    let done = f64::from(progress.rounds) + 1.0;
    let by_rounds = done / f64::from(progress.rounds_at_most.max(1));
    let precision = progress.precision;
    let by_time = progress.budget_s.map_or(0.0, |budget| progress.elapsed_s / budget);
    let share = by_rounds.max(by_time).min(1.0);
    let mut text = match precision {
        None if progress.rounds_at_most < UNBOUNDED_ROUNDS => {
            format!("round {done} of {}", progress.rounds_at_most)
        }
        _ => format!("round {done}"),
    };
    if let (Some(width), Some(wanted)) = (progress.width, precision)
        && width.is_finite()
    {
        text += &format!(", known to {:.1} %, asked for {:.1} %", width * 100.0, wanted * 100.0);
    }
    let left_s = progress.elapsed_s * (1.0 / share.max(1e-9) - 1.0);
    let most = if precision.is_some() { "at most " } else { "" };
    if progress.elapsed_s > 0.5 && left_s < 1e6 {
        text += &format!(", {most}{} left", whole_seconds(left_s));
    }
    (share, text)
}

fn whole_seconds(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rounds: u32, elapsed_s: f64) -> Progress {
        Progress {
            rounds,
            rounds_at_most: 30,
            warming_up: false,
            width: None,
            precision: None,
            elapsed_s,
            budget_s: None,
        }
    }

    #[test]
    fn says_how_much_is_left() {
        let (share, text) = of_run(&at(9, 10.0));
        assert!((share - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(text, "round 10 of 30, 20 s left");
        let precise = Progress {
            width: Some(0.023),
            precision: Some(0.01),
            budget_s: Some(60.0),
            ..at(2, 30.0)
        };
        let (share, text) = of_run(&precise);
        assert_eq!(share, 0.5);
        assert_eq!(text, "round 3, known to 2.3 %, asked for 1.0 %, at most 30 s left");
    }
}
