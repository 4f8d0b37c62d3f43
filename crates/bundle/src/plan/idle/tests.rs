//! Functions of compilers' start files, and others.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use super::machine::{Effect, Memory, Value, effect};
use model::BundleVa;
use std::collections::HashMap;

const START: u64 = 0x1000;
/// Where the functions are that others call.
const CLONES: u64 = 0x1400;
const STUB: u64 = 0x1800;
/// A slot of a weak function that nothing defines, and one of `__cxa_finalize`.
const NONE: u64 = 0x2000;
const FINALIZE: u64 = 0x2008;
const HANDLE: u64 = 0x3000;
/// A byte that is zero and can be written to.
const CLEAR: u64 = 0x9000;

/// Code and words.
#[derive(Default)]
struct Pieces {
    code: Vec<u8>,
    words: HashMap<u64, Value>,
}

impl Memory for Pieces {
    fn code(&self, at: BundleVa) -> &[u8] {
        at.0.checked_sub(START).and_then(|from| self.code.get(from as usize..)).unwrap_or(&[])
    }

    fn word(&self, at: BundleVa) -> Value {
        self.words.get(&at.0).copied().unwrap_or(Value::Unknown)
    }

    fn is_clear(&self, at: BundleVa) -> bool {
        at.0 == CLEAR
    }
}

impl Pieces {
    fn new() -> Pieces {
        let handle = Value::Address(BundleVa(HANDLE));
        let words = [(NONE, Value::Number(0)), (FINALIZE, Value::Finalize), (HANDLE, handle)];
        let stub = format!("ff25{{{FINALIZE:x}}}");
        Pieces { code: Vec::new(), words: HashMap::from(words) }.with(STUB, &stub)
    }

    /// Puts hexadecimal digits there. `{2000}` is the distance to that address from the end of the
    /// instruction, of which `+1` says how many bytes follow.
    fn with(mut self, at: u64, text: &str) -> Pieces {
        let mut rest = text;
        let mut bytes = Vec::new();
        while !rest.is_empty() {
            if let Some(target) = rest.strip_prefix('{') {
                let (target, behind) = target.split_once('}').unwrap();
                let (target, follows) = target.split_once('+').unwrap_or((target, "0"));
                let target = u64::from_str_radix(target, 16).unwrap();
                let end = at + bytes.len() as u64 + 4 + follows.parse::<u64>().unwrap();
                bytes.extend((target.wrapping_sub(end) as u32).to_le_bytes());
                rest = behind;
            } else {
                let (digits, behind) = rest.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = behind;
            }
        }
        let from = (at - START) as usize;
        self.code.resize(self.code.len().max(from + bytes.len()), 0xcc);
        self.code[from..from + bytes.len()].copy_from_slice(&bytes);
        self
    }

    fn effect(&self) -> Option<Effect> {
        effect(self, BundleVa(START))
    }
}

/// `register_tm_clones` of gcc 8 and later, of gcc 5 to 7, and of gcc 4.
const REGISTERS: [&str; 3] = [
    "488d3d{4000}488d35{4000}4829fe4889f048c1ee3f48c1f8034801c648d1fe7414488b05{2000}4885c07408ffe0\
     660f1f440000c3",
    "488d3d{4000}488d35{4000}554829fe4889e548c1fe034889f048c1e83f4801c648d1fe7418488b05{2000}4885c0\
     740c5dffe0660f1f8400000000005dc3",
    "488d3d{4000}488d35{4000}554829fe4889e548c1fe034889f048c1e83f4801c648d1fe75025dc3488b05{2000}4885\
     c074f25dffe0",
];

/// `deregister_tm_clones` of the same.
const DEREGISTERS: [&str; 3] = [
    "488d3d{4000}488d05{4000}4839f87415488b05{2000}4885c07409ffe00f1f8000000000c3",
    "488d3d{4000}488d05{4007}554829f84889e54883f80e7615488b05{2000}4885c074095dffe0660f1f4400005dc3",
    "488d05{4007}488d3d{4000}554829f84889e54883f80e77025dc3488b05{2000}4885c074f25dffe0",
];

