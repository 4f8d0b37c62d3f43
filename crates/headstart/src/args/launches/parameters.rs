//! Parameters of commands: `{name}` in a line is replaced by a value.

use crate::exit::Usage;
use anyhow::Result;
use model::text::of_bytes;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// A value for each parameter.
pub type Values = BTreeMap<String, String>;

/// More values than this are a slip.
const MOST: usize = 100_000;

/// `-L`, `-P` and `-D`, as hyperfine has them.
#[derive(Debug, Default, clap::Args)]
pub struct ParameterArgs {
    /// Launch once with each value of the comma-separated list; {VAR} in commands is replaced.
    /// Repeat it for all combinations
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["parameter_scan", "parameter_step_size"])]
    parameter_list: Vec<String>,
    /// Launch once with each number from MIN to MAX
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], allow_hyphen_values = true)]
    parameter_scan: Vec<String>,
    /// Distance between the numbers of --parameter-scan [default: 1]
    #[arg(short = 'D', long, value_name = "DELTA", requires = "parameter_scan")]
    parameter_step_size: Option<String>,
}

impl ParameterArgs {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.parameter_list.is_empty() || !self.parameter_scan.is_empty()
    }

    /// All combinations of values, the first parameter changing fastest; one without values where
    /// there are no parameters.
    pub fn combinations(&self) -> Result<Vec<Values>> {
        let mut lists: Vec<(&str, Vec<String>)> = Vec::new();
        if let [name, least, most] = &self.parameter_scan[..] {
            let step = self.parameter_step_size.as_deref();
            lists.push((name, scan(least, most, step).map_err(Usage)?));
        }
        for pair in self.parameter_list.chunks_exact(2) {
            let (name, values) = (&pair[0], &pair[1]);
            if lists.iter().any(|(other, _)| other == name) {
                return Err(
                    Usage(format!("the parameter '{name}' is given twice; rename one")).into()
                );
            }
            lists.push((name, list(values)));
        }
        let count = lists.iter().try_fold(1, |n: usize, (_, list)| n.checked_mul(list.len()));
        if count.is_none_or(|count| count > MOST) {
            return Err(Usage(format!(
                "there are more than {MOST} combinations of values; give fewer values"
            ))
            .into());
        }
        let mut all = vec![Values::new()];
        for (name, values) in lists {
            let with = |value: &String, others: &Values| {
                let mut values = others.clone();
                values.insert(name.to_owned(), value.clone());
                values
            };
            all = values
                .iter()
                .flat_map(|value| all.iter().map(|others| with(value, others)).collect::<Vec<_>>())
                .collect();
        }
        Ok(all)
    }
}

/// The text with every `{name}` replaced by its value. What a value brings in is not replaced.
pub fn replaced(text: &OsStr, values: &Values) -> OsString {
    let mut rest = text.as_encoded_bytes();
    let mut found = Vec::with_capacity(rest.len());
    while let Some((&byte, tail)) = rest.split_first() {
        let here = values.iter().find_map(|(name, value)| {
            let tail = tail.strip_prefix(name.as_bytes()).filter(|_| byte == b'{')?;
            Some((value, tail.strip_prefix(b"}")?))
        });
        match here {
            Some((value, tail)) => {
                found.extend_from_slice(value.as_bytes());
                rest = tail;
            }
            None => {
                found.push(byte);
                rest = tail;
            }
        }
    }
    of_bytes(found)
}

/// Names of parameters that the line does not mention.
pub fn unused(line: &OsStr, values: &Values) -> Vec<String> {
    let line = line.to_string_lossy();
    values.keys().filter(|name| !line.contains(&format!("{{{name}}}"))).cloned().collect()
}

/// Values separated by commas; a backslash makes a comma, or a backslash, part of a value.
fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.peek().copied().filter(|next| matches!(next, ',' | '\\'));
        match (character, escaped, values.last_mut()) {
            (',', ..) => values.push(String::new()),
            ('\\', Some(next), Some(value)) => {
                value.push(next);
                characters.next();
            }
            (other, _, Some(value)) => value.push(other),
            (_, _, None) => {}
        }
    }
    values
}

/// A decimal number, exactly: `digits` divided by ten to the power of `scale`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let bare = text.trim().trim_start_matches(['-', '+']);
        let (whole, part) = bare.split_once('.').unwrap_or((bare, ""));
        let figures = format!("{whole}{part}");
        let plain = !figures.is_empty() && figures.bytes().all(|byte| byte.is_ascii_digit());
        // Room for sums and for the digits of the other numbers of a scan.
        if !plain || figures.len() > 18 || text.trim().len() > bare.len() + 1 {
            return None;
        }
        let digits: i128 = figures.parse().ok()?;
        let digits = if text.trim().starts_with('-') { -digits } else { digits };
        Some(Decimal { digits, scale: part.len() as u32 })
    }

    /// Its digits at a scale that is at least its own.
    fn at(self, scale: u32) -> i128 {
        self.digits * 10_i128.pow(scale - self.scale)
    }

    fn show(self) -> String {
        let (sign, digits) = (if self.digits < 0 { "-" } else { "" }, self.digits.unsigned_abs());
        let one = 10_u128.pow(self.scale);
        match self.scale {
            0 => format!("{sign}{digits}"),
            scale => format!("{sign}{}.{:0>2$}", digits / one, digits % one, scale as usize),
        }
    }
}

