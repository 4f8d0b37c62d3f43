//! What prefetching costs where there is nothing to do: everything is in memory.

use super::bed::{Bed, Place};
use super::tasks::{STARTS, Task};
use crate::report::Row;
use crate::statistics::percent;
use anyhow::Result;
use model::VariantResult;

const RUNS: &str = "200";
const MOST_RATIO: f64 = 1.01;
const MOST_MS: f64 = 1.0;

/// Starts on this disk, in turns with and without.
pub fn rows(bed: &mut Bed) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = STARTS.iter().collect();
    bed.record(&tasks, Place::ThisDisk)?;
    tasks.iter().map(|task| row(bed, task)).collect()
}

fn row(bed: &Bed, task: &Task) -> Result<Row> {
    eprintln!("warm: {}", task.name);
    let quoted = |words: &[String]| {
        let words = words.iter().map(|word| format!("'{word}'"));
        words.collect::<Vec<String>>().join(" ")
    };
    let alone = quoted(&bed.program_words(task));
    let launcher = quoted(&[bed.launcher_of(task, "flash")]);
    let before = [bed.headstart(), "prefetch".into(), "--record".into(), bed.record_of(task)];
    let typed = format!("{} -- {alone}", quoted(&before));
    let options = ["--runs", RUNS, "--warmup", "3"];
    let results = bed.context.headstart.compare(&options, &[&alone, &launcher, &typed])?;
    let [effect, of_typed] = &results.effects[..] else { anyhow::bail!("not two effects") };
    let [first, second, third] = &results.variants[..] else { anyhow::bail!("not three variants") };
    let more_ms = |of: &VariantResult| (of.summary.median_us - first.summary.median_us) / 1e3;
    let ms = more_ms(second);
    let value = format!(
        "{} ({} to {}), {ms:+.2} ms",
        percent(effect.ratio - 1.0),
        percent(effect.low - 1.0),
        percent(effect.high - 1.0)
    );
    let good = effect.ratio <= MOST_RATIO && ms <= MOST_MS;
    let figure = format!("warm {}: launcher against program", task.name);
    let beside = format!(
        "{:.1} ms; typed {}, {:+.2} ms",
        first.summary.median_us / 1e3,
        percent(of_typed.ratio - 1.0),
        more_ms(third)
    );
    Ok(Row::bar(figure, value, "≤ 1 % and ≤ 1 ms", good).beside(beside))
}
