//! Whether a server answers at a port of this machine.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::ptr;
use std::time::Duration;
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, NO_ERROR};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetExtendedTcpTable, TCP_TABLE_OWNER_PID_LISTENER,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET, AF_INET6};

/// How long one attempt to connect may take.
const CONNECT_WITHIN: Duration = Duration::from_millis(100);

/// Rows of a table in words of 32 bits: how many words each has, and which is the port.
struct Rows {
    family: u16,
    words: usize,
    port: usize,
}

/// `MIB_TCPROW_OWNER_PID` and `MIB_TCP6ROW_OWNER_PID`.
const TABLES: [Rows; 2] =
    [Rows { family: AF_INET, words: 6, port: 2 }, Rows { family: AF_INET6, words: 14, port: 5 }];

/// Whether a connection to the port is accepted on a loopback address. Windows repeats attempts that
/// are refused, for a second or two, so none is made while nobody listens.
pub(super) fn answers(port: u16) -> bool {
    let addresses = [
        SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
    ];
    let mut tables = TABLES.iter().zip(addresses);
    tables.any(|(rows, address)| {
        listens(rows, port) != Some(false)
            && TcpStream::connect_timeout(&address, CONNECT_WITHIN).is_ok()
    })
}

/// Whether somebody listens at the port; `None` where the system does not tell.
fn listens(rows: &Rows, port: u16) -> Option<bool> {
    let table = table(rows.family)?;
    let count = *table.first()? as usize;
    let mut rows = table.get(1..)?.chunks_exact(rows.words).take(count).map(|row| row[rows.port]);
    // The lower half, in the order of the network.
    Some(rows.any(|found| (found as u16).swap_bytes() == port))
}

/// The listeners of a family of addresses: their number, then the rows.
fn table(family: u16) -> Option<Vec<u32>> {
    let mut table = vec![0_u32; 1 << 10];
    loop {
        let mut bytes = size_of_val(&*table) as u32;
        let into = ptr::from_mut(&mut *table).cast();
        let (family, class) = (family.into(), TCP_TABLE_OWNER_PID_LISTENER);
        // SAFETY: `into` points to so many bytes, which outlive the call.
        match unsafe { GetExtendedTcpTable(into, &mut bytes, 0, family, class, 0) } {
            NO_ERROR => return Some(table),
            // More may be there by the next time.
            ERROR_INSUFFICIENT_BUFFER => table = vec![0; (bytes as usize).div_ceil(2)],
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_seen_as_long_as_it_is_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_ne!(listens(&TABLES[0], port), Some(false));
        assert!(answers(port));
        drop(listener);
        assert_ne!(listens(&TABLES[0], port), Some(true));
        assert!(!answers(port));
    }
}
