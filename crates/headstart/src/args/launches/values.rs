//! Parsers of single values that launches and their times have.

use model::Until;
use std::time::Duration;

/// `5%`, `0.5 %`: a fraction. A bare number is refused, as it could mean either.
pub fn fraction(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').ok_or("write it as a percentage, such as 1%")?;
    match number.trim().parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent > 0.0 => Ok(percent / 100.0),
        _ => Err("write it as a percentage above 0, such as 1%".to_owned()),
    }
}

/// `60s`, `2min`, `500ms`, `1.5h`; a bare number is seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time such as 60s, 500ms or 2min".to_owned();
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * scale;
    if seconds <= 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Failures that do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// All of them.
    All,
    /// Those with these exit codes.
    Codes(Vec<i32>),
}

/// `all-non-zero`, or exit codes: `1,2`; those of Windows also without a sign or in hexadecimal digits,
/// as statuses are shown (`c0000005`).
pub fn ignored(text: &str) -> Result<Ignored, String> {
    if matches!(text, "" | "all-non-zero") {
        return Ok(Ignored::All);
    }
    let codes: Option<Vec<i32>> = text.split(',').map(|code| exit_code(code.trim())).collect();
    codes.map(Ignored::Codes).ok_or_else(|| "write exit codes such as 1,2".to_owned())
}

fn exit_code(text: &str) -> Option<i32> {
    let unsigned = || text.parse::<u32>().ok().map(u32::cast_signed);
    // A status has eight digits, and the first is a letter or 8 and more: no number of a code is that.
    let status = || {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_status = digits.len() == 8
            && (text.starts_with("0x") || digits.starts_with(['c', 'C', 'e', 'E']));
        is_status.then(|| u32::from_str_radix(digits, 16).ok().map(u32::cast_signed)).flatten()
    };
    text.parse().ok().or_else(unsigned).or_else(status)
}

/// `--run DIR`: what it is called now.
pub fn renamed(_: &str) -> Result<std::path::PathBuf, String> {
    Err("'--run' is now '--save'".to_owned())
}

/// `exit`, `entry`, `output:REGEX`, `port:N`, `file:PATH`.
pub fn until(text: &str) -> Result<Until, String> {
    let forms = "write exit, entry, output:REGEX, port:NUMBER or file:PATH";
    let (kind, value) = text.split_once(':').unwrap_or((text, ""));
    match (kind, value) {
        ("exit", "") => Ok(Until::Exit),
        ("entry", "") => Ok(Until::Entry),
        ("output" | "port" | "file", "") => Err(forms.to_owned()),
        ("output", pattern) => match os::launcher::pattern(pattern) {
            Ok(_) => Ok(Until::Output(pattern.to_owned())),
            Err(error) => Err(error.to_string()),
        },
        ("port", number) => match number.parse() {
            Ok(port) if port > 0 => Ok(Until::Port(port)),
            _ => Err("a port is a number from 1 to 65535".to_owned()),
        },
        ("file", path) => Ok(Until::File(path.to_owned())),
        _ => Err(forms.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        assert_eq!(fraction("5%"), Ok(0.05));
        assert_eq!(fraction("0.5 %"), Ok(0.005));
        for wrong in ["5", "0%", "-1%", "x%", "%", "inf%", ""] {
            assert!(fraction(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times() {
        for (text, milliseconds) in
            [("60", 60_000), ("60s", 60_000), ("500ms", 500), ("2min", 120_000), ("1.5 s", 1500)]
        {
            assert_eq!(seconds(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["", "0", "-1", "5x", "s", "1..2", "1e9999", "99999999999999999999h"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn exit_codes_are_numbers_or_statuses_as_they_are_shown() {
        assert_eq!(ignored("1, -3"), Ok(Ignored::Codes(vec![1, -3])));
        let violation = Ok(Ignored::Codes(vec![0xc000_0005_u32.cast_signed()]));
        for text in ["c0000005", "0xC0000005", "3221225477", "-1073741819"] {
            assert_eq!(ignored(text), violation, "{text}");
        }
        for wrong in ["x", "1,,2", "c5", "4294967296"] {
            assert!(ignored(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn conditions() {
        assert_eq!(until("output:a:b$"), Ok(Until::Output("a:b$".to_owned())));
        assert_eq!(until("port:80"), Ok(Until::Port(80)));
        assert_eq!(until("file:/run/x"), Ok(Until::File("/run/x".to_owned())));
        for wrong in ["", "port:", "port:0", "port:70000", "output:(", "exit:1", "ready"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}
