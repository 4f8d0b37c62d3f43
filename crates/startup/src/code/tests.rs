//! The code stands alone: every branch and every address it forms stays inside the preamble.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use super::*;
use crate::*;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

fn instructions() -> Vec<Instruction> {
    let (begin, end) = (directory(0), directory(1));
    let bytes = &code()[begin as usize..end as usize];
    Decoder::with_ip(64, bytes, begin, DecoderOptions::NONE).into_iter().collect()
}

fn tables() -> Tables {
    Tables {
        original: "/usr/bin/p".into(),
        original_file: "/usr/lib/p".into(),
        own_name: "run".into(),
        ..Tables::default()
    }
}

#[test]
fn every_branch_and_address_stays_inside() {
    let all = instructions();
    assert!(all.len() > 300, "{}", all.len());
    let starts: Vec<u64> = all.iter().map(Instruction::ip).collect();
    let bytes = Preamble::new(&tables()).unwrap().size();
    for instruction in &all {
        let at = instruction.ip();
        assert!(!instruction.is_invalid(), "at {at:#x}");
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::Call
                if instruction.op0_kind() == OpKind::NearBranch64 =>
            {
                let target = instruction.near_branch_target();
                assert!(starts.binary_search(&target).is_ok(), "{at:#x} to {target:#x}");
            }
            // Into the program, and to what initializes libraries.
            FlowControl::IndirectBranch if instruction.op0_register() == Register::R11 => {}
            FlowControl::IndirectCall => {
                // A resolver of dlsym or the loader's function, a slot, or one of an array.
                let resolver = instruction.op0_register() == Register::RAX;
                let by = (instruction.memory_base(), instruction.memory_index());
                let slot = matches!(by, (Register::R11 | Register::RBX, Register::R10));
                let array =
                    by == (Register::RBX, Register::None) || by == (Register::R12, Register::RBP);
                assert!(resolver || slot || array, "at {at:#x}");
            }
            FlowControl::IndirectBranch => {
                let by = (instruction.memory_base(), instruction.memory_index());
                assert_eq!(by, (Register::R11, Register::R10), "at {at:#x}");
            }
            FlowControl::Next | FlowControl::Return | FlowControl::Exception => {}
            FlowControl::Call => assert_eq!(instruction.code(), iced_x86::Code::Syscall),
            other => panic!("{other:?} at {at:#x}"),
        }
        if instruction.is_ip_rel_memory_operand() {
            let address = instruction.ip_rel_memory_address();
            assert!(address < bytes, "{at:#x} names {address:#x} of {bytes:#x}");
            // The preamble is not writable.
            assert_ne!(instruction.op0_kind(), OpKind::Memory, "written at {at:#x}");
        } else if instruction.op_kinds().any(|kind| kind == OpKind::Memory) {
            assert_ne!(instruction.memory_base(), Register::None, "an absolute address at {at:#x}");
        }
    }
}

#[test]
fn the_directory_names_code() {
    let starts: Vec<u64> = instructions().iter().map(Instruction::ip).collect();
    let wrappers = WrappedFunction::ALL.map(WrappedFunction::wrapper);
    for offset in wrappers.into_iter().chain([entry(), start(), early(), plugin_entry()]) {
        assert!(starts.binary_search(&offset).is_ok());
        // Where a processor checks the targets of indirect calls, these are allowed.
        assert_eq!(code()[offset as usize..][..4], [0xf3, 0x0f, 0x1e, 0xfa], "endbr64");
    }
    // The tables are aligned for their words.
    assert_eq!(directory(1).next_multiple_of(16), code().len() as u64);
}

#[test]
fn what_cannot_be_a_path_or_a_name_is_refused() {
    let refused = |tables: Tables| Preamble::new(&tables).unwrap_err();
    let error = refused(Tables { original: "p".into(), ..tables() });
    assert_eq!(error, BuildError::Relative("p".into()));
    let error = refused(Tables { original_file: "/a\0b".into(), ..tables() });
    assert_eq!(error, BuildError::Text("/a\0b".into()));
    let error = refused(Tables { original: "/".into(), ..tables() });
    assert_eq!(error, BuildError::Name("/".into()));
    let error = refused(Tables { own_name: "a/b".into(), ..tables() });
    assert_eq!(error, BuildError::Name("a/b".into()));
    let error = refused(Tables { own_name: "".into(), ..tables() });
    assert_eq!(error, BuildError::Text("".into()));
    let environment = vec![Variable { name: "A=B".into(), expected: None }];
    let error = refused(Tables { environment, ..tables() });
    assert_eq!(error, BuildError::Name("A=B".into()));
    let must = vec![FileRecord { path: "lib.so".into(), expected: Expected::Absent }];
    assert_eq!(refused(Tables { must, ..tables() }), BuildError::Relative("lib.so".into()));
}

#[test]
fn the_size_depends_on_texts_and_counts_alone() {
    let identity = FileIdentity { inode: 7, size: 8, modified: (1, 2), changed: (3, 4) };
    let record = |expected| FileRecord { path: "/lib/a".into(), expected };
    let with = |offset, expected| {
        let relro = vec![Protected { offset, length: 4096 }];
        let must = vec![record(expected)];
        Preamble::new(&Tables { must, relro, ..tables() }).unwrap()
    };
    let addresses = Addresses { names: Some(8), slots: -8, ..Addresses::default() };
    let one = with(0, Expected::Absent);
    let other = with(-77, Expected::File(identity));
    assert_eq!(one.size(), other.size());
    assert_eq!(one.clone().bytes(&addresses).len() as u64, one.size());
    assert_ne!(one.clone().bytes(&addresses), other.bytes(&addresses));
    assert_ne!(one.clone().bytes(&addresses), one.bytes(&Addresses::default()));
}
