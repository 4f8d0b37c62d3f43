//! Progress on stderr: nothing for the first second, nothing where stderr is no terminal.

mod launches;

use crate::output;
use dlls::rewrite::{Step, Watcher};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
