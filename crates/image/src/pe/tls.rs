//! Thread-local storage. Format: *The .tls Section*.

use super::read::Pe;
use super::spec;
use crate::notes::{Notes, entry};
use model::{TlsFacts, Va};
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

/// Entries of the table of functions, which ends with a zero; memory behind the file's bytes is
/// zero too.
fn callbacks(file: &Pe<'_>, table: Va, notes: &mut Notes) -> u64 {
    if table == Va(0) {
        return 0;
    }
    let Some(rva) = file.rva(table) else {
        notes.problem(format!("TLS callbacks at {table:#x} are outside of the image"));
        return 0;
    };
    let rest = file.at(rva).unwrap_or(&[]);
    let words = rest.chunks_exact(file.pointer_bytes() as usize);
    words.take_while(|word| word.iter().any(|&byte| byte != 0)).count() as u64
}
