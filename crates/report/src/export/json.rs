//! Results as JSON.

use serde::Serialize;

/// One JSON object, indented, with a newline at its end; the shapes are in `docs/formats.md`.
///
/// # Errors
/// Where the value cannot be written as JSON, such as a map with keys that are no strings.
pub fn json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
