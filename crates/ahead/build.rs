//! Builds the program that every launcher begins with: one static executable without libraries,
//! so that a cold start of it reads a page or two.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=src");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("the program of launchers cannot be built: {why}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).map_err(|why| format!("{name}: {why}"));
    let out = PathBuf::from(variable("OUT_DIR")?).join("launcher");
    let target = variable("TARGET")?;
    if !target.starts_with("x86_64-") || !target.contains("-linux-") {
        return std::fs::write(&out, []).map_err(|why| why.to_string());
    }
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.args(["--edition", "2024", "--crate-type", "bin", "--crate-name", "launcher"]);
    rustc.args(["--target", &target, "-C", "opt-level=z", "-C", "panic=abort"]);
    rustc.args(["-C", "codegen-units=1", "-C", "lto=fat"]);
    // Sequences that occur twice become functions.
    rustc.args(["-C", "llvm-args=-enable-machine-outliner=always"]);
    rustc.args(["-C", "relocation-model=static", "-C", "target-feature=+crt-static"]);
    rustc.args(["-C", "strip=symbols", "-C", "default-linker-libraries=no"]);
    for word in ["-nostdlib", "-nostartfiles", "-static", "-no-pie"] {
        rustc.arg("-C").arg(format!("link-arg={word}"));
    }
    for word in ["--build-id=none", "-n", "-T,src/code/launcher.ld"] {
        rustc.arg("-C").arg(format!("link-arg=-Wl,{word}"));
    }
    rustc.arg(Path::new("src/code/main.rs")).arg("-o").arg(&out);
    let status = rustc.status().map_err(|why| format!("{rustc:?}: {why}"))?;
    if status.success() { Ok(()) } else { Err(format!("{rustc:?}: {status}")) }
}
