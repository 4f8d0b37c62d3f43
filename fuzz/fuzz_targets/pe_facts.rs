//! Any bytes at all: the PE reader neither panics nor asks for memory or time out of proportion,
//! and what it says of them keeps its own rules.
#![no_main]

use image::pe::Pe;
use libfuzzer_sys::fuzz_target;
use model::Rva;

fuzz_target!(|bytes: &[u8]| {
    let Ok(facts) = image::pe::facts_of("fuzz", bytes) else { return };
    let length = bytes.len() as u64;
    assert!(facts.relocations.values().sum::<u64>() <= length / 2);
    assert!(facts.relocated_pages <= 2 * facts.relocation_count());
    assert!(facts.imports + facts.delay_imports <= 4 * length);
    assert!(facts.exports <= length / 4 && facts.export_names <= length / 4);
    assert!(facts.ordinals_only <= facts.exports && facts.forwarders <= facts.exports);
    let json = serde_json::to_string(&facts).expect("facts are plain data");
    assert!(json.len() < 64 * (bytes.len() + 1024));
    // As those go through it who change it.
    let file = Pe::parse("fuzz", bytes).expect("it has facts");
    for rva in [0, 0x1000, facts.size_of_image, u32::MAX].map(Rva) {
        assert!(file.offset(rva).is_none_or(|offset| offset.index() < bytes.len()));
        assert!(file.at(rva).is_none_or(|rest| rest.len() <= bytes.len()));
        let _ = file.memory::<64>(rva);
    }
    if let Ok(Some(exports)) = file.exports() {
        for (name, _) in exports.names().take(100) {
            assert!(name.len() < bytes.len());
            let _ = exports.position(name);
        }
    }
});
