//! The figures of OpenOffice's document on what basing libraries does to memory.

use serde::{Deserialize, Serialize};

/// Memory of OpenOffice with libraries at bases of their own, and at one base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedMemory {
    /// Author, title, and when.
    pub source: String,
    /// What it was measured on.
    pub machine: String,
    /// Sums of the whole process.
    pub sums: Vec<PublishedSum>,
    /// One library, section by section.
    pub module: String,
    /// Its sections, first not rebased, then rebased.
    pub sections: Vec<PublishedSection>,
    /// Where modules were in four processes.
    pub addresses: Vec<PublishedAddress>,
}

/// One figure of the whole process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedSum {
    /// What, with its unit.
    pub name: String,
    /// Based libraries.
    pub based: f64,
    /// All libraries at one base, so that they are relocated.
    pub not_based: f64,
}

/// One section of a library in KB; what the document leaves out is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedSection {
    /// Its name.
    pub name: String,
    /// Whether the library was at a base of its own.
    pub based: bool,
    /// Size, which was all committed.
    pub size: u64,
    /// Working set.
    pub working_set: u64,
    /// Of it, private.
    pub private: Option<u64>,
    /// Of it, shareable.
    pub shareable: u64,
}

/// Modules that are treated alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedAddress {
    /// Whether they were at the same address in all processes.
    pub same: bool,
    /// Their names.
    pub modules: Vec<String>,
}

impl PublishedMemory {
    /// *Reorder Symbols For Libraries*.
    pub fn openoffice() -> PublishedMemory {
        PublishedMemory {
            source: "OpenOffice.org, Reorder Symbols For Libraries, 2009".to_owned(),
            machine:
                "OpenOffice 3.1 on Windows, warm starts; memory by VMMap, where private memory \
                      cannot be shared, and shareable memory includes what is shared"
                    .to_owned(),
            sums: sums(),
            module: "vclmi.dll".to_owned(),
            sections: sections(),
            addresses: vec![
                address(false, &["salhelper3MSC", "comphelp4MSC", "cppuhelper3MSC", "sofficeapp"]),
                address(
                    true,
                    &["cppu3", "soffice.bin", "stlport", "ucbhelper4MSC", "vos3MSC", "sal3"],
                ),
            ],
        }
    }
}

fn sums() -> Vec<PublishedSum> {
    let sum = |(name, based, not_based): (&str, f64, f64)| {
        let name = name.to_owned();
        PublishedSum { name, based, not_based }
    };
    let sums = [
        ("virtual size, KB", 283_040.0, 283_040.0),
        ("working set, KB", 55_152.0, 86_392.0),
        ("private, KB", 18_048.0, 57_204.0),
        ("shareable, KB", 37_104.0, 29_204.0),
        ("shared, KB", 7556.0, 7476.0),
        ("CPU time, s", 1.653, 1.747),
        ("page file, MB", 27.0, 61.0),
    ];
    sums.map(sum).into()
}

fn sections() -> Vec<PublishedSection> {
    let sections = [
        (false, "image", [3016, 2624, 516], Some(2108)),
        (false, ".text", [1792, 1752, 0], Some(1752)),
        (false, ".rdata", [764, 716, 400], Some(316)),
        (false, ".rsrc", [144, 112, 112], None),
        (true, "image", [3016, 1672, 1648], Some(24)),
        (true, ".text", [1792, 1128, 1128], Some(0)),
        (true, ".rdata", [764, 504, 496], Some(8)),
        (true, ".rsrc", [144, 12, 12], None),
    ];
    let section = |(based, name, figures, private): (bool, &str, [u64; 3], Option<u64>)| {
        let [size, working_set, shareable] = figures;
        PublishedSection { name: name.to_owned(), based, size, working_set, private, shareable }
    };
    sections.map(section).into()
}

fn address(same: bool, modules: &[&str]) -> PublishedAddress {
    PublishedAddress { same, modules: modules.iter().map(|&name| name.to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_shareable_memory_sum_to_the_working_set() {
        let published = PublishedMemory::openoffice();
        for section in &published.sections {
            let sum = section.private.unwrap_or(0) + section.shareable;
            assert_eq!(sum, section.working_set, "{section:?}");
            assert!(section.working_set <= section.size);
        }
        let [working_set, private, shareable] = [1, 2, 3].map(|at| &published.sums[at]);
        assert_eq!(private.based + shareable.based, working_set.based);
        // The document's own figures differ by 16 KB here.
        let not_based = private.not_based + shareable.not_based;
        assert!((not_based - working_set.not_based).abs() < 17.0);
    }
}
