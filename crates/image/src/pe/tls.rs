//! Thread-local storage. Format: *The .tls Section*.

use super::read::Pe;
use super::spec;
use crate::notes::{Notes, entry};
use model::{Rva, TlsFacts, Va};
use object::LittleEndian as LE;
use object::pe;

/// `IMAGE_TLS_DIRECTORY`, as far as it is of use here. Addresses are virtual ones.
struct Tls {
    start: Va,
    end: Va,
    callbacks: Va,
    zero_bytes: u32,
}

pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Option<TlsFacts> {
    let directory = file.directory(spec::TLS)?;
    let Some(tls) = file.at(directory.rva).and_then(|bytes| parse(file, bytes)) else {
        notes.problem(format!("the TLS directory at {:#x} is not in the file", directory.rva));
        return None;
    };
    Some(TlsFacts {
        template_bytes: tls.end.since(tls.start).unwrap_or(0),
        zero_bytes: tls.zero_bytes.into(),
        callbacks: callbacks(file, tls.callbacks, notes),
    })
}

fn parse(file: &Pe<'_>, bytes: &[u8]) -> Option<Tls> {
    Some(if file.headers().pe32_plus {
        let found: &pe::ImageTlsDirectory64 = entry(bytes)?;
        Tls {
            start: Va(found.start_address_of_raw_data.get(LE)),
            end: Va(found.end_address_of_raw_data.get(LE)),
            callbacks: Va(found.address_of_call_backs.get(LE)),
            zero_bytes: found.size_of_zero_fill.get(LE),
        }
    } else {
        let found: &pe::ImageTlsDirectory32 = entry(bytes)?;
        Tls {
            start: Va(found.start_address_of_raw_data.get(LE).into()),
            end: Va(found.end_address_of_raw_data.get(LE).into()),
            callbacks: Va(found.address_of_call_backs.get(LE).into()),
            zero_bytes: found.size_of_zero_fill.get(LE),
        }
    })
}

fn callbacks(file: &Pe<'_>, table: Va, notes: &mut Notes) -> u64 {
    if table != Va(0) && file.rva(table).is_none() {
        notes.problem(format!("TLS callbacks at {table:#x} are outside of the image"));
    }
    entries(file, table).count() as u64
}

/// Entries of the table of functions, which ends with a zero; memory behind the file's bytes is
/// zero too.
fn entries<'a>(file: &Pe<'a>, table: Va) -> impl Iterator<Item = Va> + use<'a> {
    let rest = if table == Va(0) { None } else { file.rva(table).and_then(|rva| file.at(rva)) };
    let words = rest.unwrap_or_default().chunks_exact(file.pointer_bytes() as usize);
    let number = |word: &[u8]| word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    words.map(move |word| Va(number(word))).take_while(|address| *address != Va(0))
}

impl Pe<'_> {
    /// Functions that are called when threads begin and end, also before the entry point.
    pub(super) fn tls_callbacks(&self) -> impl Iterator<Item = Rva> {
        let tls = self.directory(spec::TLS).and_then(|directory| self.at(directory.rva));
        let table = tls.and_then(|bytes| parse(self, bytes)).map_or(Va(0), |tls| tls.callbacks);
        entries(self, table).filter_map(|address| self.rva(address))
    }
}
