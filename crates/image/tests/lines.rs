//! Source lines by address: against addr2line of binutils.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod binutils;

use binutils::{binutils, run};
use std::path::Path;

const SOURCE: &str = r#"
volatile int total;
__attribute__((noinline)) void add(int x)
{
    total += x;
    total ^= x << 3;
}
int main(int count, char **arguments)
{
    (void)arguments;
    add(count);
    return total;
}
"#;

/// Virtual addresses of the program's own functions, byte by byte.
fn addresses(nm: &Path, program: &Path) -> Vec<u64> {
    let text = run(nm, &["-S", program.to_str().unwrap()]);
    let hex = |word: &str| u64::from_str_radix(word, 16).unwrap();
    let own = text.lines().filter(|line| line.ends_with(" add") || line.ends_with(" main"));
    own.flat_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        hex(words[0])..hex(words[0]) + hex(words[1])
    })
    .collect()
}

/// The last part of the file's name and the line, as addr2line prints them.
fn by_addr2line(addr2line: &Path, program: &Path, addresses: &[u64]) -> Vec<String> {
    let hex: Vec<String> = addresses.iter().map(|address| format!("{address:#x}")).collect();
    let words: Vec<&str> = ["-s", "-e", program.to_str().unwrap()]
        .into_iter()
        .chain(hex.iter().map(|h| &**h))
        .collect();
    let text = run(addr2line, &words);
    // A discriminator tells parts of one line apart.
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn ours(program: &Path, debug_folder: &Path, addresses: &[u64]) -> Vec<String> {
    let told = |line: Option<image::Line>| {
        line.map_or("??:0".to_owned(), |line| {
            format!("{}:{}", line.file.rsplit('/').next().unwrap(), line.line)
        })
    };
    image::lines(program, debug_folder, addresses).into_iter().map(told).collect()
}

#[test]
fn lines_equal_those_of_addr2line() {
    let (Some(cc), Some(nm)) = (testkit::tool("cc"), binutils("nm")) else { return };
    let (Some(addr2line), Some(objcopy)) = (binutils("addr2line"), binutils("objcopy")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    for flags in [&["-g", "-O2"][..], &["-g", "-O0", "-gz"], &["-gdwarf-4", "-O1"]] {
        let build = [flags, &["-Wl,--build-id"]].concat();
        let program = testkit::compile(&cc, folder.path(), "program", SOURCE, &build);
        let addresses = addresses(&nm, &program);
        assert!(addresses.len() > 20);
        let wanted = by_addr2line(&addr2line, &program, &addresses);
        assert!(wanted.iter().any(|line| line == "program.c:6"), "{wanted:?}");
        assert_eq!(ours(&program, &nowhere, &addresses), wanted, "{flags:?}");

        // Stripped, with the debug file where packages of debug information put it.
        let id = image::elf::facts(&program).unwrap().build_id.unwrap();
        let place = folder.path().join("debug/.build-id").join(&id[..2]);
        std::fs::create_dir_all(&place).unwrap();
        let (debug, program) =
            (place.join(format!("{}.debug", &id[2..])), program.to_str().unwrap());
        run(&objcopy, &["--only-keep-debug", program, debug.to_str().unwrap()]);
        run(&objcopy, &["--strip-all", program]);
        let program = Path::new(program);
        assert_eq!(ours(program, &folder.path().join("debug"), &addresses), wanted);
        let none = ours(program, &nowhere, &addresses);
        assert!(none.len() == addresses.len() && none.iter().all(|line| line == "??:0"));
    }
}

#[test]
fn what_is_no_image_has_no_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for bytes in [&b""[..], b"text", b"\x7fELF\x02\x01\x01"] {
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(image::lines(&file, folder.path(), &[0, u64::MAX]), [None, None]);
    }
    assert_eq!(image::lines(&folder.path().join("absent"), folder.path(), &[1]), [None]);
}
