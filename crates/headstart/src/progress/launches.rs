//! Progress of launches.

use super::StatusLine;
use lab::{Event, Progress, UNBOUNDED_ROUNDS};

impl StatusLine {
    /// A line that never appears.
    pub fn silent() -> StatusLine {
        let mut line = StatusLine::new();
        line.silent = true;
        line
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