/// The numbers of `--parameter-scan`. As hyperfine has it, the first one is written as `least` is,
/// the others with the decimals of the step where those are more.
fn scan(least: &str, most: &str, step: Option<&str>) -> Result<Vec<String>, String> {
    let number = |text: &str| {
        Decimal::parse(text)
            .ok_or(format!("--parameter-scan: '{text}' is not a number such as 0.5"))
    };
    let (first, last) = (number(least)?, number(most)?);
    if step.is_none() && first.scale + last.scale > 0 {
        return Err("--parameter-scan with decimals needs --parameter-step-size".to_owned());
    }
    let step = number(step.unwrap_or("1"))?;
    let scale = first.scale.max(last.scale).max(step.scale);
    let (mut at, end, by) = (first.at(scale), last.at(scale), step.at(scale));
    if end < at {
        return Err(format!(
            "--parameter-scan: MAX, {most}, is less than MIN, {least}; exchange them"
        ));
    }
    if by <= 0 {
        return Err("--parameter-step-size has to be above 0".to_owned());
    }
    if (end - at) / by >= MOST as i128 {
        return Err(format!("--parameter-scan has more than {MOST} values; choose a larger step"));
    }
    let shown = first.scale.max(step.scale);
    let divisor = 10_i128.pow(scale - shown);
    let mut values = vec![first.show()];
    at += by;
    while at <= end {
        values.push(Decimal { digits: at / divisor, scale: shown }.show());
        at += by;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_exact() {
        let scan = |least, most, step| scan(least, most, step).unwrap();
        assert_eq!(scan("1", "3", None), ["1", "2", "3"]);
        assert_eq!(scan("0.3", "0.7", Some("0.2")), ["0.3", "0.5", "0.7"]);
        assert_eq!(scan("1", "2", Some("0.5")), ["1", "1.5", "2.0"]);
        assert_eq!(scan("-1", "1", Some("2")), ["-1", "1"]);
        assert_eq!(scan("-0.5", "0.05", Some("0.5")), ["-0.5", "0.0"]);
        assert_eq!(scan("0.10", "0.3", Some("0.1")), ["0.10", "0.20", "0.30"]);
        assert_eq!(scan("7", "7", None), ["7"]);
        assert_eq!(scan("0", "10", Some("4")), ["0", "4", "8"]);
    }

    #[test]
    fn scans_that_make_no_sense_are_refused() {
        for (least, most, step) in [
            ("3", "1", None),
            ("0.1", "0.5", None),
            ("0", "1", Some("0")),
            ("0", "1", Some("-1")),
            ("0", "1000000", None),
            ("a", "1", None),
            ("1e3", "2e3", None),
            ("--1", "2", None),
            ("", "2", None),
            ("0", "99999999999999999999", None),
        ] {
            assert!(scan(least, most, step).is_err(), "{least} {most} {step:?}");
        }
    }

    #[test]
    fn lists_have_escapes() {
        assert_eq!(list("a,b"), ["a", "b"]);
        assert_eq!(list(r"a\,b,c\\,\d,"), ["a,b", r"c\", r"\d", ""]);
        assert_eq!(list(""), [""]);
    }

    #[test]
    fn replacing_happens_once() {
        let values: Values =
            [("foo", "a,{bar}"), ("bar", "baz")].map(|(n, v)| (n.into(), v.into())).into();
        let text = |text: &str| replaced(OsStr::new(text), &values).into_string().unwrap();
        assert_eq!(text("echo {foo} {bar} {no} {"), "echo a,{bar} baz {no} {");
        assert_eq!(unused(OsStr::new("echo {foo}"), &values), ["bar"]);
        let bytes = of_bytes(b"\xff{bar}".to_vec());
        assert_eq!(replaced(&bytes, &values), of_bytes(b"\xffbaz".to_vec()));
    }

    #[test]
    fn lists_multiply() {
        let list = |words: &[&str]| ParameterArgs {
            parameter_list: words.iter().map(|word| (*word).to_owned()).collect(),
            ..ParameterArgs::default()
        };
        let all = list(&["x", "1,2", "y", "a,b"]).combinations().unwrap();
        let shown: Vec<String> = all.iter().map(|v| format!("{}{}", v["x"], v["y"])).collect();
        assert_eq!(shown, ["1a", "2a", "1b", "2b"]);
        assert!(list(&["x", "1", "x", "2"]).combinations().is_err());
        assert_eq!(list(&[]).combinations().unwrap(), [Values::new()]);
    }
}
