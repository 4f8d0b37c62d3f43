//! The program that loads libraries, under Wine.

use std::fs;
use testkit::pe::Wine;
use workload::pe::load_records::{LoadMark, records};
use workload::pe::loads;

const MARK: LoadMark = LoadMark(*b"0123456789abcdef");
const FUNCTION: &[u8] = b"LdrRegisterDllNotification\0";

fn program() -> Vec<u8> {
    let names = ["kernel32.dll", "version.dll"].map(|name| name.encode_utf16().collect());
    loads::program(&names, MARK).expect("a program")
}

fn path(units: &[u16]) -> String {
    String::from_utf16_lossy(units).to_lowercase()
}

#[test]
fn modules_are_counted_if_the_loader_reports_nothing() {
    let Some(wine) = Wine::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut image = program();
    let name = image.windows(FUNCTION.len()).position(|part| part == FUNCTION).expect("its name");
    for is_there in [true, false] {
        if !is_there {
            image[name..name + 3].copy_from_slice(b"No_");
        }
        fs::write(folder.path().join(loads::PROGRAM), &image).expect("a file");
        let printed = wine.printed(folder.path(), &[loads::PROGRAM]);
        let found = records(&printed.stdout, MARK);
        assert_eq!(found.len(), 3, "{printed:?}");
        assert_eq!((found[0].number, found[2].number), (None, Some(1)));
        assert!(found.iter().all(|record| !record.lost && record.between == 0), "{found:?}");
        assert_eq!(found[1].modules, 0, "it is in every process");
        assert!(found[2].error.is_none() && found[2].modules >= 1, "{found:?}");
        let arrivals = found[2].arrivals.as_ref();
        assert_eq!(arrivals.is_some(), is_there, "{found:?}");
        let Some(own) = arrivals.and_then(|arrivals| arrivals.last()) else { continue };
        assert_eq!(path(&own.path), path(&found[2].path));
        assert!(own.is_whole && !own.by_other_thread && own.left_at_us.is_none(), "{own:?}");
        assert!(own.at_us > 0.0 && own.at_us < found[2].us, "{found:?}");
    }
}

/// The ring of notices is zeros, which take no space in the file.
#[test]
fn the_program_is_small() {
    assert!(program().len() < 32 << 10, "{}", program().len());
}
