//! `headstart trace --import`: a trace is taken for what it is, and for nothing else.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run, stderr};
use std::fs;
use std::path::PathBuf;

/// A trace of each format, by the name that `--import` has for it.
fn traces() -> [(&'static str, Vec<u8>); 4] {
    let sancov = [0xc0bf_ffff_ffff_ff64_u64, 0x1ba66].map(u64::to_le_bytes).concat();
    let native = "{\"schema\":1,\"recorder\":\"headstart\",\"command\":[\"a\"],\"weight\":1.0,\
                  \"modules\":[]}\n{\"calls\":0}\n";
    [
        ("headstart", native.into()),
        ("openoffice", "a.dll, Baseaddress: 0x03aa0000\n1, 0x03ab74d0, 1\n".into()),
        ("proftext", ":ir\n:temporal_prof_traces\n1\n1\n1\nmain\n".into()),
        ("sancov", sancov),
    ]
}

#[test]
fn a_trace_of_another_format_than_the_named_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let import = |format: &str, trace: &PathBuf| {
        let _ = fs::remove_file(&out);
        let paths = [&out, trace].map(|path| path.to_str().unwrap());
        run(&["trace", "--import", format, "--out", paths[0], paths[1]])
    };
    for (is, bytes) in traces() {
        let path = folder.path().join("t");
        fs::write(&path, bytes).unwrap();
        for format in ["auto", "openoffice", "proftext", "sancov", "uftrace"] {
            let output = import(format, &path);
            let said = stderr(&output);
            if format == is || format == "auto" {
                assert_eq!(output.status.code(), Some(0), "{is} as {format}: {said}");
                assert!(out.is_file());
                continue;
            }
            assert_eq!(output.status.code(), Some(2), "{is} as {format}: {said}");
            assert!(said.contains("t' is a ") && said.to_lowercase().contains(is), "{said}");
            assert!(said.contains("leave out --import, or give --import auto"), "{said}");
            assert!(!out.exists(), "{is} as {format}");
        }
    }
}

#[test]
fn a_folder_of_uftrace_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("info"), "x").unwrap();
    let output = run(&["trace", "--import", "sancov", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is a folder of uftrace"), "{}", stderr(&output));
}
