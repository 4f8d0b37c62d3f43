//! One program built twice: as it is, and by a compiler that calls a recorder at every function.
//! Both recordings tell the same order.

use super::bed::{succeeds, text};
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const RECORDER: &str = include_str!("../../../../crates/ordering/recorder/headstart_recorder.c");
const FUNCTIONS: u32 = 400;
/// Those that every launch calls.
const LEAST_SHARED: usize = 100;

pub fn rows(context: &Context) -> Result<Vec<Row>> {
    let folder = context.scratch.join("instrumented");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("program.c"), source())?;
    fs::write(folder.join("recorder.c"), RECORDER)?;
    let cc = |words: &[&str]| succeeds(Command::new("cc").args(words).current_dir(&folder));
    cc(&["-O1", "program.c", "-o", "plain"])?;
    cc(&["-O1", "-finstrument-functions", "program.c", "recorder.c", "-o", "instrumented"])?;
    let (instrumented, log) = (folder.join("instrumented"), folder.join("log"));
    succeeds(Command::new(&instrumented).env("HEADSTART_TRACE", &log))?;
    let (plain, trace) = (folder.join("plain"), folder.join("trace"));
    let words = ["trace", "--json", "--out", text(&trace)?, "--", text(&plain)?];
    context.headstart.run(&words)?;
    let (ours, theirs) = (recorded(&trace, &plain)?, told(&log, &instrumented)?);
    let only = |all: &[String], of: &[String]| -> Vec<String> {
        all.iter().filter(|name| of.contains(name)).cloned().collect()
    };
    let (ours, theirs) = (only(&ours, &theirs), only(&theirs, &ours));
    let equal = ours.iter().zip(&theirs).filter(|(one, other)| one == other).count();
    let good = ours == theirs && ours.len() >= LEAST_SHARED;
    let value = format!("{equal} of {}", theirs.len());
    Ok(vec![Row::bar("places as in an instrumented build", value, "all, ≥ 100", good)])
}

/// Functions that call others in an order that only a launch finds out: each calls three, chosen
/// by a generator of random numbers, some through a table; every other one is static.
fn source() -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#define F __attribute__((noinline, noclone))\n\
         typedef unsigned (*function)(unsigned);\nextern function table[];\n\
         static unsigned state = 1;\n\
         static F unsigned next(void) { return (state = state * 1103515245 + 12345) >> 8; }\n",
    );
    let scope = |number: u32| if number.is_multiple_of(2) { "static " } else { "" };
    let mut add = |line: std::fmt::Arguments| {
        let _ = text.write_fmt(line);
    };
    for number in 0..FUNCTIONS {
        add(format_args!("{}F unsigned f{number}(unsigned depth);\n", scope(number)));
    }
    for number in 0..FUNCTIONS {
        let direct = number * 7 % FUNCTIONS;
        add(format_args!(
            "{}F unsigned f{number}(unsigned depth) {{ unsigned sum = {number};\n\
             if (depth == 0) return sum;\n\
             if (next() % 2) sum += f{direct}(depth - 1);\n\
             sum += table[next() % {FUNCTIONS}](depth - 1);\n\
             return sum + table[next() % {FUNCTIONS}](depth - 1); }}\n",
            scope(number)
        ));
    }
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("f{number}")).collect();
    add(format_args!("function table[] = {{ {} }};\n", names.join(", ")));
    add(format_args!("int main(void) {{ printf(\"%u\\n\", f0(6)); return 0; }}\n"));
    text
}

/// The program's functions in the trace.
fn recorded(trace: &Path, program: &Path) -> Result<Vec<String>> {
    let names = names(program)?;
    let trace = fs::read_to_string(trace)?;
    let mut lines = trace.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().unwrap_or_default())?;
    let modules = header.get("modules").and_then(serde_json::Value::as_array);
    let path = |module: &serde_json::Value| module.get("path") == Some(&text_value(program));
    let module = modules.and_then(|all| all.iter().position(path)).context("no such module")?;
    let mut found = Vec::new();
    // The last line is the end mark.
    for line in lines.filter(|line| line.starts_with('[')) {
        let call: Vec<serde_json::Value> = serde_json::from_str(line)?;
        let [_, of, rva, ..] = call.as_slice() else { bail!("a line '{line}'") };
        if of.as_u64() == Some(module as u64) {
            found.extend(names.get(&hexadecimal(rva.as_str().unwrap_or_default())?).cloned());
        }
    }
    Ok(found)
}

fn text_value(path: &Path) -> serde_json::Value {
    path.to_str().into()
}

/// The program's functions in the recorder's log: "place, address, calls" a line.
fn told(log: &Path, program: &Path) -> Result<Vec<String>> {
    let names = names(program)?;
    let log = fs::read_to_string(log)?;
    let mut lines = log.lines();
    let base = lines.next().and_then(|line| line.split("Baseaddress: ").nth(1));
    let base = hexadecimal(base.context("no base address")?)?;
    let mut found = Vec::new();
    for line in lines {
        let address = line.split(", ").nth(1).with_context(|| format!("a line '{line}'"))?;
        found.extend(names.get(&(hexadecimal(address)? - base)).cloned());
    }
    Ok(found)
}

/// The first name of each function, by its place in the image.
fn names(program: &Path) -> Result<BTreeMap<u64, String>> {
    let table = image::function_table(program)?;
    let base = table.preferred_base;
    let named = table.functions.into_iter().filter_map(|function| {
        Some((function.address.since(base)?, function.names.into_iter().next()?))
    });
    Ok(named.collect())
}

fn hexadecimal(digits: &str) -> Result<u64> {
    let digits = digits.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).with_context(|| format!("'{digits}' is no number"))
}
