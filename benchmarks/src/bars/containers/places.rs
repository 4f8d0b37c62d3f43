//! A root with bundles is archived, copied and packed; each bundle is started in what is made of that.

use super::bundles::{self, Bundle, Start};
use super::root::{self, HEADSTART, Root};
use super::{Bench, done};
use crate::report::Row;
use anyhow::{Context as _, Result};
use model::bundle::BundleManifest;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rounds of comparisons here and where the bundle was made; more where the first are not within the bar, as
/// so few may miss it by chance.
const ROUNDS: [usize; 2] = [3, 10];
/// The ratio here against that where it was made.
const MOST: f64 = 1.05;

struct Place {
    name: &'static str,
    /// Only what stands alone can be started there.
    is_bare: bool,
    /// Makes it of the root.
    make: fn(&Bench, &Path, &Path) -> Result<()>,
}

const PLACES: [Place; 6] = [
    Place { name: "tar, layer of one host", is_bare: false, make: layer },
    Place { name: "tar, layer of another host", is_bare: false, make: layer },
    Place { name: "cp -a", is_bare: false, make: copy },
    Place { name: "rsync -a", is_bare: false, make: rsync },
    Place { name: "squashfs", is_bare: false, make: squashfs },
    Place { name: "squashfs of libc and bundles", is_bare: true, make: bare },
];

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let mut rows = Vec::new();
    for bundle in Bundle::all() {
        let start = bundle.start(&made)?;
        rows.push(row("where it was made", &bundle, &start, &start.stdout, None));
    }
    for place in PLACES {
        rows.extend(in_place(bench, &made, &place).unwrap_or_else(|error| {
            vec![Row::bar(place.name, format!("{error:#}"), "tried", false)]
        }));
    }
    Ok(rows)
}

fn in_place(bench: &Bench, made: &Root, place: &Place) -> Result<Vec<Row>> {
    let path = bench.work.join("place");
    fs::create_dir_all(&path)?;
    made.unmount();
    let packed = (place.make)(bench, &made.path, &path);
    made.mount()?;
    packed?;
    let here = Root::opened(path.clone(), &bench.context.headstart.program)?;
    let mut rows = Vec::new();
    for bundle in Bundle::all() {
        if place.is_bare && !bundle.form.stands_alone {
            continue;
        }
        let start = bundle.start(&here)?;
        let expected = made.run(&[bundle.program, "--version"])?;
        // What is in the bare root has no original to compare with.
        let ratios = match bundle.form.ships && !place.is_bare {
            true => Some(ratios(bench, &bundle, made, &here)?),
            false => None,
        };
        rows.push(row(place.name, &bundle, &start, &expected, ratios));
    }
    root::leave(&path);
    for folder in ["place", "layer", "bare"] {
        let _ = fs::remove_dir_all(bench.work.join(folder));
    }
    let _ = fs::remove_file(bench.work.join("packed"));
    Ok(rows)
}

/// The ratios where it was made and here.
fn ratios(bench: &Bench, bundle: &Bundle, made: &Root, here: &Root) -> Result<[f64; 2]> {
    let [few, many] = ROUNDS;
    let first = bundle.ratios(made, here, bench.context.cpu, few)?;
    match is_within(first) {
        true => Ok(first),
        false => bundle.ratios(made, here, bench.context.cpu, many),
    }
}

fn is_within([made, here]: [f64; 2]) -> bool {
    here <= MOST * made
}