/// `__do_global_dtors_aux` of gcc 8 and later, of earlier ones, and with a jump at its end.
const DESTRUCTORS: [&str; 3] = [
    "803d{9000+1}00752b5548833d{2008+1}004889e5740c488b3d{3000}e8{1800}e8{1400}c605{9000+1}015dc390c3",
    "803d{9000+1}00752748833d{2008+1}00554889e5740c488b3d{3000}e8{1800}e8{1400}5dc605{9000+1}01f3c3",
    "803d{9000+1}00752b5548833d{2008+1}004889e5740c488d3d{3000}e8{1800}e8{1400}c605{9000+1}015dc390c3",
];

/// With and without the mark of a place that may be called (CET).
fn marked(code: &str) -> [String; 2] {
    [code.to_owned(), format!("f30f1efa{code}")]
}

#[test]
fn what_crti_has_does_nothing() {
    let init = "4883ec08488b05{2000}4885c07402ffd04883c408c3";
    let through_stub = "4883ec08488b05{2000}4885c07405e8{1800}4883c408c3";
    for code in [init, through_stub, "4883ec084883c408c3", "c3", "554889e55dc3"] {
        for code in marked(code) {
            assert_eq!(Pieces::new().with(START, &code).effect(), Some(Effect::Nothing), "{code}");
        }
    }
}

#[test]
fn what_crtbegin_has_does_nothing() {
    for registers in REGISTERS {
        for code in marked("e9{1400}") {
            let pieces = Pieces::new().with(START, &code).with(CLONES, registers);
            assert_eq!(pieces.effect(), Some(Effect::Nothing), "{registers}");
        }
        // Of gcc 5 to 7, where no classes of Java are registered.
        let code = "488d3d{5000}48833f00750be9{1400}0f1f00488b05{2000}";
        let mut pieces = Pieces::new().with(START, code).with(CLONES, registers);
        pieces.words.insert(0x5000, Value::Number(0));
        assert_eq!(pieces.effect(), Some(Effect::Nothing), "{registers}");
        pieces.words.insert(0x5000, Value::Number(1));
        assert_eq!(pieces.effect(), None, "{registers}");
    }
}

#[test]
fn what_finalizes_its_module_is_known() {
    for destructors in DESTRUCTORS {
        for deregisters in DEREGISTERS {
            for code in marked(destructors) {
                let pieces = Pieces::new().with(START, &code).with(CLONES, deregisters);
                assert_eq!(
                    pieces.effect(),
                    Some(Effect::Finalizes(BundleVa(HANDLE))),
                    "{code} {deregisters}"
                );
            }
        }
    }
}

#[test]
fn what_may_do_something_is_kept() {
    let with = |word: u64, value: Value| {
        let mut pieces = Pieces::new().with(START, DESTRUCTORS[0]).with(CLONES, DEREGISTERS[0]);
        pieces.words.insert(word, value);
        pieces.effect()
    };
    assert_eq!(with(FINALIZE, Value::Finalize), Some(Effect::Finalizes(BundleVa(HANDLE))));
    // A handle that is not the module's own, a finalizer that is not the C library's, or none.
    assert_eq!(with(HANDLE, Value::Number(0)), None);
    assert_eq!(with(FINALIZE, Value::Unknown), None);
    assert_eq!(with(FINALIZE, Value::Number(0)), None);
    // Clones for transactions that do have to be registered.
    let registers = REGISTERS[0].replace("488d35{4000}", "488d35{4010}");
    let pieces = Pieces::new().with(START, "e9{1400}").with(CLONES, &registers);
    assert_eq!(pieces.effect(), Some(Effect::Nothing), "nothing defines the function that would");
    let mut pieces = Pieces::new().with(START, "e9{1400}").with(CLONES, &registers);
    pieces.words.insert(NONE, Value::Address(BundleVa(STUB)));
    assert_eq!(pieces.effect(), None);
    for code in [
        // A word or another byte is written, or a byte that was not looked at.
        "c705{9000+4}01000000c3",
        "c605{9000+1}01c3",
        "803d{9000+1}00c605{9001+1}01c3",
        // Only looked at, and only set.
        "803d{9000+1}00c3",
        "803d{9000+1}00c605{9000+1}01c3",
        // A register that belongs to the caller, a stack that is not put back, and a loop.
        "31dbc3",
        "4883ec08c3",
        "5bc3",
        "ebfe",
        // A word of a thread.
        "64488b05{2000}4885c07401ccc3",
        // A call of what is not known, a system call, a trap, and no code at all.
        "ff15{2010}c3",
        "0f05c3",
        "0f0b",
        "e9{7000}",
    ] {
        assert_eq!(Pieces::new().with(START, code).effect(), None, "{code}");
    }
}
