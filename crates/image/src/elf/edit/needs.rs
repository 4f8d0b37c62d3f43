//! The versions that an image asks for (DT_VERNEED; Linux Standard Base, "Symbol Versioning").

use super::EditError;
use crate::elf::loadable::sysv_hash;

const NEED_SIZE: usize = 16;
const VERSION_SIZE: usize = 16;

/// Versions asked for of one file. Names are offsets in the dynamic string table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) file: u32,
    pub(super) versions: Vec<Asked>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) hash: u32,
    pub(super) flags: u16,
    pub(super) index: u16,
    pub(super) name: u32,
}

impl Asked {
    pub(super) fn of(name: &[u8], at: u32, index: u16) -> Asked {
        Asked { hash: sysv_hash(name), flags: 0, index, name: at }
    }
}

fn half(table: &[u8], at: usize) -> Option<u16> {
    let bytes = table.get(at..at.checked_add(2)?)?;
    bytes.try_into().ok().map(u16::from_le_bytes)
}

fn word(table: &[u8], at: usize) -> Option<u32> {
    let bytes = table.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// The needs of a table that begins here, and how many bytes it takes.
pub(super) fn parse(table: &[u8], count: u64) -> Result<(Vec<Need>, u64), EditError> {
    let damaged = || EditError::Damaged {
        what: "DT_VERNEED",
        found: "has entries outside of its segment".to_owned(),
    };
    let (mut needs, mut at, mut end) = (Vec::new(), 0_usize, 0);
    // In a sound table every version has bytes of its own.
    let mut left = table.len() / VERSION_SIZE;
    for index in 0..count {
        let need = read_need(table, at, &mut left, &mut end).ok_or_else(damaged)?;
        needs.push(need);
        let next = word(table, at + 12).ok_or_else(damaged)? as usize;
        if next == 0 {
            // A table whose chain ends early is read by glibc as far as it goes.
            if index + 1 != count {
                return Err(damaged());
            }
            break;
        }
        at = at.checked_add(next).ok_or_else(damaged)?;
    }
    Ok((needs, end as u64))
}

fn read_need(table: &[u8], at: usize, left: &mut usize, end: &mut usize) -> Option<Need> {
    *end = at.checked_add(NEED_SIZE)?.max(*end);
    *left = left.checked_sub(1)?;
    let mut need = Need { file: word(table, at.checked_add(4)?)?, versions: Vec::new() };
    let mut version = at.checked_add(word(table, at + 8)? as usize)?;
    for _ in 0..half(table, at + 2)? {
        *left = left.checked_sub(1)?;
        *end = version.checked_add(VERSION_SIZE)?.max(*end);
        need.versions.push(Asked {
            hash: word(table, version)?,
            flags: half(table, version + 4)?,
            index: half(table, version + 6)?,
            name: word(table, version + 8)?,
        });
        version = version.checked_add(word(table, version + 12)? as usize)?;
    }
    Some(need)
}

/// The table of these needs.
pub(super) fn emit(needs: &[Need]) -> Vec<u8> {
    let mut table = Vec::new();
    for (index, need) in needs.iter().enumerate() {
        let size = (NEED_SIZE + need.versions.len() * VERSION_SIZE) as u32;
        let last = index + 1 == needs.len();
        let first = if need.versions.is_empty() { 0 } else { NEED_SIZE as u32 };
        table.extend(1_u16.to_le_bytes()); // VER_NEED_CURRENT
        table.extend((need.versions.len() as u16).to_le_bytes());
        for word in [need.file, first, if last { 0 } else { size }] {
            table.extend(word.to_le_bytes());
        }
        for (index, asked) in need.versions.iter().enumerate() {
            let last = index + 1 == need.versions.len();
            table.extend(asked.hash.to_le_bytes());
            table.extend(asked.flags.to_le_bytes());
            table.extend(asked.index.to_le_bytes());
            table.extend(asked.name.to_le_bytes());
            table.extend(if last { 0 } else { VERSION_SIZE as u32 }.to_le_bytes());
        }
    }
    table
}
