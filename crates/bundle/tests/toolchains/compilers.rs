//! The compilers of the machine do as bundles what they do unbundled: the same output and the same objects.

use bundle::{BundleOptions, ToolchainRequest, make_toolchain};
use model::toolchain::Toolchain;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const C: &str = "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", __LINE__); return 0; }\n";
const CXX: &str =
    "#include <string>\nstd::string f(int n) { return std::to_string(n) + __FILE__; }\n";
const MACRO: &str = "extern crate proc_macro;\nuse proc_macro::TokenStream;\n\
    #[proc_macro]\npub fn seven(_: TokenStream) -> TokenStream { \"7\".parse().unwrap() }\n";
const USER: &str = "pub fn f() -> u8 { made::seven!() }\n";

/// A toolchain whose bundles leave these libraries outside: large ones take long to merge.
fn made(toolchain: Toolchain, program: &Path, outside: &[&str], fixed: bool) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let outside = outside.iter().map(|&name| name.to_owned()).collect();
    let request = ToolchainRequest {
        toolchain,
        program: Some(program.to_owned()),
        options: BundleOptions { fixed, outside, ..BundleOptions::default() },
    };
    make_toolchain(&request, out.path(), &mut |_| ()).unwrap();
    out
}

/// What a launch leaves in a new folder, its output, and how it ended.
fn outcome(
    folder: &Path,
    program: &Path,
    arguments: &[&str],
    first_in_path: &Path,
) -> BTreeMap<String, Vec<u8>> {
    fs::create_dir(folder).unwrap();
    for (name, source) in [("a.c", C), ("b.cc", CXX), ("made.rs", MACRO), ("user.rs", USER)] {
        fs::write(folder.join(name), source).unwrap();
    }
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PWD", "/");
    for name in ["RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_TARGET_DIR", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    command.env("HEADSTART_STALE", "never");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = [first_in_path.to_owned()].into_iter().chain(std::env::split_paths(&others));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    let output = command.output().unwrap();
    let own = folder.to_str().unwrap();
    // Names of temporary files differ from launch to launch.
    let same = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).replace(own, "FOLDER");
        let words = text.split_inclusive([' ', '\n', '"', ':', '=']);
        let temporary = |word: &str| word.starts_with("/tmp/") && !word.contains("FOLDER");
        words.map(|word| if temporary(word) { "TEMPORARY " } else { word }).collect::<String>()
    };
    let mut found = BTreeMap::from([
        ("stdout".to_owned(), same(&output.stdout).into_bytes()),
        ("stderr".to_owned(), same(&output.stderr).into_bytes()),
        ("status".to_owned(), output.status.to_string().into_bytes()),
    ]);
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        found.insert(name, fs::read(entry.path()).unwrap());
    }
    fs::remove_dir_all(folder).unwrap();
    found
}

/// Holds each launch by a name in `folder`, which is first in PATH, against that of the original.
fn same(folder: &Path, original: &Path, name: &str, launches: &[&[&str]]) {
    let work = tempfile::tempdir().unwrap();
    let work = work.path().canonicalize().unwrap().join("work");
    for &arguments in launches {
        let expected = outcome(&work, &original.join(name), arguments, folder);
        let found = outcome(&work, &folder.join(name), arguments, folder);
        let keys: Vec<_> = expected.keys().chain(found.keys()).collect();
        let differs = keys.into_iter().find(|key| expected.get(*key) != found.get(*key));
        let text = |of: &BTreeMap<String, Vec<u8>>| {
            differs.and_then(|key| of.get(key)).map(|it| String::from_utf8_lossy(it).into_owned())
        };
        assert!(
            differs.is_none(),
            "{name} {arguments:?}: {differs:?}\n{:?}\n{:?}",
            text(&expected),
            text(&found)
        );
    }
}

/// Launches that both C compilers know.
const BOTH: [&[&str]; 8] = [
    &["-O1", "-c", "a.c"],
    &["-O1", "-c", "b.cc"],
    &["a.c", "-o", "program"],
    &["-v", "-c", "a.c"],
    &["-###", "a.c"],
    &["-print-search-dirs"],
    &["-print-prog-name=ld"],
    &["-c", "missing.c"],
];

#[test]
fn gcc_does_the_same() {
    let (Some(gcc), Some(_)) = (testkit::tool("gcc"), testkit::tool("g++")) else { return };
    let original = gcc.parent().unwrap();
    let out = made(Toolchain::Gcc, &gcc, &[], true);
    let own = [
        &["-flto", "-frandom-seed=1", "-c", "a.c"][..],
        &["-print-prog-name=cc1"],
        &["-pipe", "-c", "a.c"],
        &["-flto", "-frandom-seed=1", "a.c", "-o", "program"],
    ];
    for name in ["gcc", "g++"] {
        same(out.path(), original, name, &BOTH);
        same(out.path(), original, name, &own);
    }
}

/// It takes most of a minute to merge them.
#[test]
#[ignore = "merging clang and lld takes long"]
fn clang_does_the_same() {
    let Some(clang) = testkit::tool("clang-19") else { return };
    let out = made(Toolchain::Clang, &clang, &[], true);
    let file = clang.canonicalize().unwrap();
    let own = [
        &["-print-resource-dir"][..],
        &["-flto", "-c", "a.c"],
        &["-c", "a.c", "b.cc"],
        &["-fno-integrated-cc1", "-c", "a.c"],
        &["-no-canonical-prefixes", "-###", "a.c"],
    ];
    for name in ["clang", "clang++"] {
        same(out.path(), file.parent().unwrap(), name, &BOTH);
        same(out.path(), file.parent().unwrap(), name, &own);
    }
}

#[test]
fn rustc_does_the_same() {
    let Some(rustc) = testkit::tool("rustc") else { return };
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output().unwrap();
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).unwrap().trim());
    let original = sysroot.join("bin");
    let out = made(Toolchain::Rustc, &original.join("rustc"), &["libLLVM"], false);
    let launches = [
        &["--print", "sysroot"][..],
        &["-vV"],
        &["--crate-type", "lib", "-O", "--emit=obj,metadata", "made.rs"],
        &["--crate-type", "lib", "missing.rs"],
    ];
    same(out.path(), &original, "rustc", &launches);
    // A compiler that loads what a bundle has compiled.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("made.rs"), MACRO).unwrap();
    fs::write(folder.path().join("user.rs"), USER).unwrap();
    let compiled = |arguments: &[&str]| {
        let mut command = Command::new(out.path().join("rustc"));
        command.args(arguments).current_dir(folder.path()).env("HEADSTART_STALE", "never");
        let output = command.env_remove("CARGO_TARGET_DIR").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compiled(&["--crate-type", "proc-macro", "made.rs"]);
    compiled(&["--crate-type", "lib", "user.rs", "--extern", "made=libmade.so"]);
}
