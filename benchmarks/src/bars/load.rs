//! The time of a list of libraries, against a bare loop of dlopen.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::{least, median};
use crate::subjects::c_programs::build;
use anyhow::{Context as _, Result, ensure};
use model::LibraryLoadReport;
use std::path::Path;
use std::process::Command;

const LIBRARIES: &str = "100";
const ROUNDS: usize = 41;
/// How much longer the total may be. Other work on the machine moves
/// the ratio by several percent either way: run it alone.
const MOST_OVER: f64 = 1.03;

/// Loads the libraries that its list names, and prints the microseconds of the whole loop.
const LOOP: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static char names[200][512];
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
int main(int argc, char **argv) {
    int count = 0, loaded = 0;
    FILE *list = fopen(argv[1], "r");
    while (count < 200 && fgets(names[count], sizeof names[0], list)) {
        names[count][strcspn(names[count], "\n")] = 0;
        if (names[count][0] && names[count][0] != '#') count++;
    }
    fclose(list);
    double started = now();
    for (int i = 0; i < count; i++) loaded += dlopen(names[i], RTLD_NOW) != 0;
    double ended = now();
    printf("%d %.3f\n", loaded, ended - started);
    fflush(stdout);
    _Exit(0);
}
"#;

/// Both load the same list in turns; who begins changes from round to round.
///
/// # Errors
/// One of them fails.
pub fn check(context: &Context) -> Result<Report> {
    let list = context.scratch.join("libraries");
    let path = list.to_str().context("a path that is not UTF-8")?;
    context.headstart.run(&["load", "--sample", "--count", LIBRARIES, "--out", path])?;
    let bare = build(&context.scratch, "dlopen-loop", LOOP, &["-O2", "-ldl"])?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut loaded = (0, 0);
    for round in 0..ROUNDS {
        for turn in 0..2 {
            if (round + turn) % 2 == 0 {
                let found: LibraryLoadReport = context.headstart.json(&["load", "--json", path])?;
                loaded.0 = found.libraries.len() - found.failed();
                ours.push(found.total_us);
            } else {
                let (count, us) = bare_loop(&bare, &list)?;
                loaded.1 = count;
                theirs.push(us);
            }
        }
    }
    ensure!(loaded.0 == loaded.1, "{} libraries against {} of the loop", loaded.0, loaded.1);
    Ok(report(loaded.0, &ours, &theirs))
}

fn bare_loop(program: &Path, list: &Path) -> Result<(usize, f64)> {
    let output = Command::new(program).arg(list).output().context("the loop cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (count, us) = text.trim().split_once(' ').context("the loop printed nothing")?;
    Ok((count.parse()?, us.parse()?))
}

fn report(libraries: usize, ours: &[f64], theirs: &[f64]) -> Report {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let ratio = median(ratios);
    let ms = |us: f64| format!("{:.3} ms", us / 1e3);
    let rows = vec![
        Row::shown("libraries, rounds", format!("{libraries}, {} interleaved", ours.len())),
        Row::shown("fastest total", ms(least(ours))).beside(ms(least(theirs))),
        Row::shown("median total", ms(median(ours.to_vec()))).beside(ms(median(theirs.to_vec()))),
        Row::bar(
            "total ÷ bare loop's, median of rounds",
            format!("{ratio:.3}"),
            "≤ 1.03",
            ratio <= MOST_OVER,
        ),
    ];
    Report { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_pair_by_pair() {
        let good = report(100, &[102.0, 204.0, 305.0], &[100.0, 200.0, 300.0]);
        assert!(good.good() && good.to_string().contains("1.020"), "{good}");
        let bad = report(100, &[104.0, 208.0, 300.0], &[100.0, 200.0, 300.0]);
        assert!(!bad.good(), "{bad}");
        let faster = report(100, &[90.0, 90.0], &[100.0, 100.0]);
        assert!(faster.good(), "{faster}");
    }
}
