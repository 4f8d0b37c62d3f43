//! What a sealed bundle carries, where the command that makes it again fails or is killed.

use crate::common::{stderr, stdout};
use crate::killed::injected;
use crate::place::Place;
use crate::sealed::{built, text};
use crate::stage::{command, names, run};
use std::fs;
use testkit::WhenFree;

/// A sealed bundle in `out`, of a program that opens a plug-in.
struct Carrying {
    place: Place,
    out: String,
    program: String,
    plug: String,
    deep: String,
}

impl Carrying {
    fn new() -> Option<Carrying> {
        let place = built()?;
        let [out, program, plug, deep] =
            ["out", "tree/program", "tree/plugins/plug.so", "tree/lib/libdeep.so.1"]
                .map(|name| text(&place.path(name)));
        Some(Carrying { place, out, program, plug, deep })
    }

    /// The words that make it, so that it carries this.
    fn words<'a>(&'a self, include: &'a str) -> [&'a str; 7] {
        ["bundle", "--sealed", "--out", &self.out, "--include", include, &self.program]
    }

    fn make(&self, include: &str) {
        let made = run(&self.words(include));
        assert!(made.status.success(), "{}", stderr(&made));
    }

    /// The bundle that is there has all that it carries.
    fn is_whole(&self, moment: &str) {
        let told = run(&["verify", &self.out]);
        assert!(told.status.success(), "{moment}: {}", stdout(&told));
        let output = command(&self.place.path("out/run")).output_when_free();
        assert_eq!(stdout(&output), "own\n", "{moment}");
    }

    /// What is there besides the bundle's own three files.
    fn folders(&self) -> Vec<String> {
        let mut names = names(&self.place.path("out"));
        names.retain(|name| !["headstart.json", "run", "symbols.gdb"].contains(&name.as_str()));
        names
    }
}

/// The new `run` has its name already, and needs the new libraries.
#[test]
fn an_error_at_any_call_leaves_a_whole_bundle() {
    let Some(carrying) = Carrying::new() else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let mut of_new = 0;
    for call in ["linkat", "rename", "renameat2", "fsync", "unlink"] {
        let mut successes = 0;
        let mut time = 0;
        while successes < 2 {
            time += 1;
            assert!(time < 40, "{call} does not end");
            carrying.make(&carrying.plug);
            let before = fs::read(carrying.place.path("out/run")).unwrap();
            let output =
                injected(&strace, (call, "error=ENOSPC", time), &carrying.words(&carrying.deep));
            carrying.is_whole(&format!("{call} {time}: {}", stderr(&output)));
            let is_new = fs::read(carrying.place.path("out/run")).unwrap() != before;
            of_new += usize::from(is_new && !output.status.success());
            successes = if output.status.success() { successes + 1 } else { 0 };
        }
    }
    assert!(of_new > 0, "no error came after the new name");
}
