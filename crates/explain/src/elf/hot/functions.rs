//! Finds the functions that samples fell in.

use super::names::demangled;
use super::tally::Tally;
use crate::names::base_name;
use image::{Function, Placed};
use model::Reading;
use os::samples::KernelSymbols;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// For code whose function is not known.
const NO_SYMBOLS: &str = "[no symbols]";
const KERNEL: &str = "[kernel]";

/// A function with samples in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FunctionSamples {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) samples: u64,
    pub(super) kernel: bool,
    /// Where its bounds are known.
    pub(super) code: Option<Code>,
}

/// Code of a function and the samples on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Code {
    pub(super) path: String,
    /// First address, before relocation.
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Where it is in the file.
    pub(super) offset: u64,
    /// Samples by address.
    pub(super) samples: BTreeMap<u64, u64>,
}

/// All functions, hottest first, and why some have no names.
pub(super) struct Functions {
    pub(super) found: Vec<FunctionSamples>,
    pub(super) problems: Vec<String>,
}

impl Functions {
    pub(super) fn find(
        tally: &Tally,
        kernel: &Reading<KernelSymbols>,
        debug_folder: &Path,
    ) -> Functions {
        let mut found = in_kernel(&tally.kernel, kernel.value());
        let mut problems = Vec::new();
        for (path, samples) in &tally.files {
            let offsets: Vec<u64> = samples.keys().copied().collect();
            let placed =
                image::functions(Path::new(&model::text::name(path)), debug_folder, &offsets);
            let placed = placed.unwrap_or_else(|error| {
                problems.push(format!("its functions have no names: {error}"));
                vec![None; offsets.len()]
            });
            found.extend(in_file(path, samples, &placed));
        }
        found.extend(tally.memory.iter().map(|(name, &samples)| FunctionSamples {
            module: name.clone(),
            name: NO_SYMBOLS.to_owned(),
            samples,
            kernel: false,
            code: None,
        }));
        found.sort_by(|one, other| {
            let names = (&one.module, &one.name).cmp(&(&other.module, &other.name));
            other.samples.cmp(&one.samples).then(names)
        });
        Functions { found, problems }
    }
}

fn in_kernel(
    samples: &BTreeMap<u64, u64>,
    symbols: Option<&KernelSymbols>,
) -> Vec<FunctionSamples> {
    let mut by_name: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (&address, count) in samples {
        let symbol = symbols.and_then(|symbols| symbols.covering(address));
        let module = symbol.and_then(|symbol| symbol.module.as_ref());
        let module = module.map_or_else(|| KERNEL.to_owned(), |name| format!("[{name}]"));
        let name = symbol.map_or(NO_SYMBOLS, |symbol| &symbol.name);
        *by_name.entry((module, name.to_owned())).or_default() += count;
    }
    let found = by_name.into_iter().map(|((module, name), samples)| FunctionSamples {
        module,
        name,
        samples,
        kernel: true,
        code: None,
    });
    found.collect()
}

fn in_file(
    path: &str,
    samples: &BTreeMap<u64, u64>,
    placed: &[Option<Placed>],
) -> Vec<FunctionSamples> {
    let mut by_function: HashMap<Option<&Function>, FunctionSamples> = HashMap::new();
    for ((&offset, &count), placed) in samples.iter().zip(placed) {
        let function = placed.as_ref().and_then(|placed| placed.function.as_ref());
        let entry = by_function.entry(function).or_insert_with(|| FunctionSamples {
            module: path.to_owned(),
            name: function.map_or_else(|| NO_SYMBOLS.to_owned(), |function| name(path, function)),
            samples: 0,
            kernel: false,
            code: None,
        });
        entry.samples += count;
        if let (Some(function), Some(placed)) = (function, placed) {
            let Some(within) = placed.address.checked_sub(function.address) else { continue };
            let Some(start) = offset.checked_sub(within) else { continue };
            let code = entry.code.get_or_insert_with(|| Code {
                path: path.to_owned(),
                address: function.address,
                bytes: function.bytes,
                offset: start,
                samples: BTreeMap::new(),
            });
            *code.samples.entry(placed.address).or_default() += count;
        }
    }
    by_function.into_values().collect()
}

/// The function's name, or else its place.
pub(super) fn name(path: &str, function: &Function) -> String {
    match &function.name {
        Some(name) => demangled(name),
        None => format!("{}+{:#x}", base_name(path), function.address),
    }
}
