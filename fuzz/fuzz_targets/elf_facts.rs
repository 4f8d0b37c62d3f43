//! Any bytes at all: the ELF reader neither panics nor asks for memory out of proportion, and what
//! it says of them keeps its own rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(facts) = image::elf::facts_of("fuzz", bytes) else { return };
    let all = facts.relocation_count();
    assert!(facts.link_time_relocations <= all);
    assert!(facts.relative_relocations + facts.irelative_relocations <= all);
    assert!(facts.symbolic_relocations <= all && facts.plt_relocations <= all);
    assert!(facts.relocation_table_bytes <= bytes.len() as u64);
    // A word of RELR stands for 63 relocations at most, and a relocation writes to one page.
    assert!(all <= 63 * facts.relocation_table_bytes);
    assert!(facts.relocated_pages <= all);
    let symbols = facts.imports + facts.exports;
    assert!(symbols <= bytes.len() as u64 / 16);
    let json = serde_json::to_string(&facts).expect("facts are plain data");
    assert!(json.len() < 64 * (bytes.len() + 1024));
});
