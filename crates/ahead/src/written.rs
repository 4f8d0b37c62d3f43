//! Puts a launcher together.

use super::format::{ANY_CLASS, MAGIC};
use super::{
    DATA_ADDRESS, DATA_HEADER, LENGTH_BYTES, LauncherData, LauncherPlan, LauncherProblem,
    MOST_BYTES, PAGE, PLAN_BYTES, PROGRAM, PartEntry, data_place,
};

use std::collections::HashMap;

/// Bytes before the text: the magic, and what [`super::format`] lists.
const HEAD_BYTES: usize = 32;

/// The bytes of the file.
///
/// # Errors
/// What cannot be in a launcher.
pub fn write(data: &LauncherData) -> Result<Vec<u8>, LauncherProblem> {
    let mut file = PROGRAM.to_vec();
    let end = data_place(&file).ok_or(LauncherProblem::OtherSystem)?;
    let header = DATA_HEADER;
    let data = Writer::default().whole(data)?;
    // The section headers go: nobody needs them (elf(5): e_shoff, e_shnum and e_shstrndx are 0 then).
    file.truncate(end);
    file[0x28..0x30].fill(0);
    file[0x3c..0x40].fill(0);
    let at = file.len().next_multiple_of(PAGE);
    file.resize(at, 0);
    file.extend((data.len() as u64).to_le_bytes());
    file.extend(&data);
    let length = (LENGTH_BYTES + data.len()) as u64;
    for (offset, word) in [(8, at as u64), (16, DATA_ADDRESS), (32, length), (40, length)] {
        file[header + offset..][..8].copy_from_slice(&word.to_le_bytes());
    }
    if file.len() as u64 > MOST_BYTES { Err(LauncherProblem::TooLarge) } else { Ok(file) }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    /// Places of what is written already.
    strings: HashMap<Vec<u8>, u32>,
    problem: Option<LauncherProblem>,
}

impl Writer {
    fn whole(mut self, data: &LauncherData) -> Result<Vec<u8>, LauncherProblem> {
        self.bytes.extend(MAGIC);
        self.bytes.resize(HEAD_BYTES, 0);
        let text = self.string(data.text.as_bytes());
        let program = self.string(&data.program);
        let arguments = self.strings(&data.arguments);
        let plans: Vec<[u32; PLAN_BYTES / 4]> =
            data.plans.iter().map(|plan| self.plan(plan)).collect();
        let plans_at = self.aligned();
        self.numbers(plans.as_flattened());
        let head = [text, program, arguments.0, arguments.1, plans_at, plans.len() as u32];
        for (number, at) in head.into_iter().zip((MAGIC.len()..).step_by(4)) {
            self.bytes[at..][..4].copy_from_slice(&number.to_le_bytes());
        }
        self.bytes.push(0);
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self.bytes),
        }
    }

    /// The present end, where a number may stand.
    fn aligned(&mut self) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.bytes.len() as u32
    }

    fn numbers(&mut self, numbers: &[u32]) {
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn string(&mut self, bytes: &[u8]) -> u32 {
        if bytes.contains(&0) {
            self.problem = Some(LauncherProblem::Nul);
        }
        // Plans of several classes have most of their paths in common.
        if let Some(at) = self.strings.get(bytes) {
            return *at;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend(bytes);
        self.bytes.push(0);
        self.strings.insert(bytes.to_vec(), at);
        at
    }

    /// Place and count of the places of strings.
    fn strings<Text: AsRef<[u8]>>(&mut self, strings: &[Text]) -> (u32, u32) {
        let places: Vec<u32> = strings.iter().map(|text| self.string(text.as_ref())).collect();
        let at = self.aligned();
        self.numbers(&places);
        (at, places.len() as u32)
    }

    fn parts(&mut self, parts: &[PartEntry]) -> (u32, u32) {
        let at = self.aligned();
        for part in parts {
            self.numbers(&[part.file, part.bytes]);
            self.bytes.extend(part.offset.to_le_bytes());
        }
        (at, parts.len() as u32)
    }

    fn files(&mut self, plan: &LauncherPlan) -> (u32, u32) {
        let paths: Vec<u32> = plan.files.iter().map(|file| self.string(&file.path)).collect();
        let at = self.aligned();
        for (file, path) in plan.files.iter().zip(paths) {
            self.numbers(&[path, 0]);
            self.bytes.extend(file.size_bytes.to_le_bytes());
            self.bytes.extend(file.modified_ns.to_le_bytes());
        }
        (at, plan.files.len() as u32)
    }

    fn plan(&mut self, plan: &LauncherPlan) -> [u32; PLAN_BYTES / 4] {
        let class = match &plan.class {
            Some(words) => self.strings(words),
            None => (0, ANY_CLASS),
        };
        let files = self.files(plan);
        let requests = self.parts(&plan.requests);
        let looked_up = self.strings(&plan.looked_up);
        let samples = self.parts(&plan.samples);
        let bytes: u64 = plan.requests.iter().map(|request| u64::from(request.bytes)).sum();
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX);
        let pairs = [class, files, requests, looked_up, samples, (plan.one_by_one.into(), kib)];
        let mut numbers = [0; PLAN_BYTES / 4];
        for (at, (place, count)) in pairs.into_iter().enumerate() {
            (numbers[2 * at], numbers[2 * at + 1]) = (place, count);
        }
        numbers
    }
}
