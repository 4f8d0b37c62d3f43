//! Programs that a sanitizer watches over.

use crate::place::Place;
use crate::refused::{MAIN, refused};
use std::process::Command;

/// The bundle of the first one of these ended with "ASan runtime does not come first in initial
/// library list", or with another check of the sanitizer's own.
#[test]
fn they_are_declined() {
    let Some(place) = Place::new() else { return };
    let strip = testkit::tool("strip");
    for (flags, says) in [
        (&["-fsanitize=address"][..], "AddressSanitizer (-fsanitize=address): it uses libasan"),
        (&["-fsanitize=thread"], "ThreadSanitizer (-fsanitize=thread): it uses libtsan"),
        (&["-fsanitize=leak"], "LeakSanitizer (-fsanitize=leak): it uses liblsan"),
        (&["-fsanitize=address", "-static-libasan"], "AddressSanitizer"),
        (&["-fsanitize=thread", "-static-libtsan"], "ThreadSanitizer"),
        (&["-fsanitize=leak", "-static-liblsan"], "LeakSanitizer"),
    ] {
        let program = place.built("program", MAIN, flags);
        refused(&[], &program, 1, says);
        let Some(strip) = &strip else { continue };
        assert!(Command::new(strip).arg(&program).status().unwrap().success());
        refused(&[], &program, 1, says);
    }
}

/// It only prints, and does not mind where it is.
#[test]
fn that_for_undefined_behavior_is_merged() {
    let Some(place) = Place::new() else { return };
    let main = "#include <stdio.h>\nint main(int count, char **words) { (void)words;\n\
        volatile int large = 0x7fffffff; return printf(\"%d\\n\", large + count) < 0; }";
    for more in [&["-fsanitize=undefined"][..], &["-fsanitize=undefined", "-static-libubsan"]] {
        place.same(&place.built("program", main, more));
    }
}

/// Its allocator is the program's, as without a bundle.
#[test]
fn texts_about_a_sanitizer_are_none() {
    let Some(place) = Place::new() else { return };
    let main = "#include <stdio.h>\n#include <stdlib.h>\nvoid free(void *at) { (void)at; }\n\
        static char heap[1 << 20]; static size_t used;\n\
        void *malloc(size_t size) { void *at = heap + used; used += (size + 15) & ~15; return at; }\n\
        int main(void) { return puts(getenv(\"ASAN_OPTIONS\") ? \"sanitizer_common\" : \"none\") < 0; }";
    place.same(&place.built("program", main, &["-rdynamic"]));
}
