//! In plain words, what is wrong with a line of headstart's own traces that could not be read.
//!
//! The words of the JSON reader tell of types of Rust. So the line is looked at again, part by part.

use super::problem::TraceProblem;
use crate::lines::hexadecimal;
use model::FunctionTrace;
use serde_json::{Map, Value};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Call,
    End,
}

/// Why a line of this kind cannot be read.
pub(super) fn of(bytes: &[u8], kind: Kind) -> TraceProblem {
    let value = match std::str::from_utf8(bytes).map(serde_json::from_str) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => return TraceProblem::Json(no_json(&error)),
        Err(error) => {
            let column = error.valid_up_to() + 1;
            return TraceProblem::Json(format!("what is at column {column} is not UTF-8"));
        }
    };
    let found = match (kind, value) {
        (Kind::Header, Value::Object(fields)) => header(&fields),
        (Kind::Call, Value::Array(parts)) => call(&parts),
        (Kind::End, Value::Object(fields)) => end(&fields),
        (Kind::Call, _) => "it is not an array in brackets".to_owned(),
        (Kind::Header | Kind::End, _) => "it is not an object in braces".to_owned(),
    };
    TraceProblem::Json(found)
}

fn no_json(error: &serde_json::Error) -> String {
    match error.is_eof() {
        true => "its end is missing".to_owned(),
        false => format!("it is not JSON at column {}", error.column()),
    }
}

/// Tries each field in a header that is otherwise right.
fn header(fields: &Map<String, Value>) -> String {
    if !fields.get("schema").is_some_and(is_u32) {
        return "\"schema\" is missing, or not a whole number".to_owned();
    }
    let Ok(Value::Object(right)) = serde_json::to_value(FunctionTrace::default()) else {
        return UNKNOWN.to_owned();
    };
    let is_right = |fields| serde_json::from_value::<FunctionTrace>(Value::Object(fields)).is_ok();
    for key in right.keys().filter(|key| !fields.contains_key(*key)) {
        let mut without = right.clone();
        without.remove(key);
        if !is_right(without) {
            return format!("\"{key}\" is missing");
        }
    }
    for (key, value) in fields {
        let mut with = right.clone();
        with.insert(key.clone(), value.clone());
        if !is_right(with) {
            return format!("\"{key}\" has no value that it can have");
        }
    }
    UNKNOWN.to_owned()
}

/// Nothing that is known to happen: for instance a field that is there twice.
const UNKNOWN: &str = "it has not the fields of such a line, each once";

fn call(parts: &[Value]) -> String {
    /// A part's name, whether a value can be that, and what it has to be.
    type Part = (&'static str, fn(&Value) -> bool, &'static str);
    const NUMBER: &str = "a whole number from 0 to 4294967295";
    const PARTS: [Part; 6] = [
        ("program", is_u32, NUMBER),
        ("module", is_u32, NUMBER),
        ("address", is_rva, "a text from \"0x0\" to \"0xffffffff\""),
        ("size", is_u32, NUMBER),
        ("name", Value::is_string, "a text"),
        ("count", Value::is_u64, "a whole number"),
    ];
    let wrong = PARTS.iter().zip(parts).find(|((_, is_right, _), part)| !is_right(part));
    match wrong {
        Some(((name, _, wanted), part)) => {
            let part: String = part.to_string().chars().take(SHOWN).collect();
            format!("its {name}, {part}, is not {wanted}")
        }
        None => match PARTS.get(parts.len()) {
            Some((name, ..)) => format!("its {name} is missing"),
            None => format!("it has {} parts, and a call has 5 or 6", parts.len()),
        },
    }
}

/// So much of a part is shown.
const SHOWN: usize = 40;

fn end(fields: &Map<String, Value>) -> String {
    match fields.get("calls").is_some_and(Value::is_u64) {
        true => UNKNOWN.to_owned(),
        false => "\"calls\" is not a whole number".to_owned(),
    }
}

fn is_u32(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| u32::try_from(number).is_ok())
}

fn is_rva(value: &Value) -> bool {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits.and_then(|digits| hexadecimal(digits.as_bytes()).ok());
    number.is_some_and(|number| u32::try_from(number).is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use crate::trace::native;
    use model::FunctionTrace;

    /// A trace of one module with this line behind its header.
    fn refused(line: &str) -> String {
        let trace = FunctionTrace { modules: vec![Default::default()], ..Default::default() };
        let trace = FunctionTrace { weight: 1.0, ..trace };
        let header = String::from_utf8(native::write_header(&trace)).unwrap();
        let text = match line.strip_prefix("header ") {
            Some(change) => {
                let (from, to) = change.split_once(" -> ").unwrap();
                assert!(header.contains(from), "{header}");
                header.replace(from, to)
            }
            None => format!("{header}{line}\n"),
        };
        native::read("t", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_said_without_names_of_types() {
        for (line, words) in [
            ("[-1,0,\"0x1\",1,\"f\"]", "its program, -1, is not a whole number from 0 to"),
            ("[0,\"x\",\"0x1\",1,\"f\"]", "its module, \"x\", is not a whole number from 0 to"),
            ("[0,0,16,1,\"f\"]", "its address, 16, is not a text from \"0x0\" to"),
            ("[0,0,\"1\",1,\"f\"]", "its address, \"1\", is not a text from \"0x0\" to"),
            ("[0,0,\"\\u0030x1g\",1,\"f\"]", "its address, \"0x1g\", is not"),
            ("[0,0,\"0x1\",4294967296,\"f\"]", "its size, 4294967296, is not a whole number"),
            ("[0,0,\"0x1\",1,null]", "its name, null, is not a text"),
            ("[0,0,\"0x1\",1,\"f\",1.5]", "its count, 1.5, is not a whole number"),
            ("[0,0,\"0x1\"]", "its size is missing"),
            ("[]", "its program is missing"),
            ("[0,0,\"0x1\",1,\"f\",1,1]", "it has 7 parts, and a call has 5 or 6"),
            ("[0,0", "its end is missing"),
            ("[0,0 0]", "it is not JSON at column 6"),
            ("{\"x\":1}", "it is not an array in brackets"),
            ("{\"calls\":-1}", "\"calls\" is not a whole number"),
            ("{\"calls\":1,\"x\":1}", "it has not the fields of such a line"),
            ("header 1.0 -> \"much\"", "\"weight\" has no value that it can have"),
            ("header \"weight\":1.0 -> \"x\":1.0", "\"weight\" is missing"),
            ("header \"modules\":[ -> \"modules\":[1,", "\"modules\" has no value that"),
            ("header {\"schema\":1 -> {\"schema\":\"1\"", "\"schema\" is missing, or not a whole"),
        ] {
            let said = refused(line);
            let number = if line.starts_with("header") { 1 } else { 2 };
            assert!(said.starts_with(&format!("t, line {number}: not a valid line")), "{said}");
            assert!(said.contains(words), "{line}: {said}");
            for word in ["expected", "u32", "u64", "f64", "usize", "borrowed", "struct", "invalid"]
            {
                assert!(!said.contains(word), "{line}: {said}");
            }
        }
    }
}
