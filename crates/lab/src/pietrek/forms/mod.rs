//! The forms of the workload, by the format of its images.

mod elf;
mod pe;

use crate::Runner;
use std::ffi::OsString;
use workload::pe::pietrek::can_be_bound;
use workload::{Files, Format, Pietrek, Workload, WorkloadError};

/// A form of the workload: what one row of the table launches.
pub struct Form {
    /// Name of the row.
    pub name: &'static str,
    /// Folder of its files; forms that share one have the same files.
    pub folder: String,
    pub about: String,
    /// What the column calls that which it corresponds to.
    pub counterpart: Option<&'static str>,
    pub environment: Vec<(String, Option<OsString>)>,
    /// The program is bound to its libraries once the files are written.
    pub bound: bool,
    pub files: Files,
}

/// The forms of the workload's format; the first is what the others are compared with. Bound ones are
/// left out where Wine would ignore that they are, on Linux, or where a program has no room for it.
///
/// # Errors
/// The format has no room for the workload.
pub fn forms(base: &Pietrek) -> Result<Vec<Form>, WorkloadError> {
    match base.format {
        Format::Elf => elf::forms(base),
        Format::Pe => pe::forms(base, Runner::OWN == Format::Pe && can_be_bound(base)),
    }
}

fn form(
    name: &'static str,
    counterpart: Option<&'static str>,
    about: String,
    workload: Pietrek,
) -> Result<Form, WorkloadError> {
    let files = workload::generate(&Workload::Pietrek(workload))?;
    let folder = name.replace(", ", "-").replace(' ', "-");
    Ok(Form { name, folder, about, counterpart, environment: Vec::new(), bound: false, files })
}

/// What a loader has to do for the workload as it is.
struct Size {
    imports: u64,
    relocations: u64,
}

impl Size {
    fn new(base: &Pietrek) -> Size {
        let imports = u64::from(base.dlls) * u64::from(base.functions);
        Size { imports, relocations: imports * u64::from(base.globals) }
    }
}

/// What is launched, in words.
pub fn words(base: &Pietrek) -> String {
    use model::figures::plural;
    let libraries = plural(base.dlls.into(), "library", "libraries");
    let functions = plural(base.functions.into(), "function", "functions");
    let globals = plural(base.globals.into(), "global", "globals");
    format!("{libraries} of {functions} with {globals} each")
}
