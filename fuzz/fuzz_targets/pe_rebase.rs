//! Any bytes as a PE image that is moved to another base: a sentence, or a way there and back.
//! No panics, and no more memory than a few times the input.
#![no_main]

use dlls::rebase::{Candidate, Mobility, Policy, RebaseOptions, examine, lay_out, rebase};
use image::pe::Pe;
use libfuzzer_sys::fuzz_target;
use model::Va;

fuzz_target!(|bytes: &[u8]| {
    // What chooses: policy, signature, checksum.
    let Some((choice, file)) = bytes.split_first() else { return };
    let Ok(pe) = Pe::parse("it", file) else { return };
    let options = RebaseOptions {
        strip_signature: choice & 1 != 0,
        checksum: choice & 2 != 0,
        keep_time_stamp: choice & 4 != 0,
    };
    let policy = match choice >> 3 & 3 {
        0 => Policy::Auto,
        1 => Policy::Cygwin,
        n => Policy::From(Va(u64::from(n) << 29)),
    };
    let examined = examine("it", &pe, options);
    let candidate = Candidate::of("it".to_owned(), &examined, Mobility::Moves);
    let Ok(places) = lay_out(&[candidate], &[], policy) else { return };
    let Some(place) = places.first() else { return };
    let before = pe.headers().base;
    let Ok(there) = rebase("it", file.to_vec(), place.base, options) else { return };
    assert!(place.base == before || examined.obstacle.is_none());
    let moved = Pe::parse("it", &there.bytes).expect("what was written is PE");
    assert_eq!(moved.headers().base, place.base);
    let moved_checksum = moved.computed_checksum();
    let Ok(back) = rebase("it", there.bytes, before, options) else { return };
    // A wrong checksum may have been the right one of the moved file by chance, and is kept right then.
    let stored = pe.headers().checksum;
    let chance = stored != pe.computed_checksum() && stored == moved_checksum;
    let untouched = !there.unbound && !options.checksum && pe.certificate_range().is_none();
    assert!(!untouched || chance || back.bytes == file);
});
