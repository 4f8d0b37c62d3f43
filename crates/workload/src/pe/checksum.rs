/// The checksum of an image file: the 16-bit ones' complement sum of its words, without the four
/// bytes at `field`, and the file's size added to it.
///
/// The format leaves the algorithm to `CheckSumMappedFile` of IMAGEHLP.DLL. Sums of wider words
/// fold to the same 16 bits. `field` is a multiple of four.
pub(super) fn checksum(bytes: &[u8], field: usize) -> u32 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from(u32::from_le_bytes(word))
    };
    // 2^32 words of 2^32 each at most: no overflow below 16 GiB.
    let all: u64 = bytes.chunks(4).map(word).sum();
    let mut sum = all - bytes.get(field..field + 4).map_or(0, word);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (sum as u32).wrapping_add(bytes.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The algorithm word by word, as IMAGEHLP.DLL does it.
    fn by_words(bytes: &[u8], field: usize) -> u32 {
        let mut sum = 0_u32;
        for (index, pair) in bytes.chunks(2).enumerate() {
            let inside = (field..field + 4).contains(&(2 * index));
            let high = pair.get(1).copied().unwrap_or(0);
            sum += if inside { 0 } else { u32::from(u16::from_le_bytes([pair[0], high])) };
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum + bytes.len() as u32
    }

    #[test]
    fn wide_sums_fold_to_the_same() {
        for bytes in [0_usize, 3, 8, 600, 601, 602, 70_000] {
            let data: Vec<u8> = (0..bytes).map(|index| ((index * 7919) >> 3) as u8).collect();
            assert_eq!(checksum(&data, 152), by_words(&data, 152), "{bytes} bytes");
            let ones = vec![0xff; bytes];
            assert_eq!(checksum(&ones, 152), by_words(&ones, 152), "{bytes} ones");
        }
    }

    #[test]
    fn the_linker_computes_the_same() {
        let Some(clang) = testkit::tool("clang-19") else { return };
        let Some(lld) = testkit::tool("lld-link-19") else { return };
        let folder = tempfile::tempdir().expect("a folder");
        let flags = ["--target=x86_64-pc-windows-msvc", "-ffreestanding", "-c"];
        for numbers in [1, 5000] {
            let source = format!("int numbers[{numbers}] = {{7}}; int f(void) {{ return 1; }}");
            let object = testkit::compile(&clang, folder.path(), "x.obj", &source, &flags);
            let output = folder.path().join("x.dll");
            let mut link = std::process::Command::new(&lld);
            link.args(["/dll", "/noentry", "/release"]).arg(object);
            let status = link.arg(format!("/out:{}", output.display())).status();
            assert!(status.expect("the linker runs").success());
            let bytes = std::fs::read(&output).expect("a library");
            let number =
                |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let field = number(60) as usize + 4 + 20 + 64;
            assert_ne!(number(field), 0);
            assert_eq!(checksum(&bytes, field), number(field), "{numbers}");
        }
    }
}
