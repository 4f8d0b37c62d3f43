//! Cold starts of bundles that read themselves ahead, on a slow disk.

use super::bed::{Bed, Place, modeled};
use super::speed::interleaved;
use super::tasks::{BUNDLED, Task};
use super::ways::Way;
use crate::cold_lab::{Medium, run};
use crate::report::Row;
use crate::slow_device::DeviceModel;
use anyhow::{Context as _, Result};

const ROUNDS: usize = 5;
/// Of the cold start of the program itself.
const MOST: f64 = 0.2;
const KINDS: [Way; 2] = [Way::Bundled, Way::BundledFixed];

/// One row for each kind of bundle.
pub fn rows(bed: &mut Bed) -> Result<Vec<Row>> {
    bed.lab.put_on(Medium::Plain)?;
    bed.lab.make_writable()?;
    bed.place = Place::Lab(Medium::Plain);
    for way in KINDS {
        bundle(bed, &BUNDLED, way).with_context(|| format!("{way:?} of {}", BUNDLED.name))?;
    }
    let place = modeled(DeviceModel::Ebs);
    bed.go_to(place)?;
    let ways = [Way::Cold, KINDS[0], KINDS[1]];
    let times = interleaved(bed, &[&BUNDLED], &ways, ROUNDS)?;
    let ms = |way| times.median_ms(BUNDLED.name, way);
    let rows = KINDS.map(|way| {
        let share = ms(way) / ms(Way::Cold);
        let figure = format!("{}: {} {way:?} ÷ itself, cold", place.name(), BUNDLED.name);
        Row::bar(figure, format!("{share:.2}"), &format!("≤ {MOST}"), share <= MOST).beside(
            format!("{:.0} → {:.0} ms; {}", ms(Way::Cold), ms(way), times.read(&BUNDLED, way)),
        )
    });
    Ok(rows.to_vec())
}

/// Makes the bundle of a task's program, with the list of what the task reads.
fn bundle(bed: &Bed, task: &Task, way: Way) -> Result<()> {
    let (headstart, out) = (bed.headstart(), bed.bundle_of(task, way));
    let mut words = vec![headstart.as_str(), "bundle", "--prefetch", "auto", "--out", &out];
    // It is recorded on another disk than it is read from.
    words.extend(["--disk", "slow-flash"]);
    words.extend((way == Way::BundledFixed).then_some("--fixed"));
    words.push("--");
    let program = bed.program_words(task);
    words.extend(program.iter().map(String::as_str));
    run(&mut bed.command(&words)).map(|_| ())
}
