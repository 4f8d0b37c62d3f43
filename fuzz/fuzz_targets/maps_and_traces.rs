//! Any bytes at all as a linker's map, a trace of functions, or a PDB file: what it says, or an
//! error with the line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ordering::{maps, trace};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(map) = maps::read("map", bytes) {
        assert!(map.symbols.is_sorted_by_key(|symbol| symbol.va));
        assert!(map.symbols.len() <= bytes.len());
    }
    match trace::read("trace", bytes) {
        Ok(traces) => {
            for trace in traces {
                let again = trace::native::read("again", &trace::native::write(&trace));
                assert_eq!(again.expect("its own file").calls, trace.calls);
            }
        }
        Err(error) => assert!(error.line > 0),
    }
    let symbols = image::pe::pdb_symbols("pdb", bytes).unwrap_or_default();
    assert!(symbols.len() <= bytes.len());
});