/// What a start did against what it has to do there.
fn row(
    place: &str,
    bundle: &Bundle,
    start: &Start,
    expected: &str,
    ratios: Option<[f64; 2]>,
) -> Row {
    let is_used = bundle.form.ships || place == "where it was made";
    let answers = start.code == Some(0) && start.stdout == expected;
    let as_wanted = match is_used {
        true => start.is_used(),
        false => !start.verified.used && start.agrees() && start.executed == 2,
    };
    let within = ratios.is_none_or(is_within);
    let ratio = ratios.map_or(String::new(), |[made, here]| {
        format!(", ratio {here:.3} (where it was made {made:.3})")
    });
    let verify = match &start.verified.reason {
        _ if start.verified.used => "used".to_owned(),
        reason => reason.clone().unwrap_or_default(),
    };
    let code = match answers {
        true => String::new(),
        false => format!(", exit code {:?}, '{}'", start.code, start.stdout.trim()),
    };
    let value = format!("{} execve{ratio}; verify: {verify}{code}", start.executed);
    let bar = match (is_used, ratios.is_some()) {
        (true, true) => "1, ≤ 1.05 of the ratio, used",
        (true, false) => "1, used",
        _ => "2, says why",
    };
    Row::bar(format!("{place}: {}", bundle.name()), value, bar, answers && as_wanted && within)
}

/// As a container runtime does: an archive is unpacked, and lies below a layer that can be written to.
fn layer(bench: &Bench, made: &Path, place: &Path) -> Result<()> {
    let packed = bench.work.join("packed");
    done(Command::new("tar").arg("-C").arg(made).arg("-cf").arg(&packed).arg("."))?;
    let folder = bench.work.join("layer");
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| folder.join(name));
    for folder in [&lower, &upper, &work] {
        fs::create_dir_all(folder)?;
    }
    done(Command::new("tar").arg("-C").arg(&lower).arg("-xpf").arg(&packed))?;
    fs::remove_file(&packed)?;
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    done(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(place))
}

fn copy(_: &Bench, made: &Path, place: &Path) -> Result<()> {
    done(Command::new("cp").arg("-a").arg(made.join(".")).arg(place))
}

fn rsync(_: &Bench, made: &Path, place: &Path) -> Result<()> {
    done(Command::new("rsync").arg("-a").arg(made.join("")).arg(place))
}

fn squashfs(bench: &Bench, made: &Path, place: &Path) -> Result<()> {
    let packed = bench.work.join("packed");
    // Times count once pages are in memory; packing is to be quick.
    let quick = ["-noI", "-noD", "-noF", "-noX", "-quiet", "-no-progress"];
    done(Command::new("mksquashfs").arg(made).arg(&packed).args(quick))?;
    done(Command::new("mount").args(["-o", "loop,ro"]).arg(&packed).arg(place))
}

/// Nothing but the C library, the loader, what bundles need besides, headstart, and the bundles that stand alone.
fn bare(bench: &Bench, made: &Path, place: &Path) -> Result<()> {
    let folder = bench.work.join("bare");
    let root = Root { path: made.to_owned() };
    let needed = root.run(&["ldd", HEADSTART])?;
    let mut paths: Vec<PathBuf> =
        needed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect();
    paths.push(HEADSTART.into());
    fs::create_dir_all(folder.join("opt"))?;
    for bundle in Bundle::all().iter().filter(|bundle| bundle.form.stands_alone) {
        let from = made.join(bundle.folder().trim_start_matches('/'));
        let read = fs::read(from.join("headstart.json"))?;
        let manifest: BundleManifest = serde_json::from_slice(&read)?;
        done(Command::new("cp").arg("-a").arg(from).arg(folder.join("opt")))?;
        // What it carries is not needed where it was.
        let outside = manifest.modules.iter().filter(|module| module.outside.is_some());
        let base =
            outside.filter(|module| manifest.carried.iter().all(|one| one.from != module.path));
        paths.extend(base.map(|module| PathBuf::from(&module.path)));
    }
    for path in paths {
        let path = path.strip_prefix("/")?;
        let (from, to) = (made.join(path), folder.join(path));
        fs::create_dir_all(to.parent().unwrap_or(&folder))?;
        done(Command::new("cp").args(["-pL"]).arg(from).arg(to)).context("a bare root")?;
    }
    for name in ["proc", "tmp", "dev"] {
        fs::create_dir_all(folder.join(name))?;
    }
    squashfs(bench, &folder, place)
}
