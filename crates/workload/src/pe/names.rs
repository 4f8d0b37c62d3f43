//! Names of Pietrek's files and functions.

/// The program.
pub(super) const PROGRAM: &str = "LoadTimeTest.exe";

/// Bytes of a function's name beside its two numbers.
const FUNCTION_BYTES: u64 = ("LoadTimeDLL_".len() + "_func_".len()) as u64;

/// File name of a library, counted from 1.
pub(super) fn library(dll: u32) -> String {
    format!("LoadTimeDLL_{dll}.dll")
}

/// What the names of a library's functions begin with.
pub(super) fn prefix(dll: u32) -> String {
    format!("LoadTimeDLL_{dll}_func_")
}

/// Bytes of a function's name, by the digits of both numbers.
pub(super) fn function_bytes(dll_digits: u32, function_digits: u32) -> u64 {
    FUNCTION_BYTES + u64::from(dll_digits + function_digits)
}

/// Digits of a decimal number above 0.
pub(super) fn digits(number: u32) -> u32 {
    number.checked_ilog10().map_or(1, |log| log + 1)
}

/// How many of the numbers 1 … `last` have how many digits.
pub(super) fn by_digits(last: u32) -> impl Iterator<Item = (u32, u64)> {
    (1..=10).map_while(move |digits| {
        let first = 10_u64.pow(digits - 1);
        let end = (10 * first).min(u64::from(last) + 1);
        (first < end).then(|| (digits, end - first))
    })
}

/// Appends a decimal number.
pub(super) fn push_decimal(out: &mut Vec<u8>, mut number: u32) {
    let mut text = [0; 10];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// The numbers 1 … `last` as their decimal texts sort: 1, 10, 100, 11, 2.
pub(super) fn sorted(last: u32) -> impl Iterator<Item = u32> {
    std::iter::successors((last > 0).then_some(1), move |&number| {
        if number <= last / 10 {
            return Some(10 * number);
        }
        let mut next = if number == last { number / 10 } else { number } + 1;
        while next.is_multiple_of(10) {
            next /= 10;
        }
        Some(next)
    })
    .take(last as usize)
}

/// What a function returns to show which one it is: another number for every index below 2^32.
pub(super) fn identity(seed: u64, index: u32) -> u32 {
    salt(seed) ^ index
}

/// 32 bits out of a seed: the finishing step of SplitMix64.
pub(super) fn salt(seed: u64) -> u32 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_their_texts() {
        for last in [0, 1, 9, 10, 11, 99, 100, 12_345, 65_535] {
            let mut expected: Vec<u32> = (1..=last).collect();
            expected.sort_by_key(u32::to_string);
            assert_eq!(sorted(last).collect::<Vec<_>>(), expected, "{last}");
        }
    }

    #[test]
    fn digits_are_counted() {
        for last in [0, 1, 9, 10, 12_345] {
            let bytes: u64 = by_digits(last).map(|(digits, count)| u64::from(digits) * count).sum();
            let mut text = Vec::new();
            (1..=last).for_each(|number| push_decimal(&mut text, number));
            assert_eq!(bytes, text.len() as u64, "{last}");
            assert_eq!(text, (1..=last).map(|n| n.to_string()).collect::<String>().as_bytes());
            assert_eq!(digits(last), last.to_string().len() as u32);
        }
        assert_eq!(by_digits(u32::MAX).map(|(_, count)| count).sum::<u64>(), u32::MAX.into());
    }
}
