//! For the `build.rs` of a Rust package. rustc gives each function a section without being asked,
//! and warns of gold.

use super::words::for_linker;
use crate::write::Linker;

pub(super) fn snippet(linker: Linker, file: &str) -> Option<String> {
    const FILE: &str = "{order}";
    if linker == Linker::Gold {
        return None;
    }
    let words = for_linker(linker, FILE)?;
    let line = |word: &String| format!("    println!(\"cargo:rustc-link-arg-bins={word}\");\n");
    let lines: String = words.iter().map(line).collect();
    Some(format!(
        "// build.rs, beside Cargo.toml; if there is one already, add these lines to its main function.
fn main() {{
    let order = std::path::Path::new(env!(\"CARGO_MANIFEST_DIR\")).join({file:?});
    let order = order.display();
    println!(\"cargo:rerun-if-changed={{order}}\");
{lines}}}
"
    ))
}
