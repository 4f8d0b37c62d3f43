//! What GNU readelf says of a file: the oracle of `headstart inspect`.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The facts that readelf and headstart both state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// By type.
    pub relocations: BTreeMap<String, u64>,
    /// Undefined dynamic symbols.
    pub imports: u64,
    /// Dynamic symbols that others see.
    pub exports: u64,
    /// `DT_NEEDED`, in order.
    pub needed: Vec<String>,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// `DT_RPATH` and `DT_RUNPATH`.
    pub search_paths: Vec<String>,
    /// `PT_INTERP`.
    pub interpreter: Option<String>,
    /// In hexadecimal digits.
    pub build_id: Option<String>,
    /// Libraries with the versions that are needed of them.
    pub version_needs: Vec<(String, Vec<String>)>,
    /// `PT_LOAD`.
    pub load_segments: u32,
    /// Of all arrays of initializers.
    pub initializer_bytes: u64,
}

/// Facts, and what readelf complained about.
pub struct Answer {
    /// What it states.
    pub facts: Facts,
    /// What it wrote to stderr.
    pub complaints: String,
}

/// Runs readelf on one file.
///
/// # Errors
/// It cannot be run, or its output not be read.
pub fn read(path: &Path) -> Result<Answer> {
    let mut command = Command::new("readelf");
    command.args(["-rW", "--dyn-syms", "-dW", "-hW", "-lW", "-nW", "-VW"]).arg(path);
    command.env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("readelf cannot be run; install binutils")?;
    let stdout = child.stdout.take().context("readelf has no standard output")?;
    let mut stderr = child.stderr.take().context("readelf has no standard error")?;
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let facts = parse(BufReader::new(stdout))?;
    let complaints =
        complaints.join().map_err(|_| anyhow::anyhow!("reader of stderr failed"))??;
    let status = child.wait()?;
    ensure!(status.code().is_some(), "readelf was ended by a signal on {}", path.display());
    Ok(Answer { facts, complaints })
}

/// Which of readelf's tables a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Other,
    Relocations,
    Symbols,
    VersionNeeds,
}

/// Parses readelf's output, which is read line by line: for a browser it has 90 MB.
fn parse(mut output: impl BufRead) -> Result<Facts> {
    let mut facts = Facts::default();
    let mut part = Part::Other;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if output.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(facts);
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if let Some(next) = part_begun_by(line) {
            part = next;
            continue;
        }
        match part {
            Part::Relocations => facts.relocation(line),
            Part::Symbols => facts.symbol(line),
            Part::VersionNeeds => facts.version_need(line),
            Part::Other => facts.other(line),
        }
    }
}

fn part_begun_by(line: &str) -> Option<Part> {
    let begins = |word| line.starts_with(word);
    if begins("Relocation section ") {
        Some(Part::Relocations)
    } else if begins("Symbol table ") {
        Some(Part::Symbols)
    } else if begins("Version needs section ") {
        Some(Part::VersionNeeds)
    } else if begins("Version ")
        || begins("Dynamic section ")
        || begins("Displaying notes ")
        || begins("Program Headers:")
        || begins("No version information ")
        || begins("There ")
    {
        Some(Part::Other)
    } else {
        None
    }
}

impl Facts {
    /// `OFFSET  INFO TYPE …`, or `  N offsets` above a decoded RELR table.
    fn relocation(&mut self, line: &str) {
        if let Some(count) = line.strip_suffix(" offsets").or(line.strip_suffix(" offset")) {
            if let Ok(count) = count.trim().parse::<u64>() {
                *self.relocations.entry("RELR".to_owned()).or_default() += count;
            }
            return;
        }
        let mut columns = line.splitn(3, ' ');
        let offset = columns.next().filter(|text| is_hexadecimal(text));
        let (Some(_), Some(""), Some(rest)) = (offset, columns.next(), columns.next()) else {
            return;
        };
        let Some((info, kind)) = rest.split_once(' ') else { return };
        if !is_hexadecimal(info) {
            return;
        }
        let words = if kind.starts_with("unrecognized:") { 2 } else { 1 };
        let kind: Vec<&str> = kind.split_whitespace().take(words).collect();
        *self.relocations.entry(kind.join(" ")).or_default() += 1;
    }

    /// `NUM: VALUE SIZE TYPE BIND VIS [OTHER] NDX NAME`; BIND can have several words.
    fn symbol(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = words.first().and_then(|word| word.strip_suffix(':'));
        let Some(number) = number.and_then(|word| word.parse::<u64>().ok()) else { return };
        let visibilities = ["DEFAULT", "HIDDEN", "PROTECTED", "INTERNAL"];
        let Some(visibility) = words.iter().position(|word| visibilities.contains(word)) else {
            return;
        };
        let binding = words.get(visibility - 1).copied().unwrap_or_default();
        let mut rest = words.iter().skip(visibility + 1);
        let mut index = rest.next().copied().unwrap_or_default();
        while index.starts_with('[') && !index.ends_with(']') {
            index = rest.next().copied().unwrap_or("]");
        }
        if index.ends_with(']') {
            index = rest.next().copied().unwrap_or_default();
        }
        if number == 0 {
        } else if index == "UND" {
            self.imports += 1;
        } else if ["GLOBAL", "WEAK", "UNIQUE", "10"].contains(&binding) {
            self.exports += 1;
        }
    }

    /// `  000000: Version: 1  File: libc.so.6  Cnt: 2`, then `  0x0010:   Name: GLIBC_2.3  Flags…`.
    fn version_need(&mut self, line: &str) {
        if let Some(file) = between(line, "  File: ", "  Cnt: ") {
            self.version_needs.push((file.to_owned(), Vec::new()));
        } else if let Some(name) = between(line, "  Name: ", "  Flags: ")
            && let Some((_, versions)) = self.version_needs.last_mut()
        {
            versions.push(name.to_owned());
        }
    }

    fn other(&mut self, line: &str) {
        let text = || between(line, "[", "]").unwrap_or_default().to_owned();
        if line.contains("(NEEDED)") {
            self.needed.push(text());
        } else if line.contains("(SONAME)") {
            self.soname = Some(text());
        } else if line.contains("(RPATH)") || line.contains("(RUNPATH)") {
            self.search_paths.push(text());
        } else if line.contains("[Requesting program interpreter: ") {
            self.interpreter = between(line, ": ", "]").map(str::to_owned);
        } else if let Some((_, id)) = line.split_once("Build ID: ") {
            self.build_id.get_or_insert_with(|| id.trim().to_owned());
        } else if line.starts_with("  LOAD ") {
            self.load_segments += 1;
        } else if line.contains("INIT_ARRAYSZ)") {
            let bytes = between(line, ")", "(bytes)").and_then(|text| text.trim().parse().ok());
            self.initializer_bytes += bytes.unwrap_or(0);
        }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    matches!(text.len(), 8 | 16) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.rsplit_once(after).map(|(text, _)| text)
}
