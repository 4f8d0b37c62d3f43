//! Times of Windows (FILETIME) as text.

/// Units of a FILETIME, 100 ns each, in a second.
const SECOND: u64 = 10_000_000;
/// From 1601, where FILETIME begins, to 1970.
const DAYS_TO_1970: u64 = 134_774;

/// `2013-03-10T10:11:49.2812500Z`; `None` for 0, which stands for no time.
pub(super) fn utc(filetime: u64) -> Option<String> {
    if filetime == 0 {
        return None;
    }
    let (seconds, rest) = (filetime / SECOND, filetime % SECOND);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days as i64 - DAYS_TO_1970 as i64);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:07}Z"))
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar: Howard Hinnant,
/// *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_other_readers() {
        // `date -u -d @0`, and what sccainfo prints of a file of Windows XP.
        assert_eq!(utc(0), None);
        assert_eq!(utc(116_444_736_000_000_000).unwrap(), "1970-01-01T00:00:00.0000000Z");
        assert_eq!(utc(1).unwrap(), "1601-01-01T00:00:00.0000001Z");
        assert_eq!(utc(130_073_839_092_812_500).unwrap(), "2013-03-10T10:11:49.2812500Z");
        let leap = 116_444_736_000_000_000 + 951_782_400 * SECOND;
        assert_eq!(utc(leap).unwrap(), "2000-02-29T00:00:00.0000000Z");
        assert!(utc(u64::MAX).unwrap().starts_with("60056-"));
    }
}
