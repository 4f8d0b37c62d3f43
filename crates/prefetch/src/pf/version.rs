//! Where the versions of the format differ.

use super::fields::PfFields;

/// The header that all versions share, in bytes.
pub(super) const HEADER: usize = 84;
/// Where version 30's second form and version 31 have their list of files.
const SHORTER_LIST: u32 = 296;

/// Places and sizes of one version, in bytes from the beginning of the file.
pub(super) struct PfLayout {
    pub(super) windows: &'static str,
    /// The times of the last launches, and how many there are.
    pub(super) last_runs: (usize, usize),
    pub(super) run_count: usize,
    /// Offset and size of a further text.
    pub(super) text: Option<usize>,
    pub(super) file_entry: usize,
    pub(super) chain_entry: usize,
    /// What a unit of a place in a file is.
    pub(super) place_bytes: u64,
    pub(super) volume_entry: usize,
}

/// The layout of a version, of which 30 has two.
pub(super) fn layout(version: u32, fields: PfFields) -> Option<PfLayout> {
    let vista = PfLayout {
        windows: "Windows Vista or 7, Server 2008 or 2008 R2",
        last_runs: (HEADER + 44, 1),
        run_count: HEADER + 68,
        text: None,
        file_entry: 32,
        chain_entry: 12,
        place_bytes: 512,
        volume_entry: 104,
    };
    let eight = PfLayout {
        windows: "Windows 8 or 8.1, Server 2012 or 2012 R2",
        last_runs: (HEADER + 44, 8),
        run_count: HEADER + 124,
        ..vista
    };
    let ten = "Windows 10, Server 2016 or 2019";
    let is_shorter = fields.u32(HEADER) == Some(SHORTER_LIST);
    match version {
        17 => Some(PfLayout {
            windows: "Windows XP or Server 2003",
            last_runs: (HEADER + 36, 1),
            run_count: HEADER + 60,
            file_entry: 20,
            place_bytes: 1,
            volume_entry: 40,
            ..vista
        }),
        23 => Some(vista),
        26 => Some(eight),
        30 | 31 => Some(PfLayout {
            windows: if version == 30 { ten } else { "Windows 11, Server 2022 or 2025" },
            run_count: HEADER + if is_shorter { 116 } else { 124 },
            text: Some(HEADER + if is_shorter { 128 } else { 136 }),
            chain_entry: 8,
            volume_entry: 96,
            ..eight
        }),
        _ => None,
    }
}
