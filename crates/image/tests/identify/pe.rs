//! PE images by their headers, imports, own name, and runtime header.

use super::made::{AMD64, ARM64, I386, OFFSET, Pe};
use image::identify::{BUDGET_BYTES, identify, identify_bytes};
use model::{FileKind, Identity, Role, Runtime, Subsystem};
use std::os::unix::fs::FileExt;

fn seen(pe: &Pe) -> Identity {
    let identity = identify_bytes(&pe.bytes());
    assert_eq!(identity.kind, FileKind::Pe);
    assert!(identity.bytes_read <= BUDGET_BYTES);
    identity
}

#[test]
fn programs_libraries_and_drivers() {
    let mut pe = Pe::new(AMD64);
    let found = seen(&pe);
    assert_eq!(found.detail, "console program, x86_64");
    assert_eq!((found.role, found.subsystem), (Some(Role::Executable), Some(Subsystem::Console)));
    assert_eq!((found.runtimes.len(), found.unknown), (0, None));
    for (subsystem, detail) in [
        (1, "driver or native program, x86_64"),
        (2, "GUI program, x86_64"),
        (10, "EFI application, x86_64"),
        (12, "EFI runtime driver, x86_64"),
        (99, "program for an unknown subsystem, x86_64"),
    ] {
        pe.subsystem = subsystem;
        assert_eq!(seen(&pe).detail, detail);
    }
    let mut library = Pe::new(I386);
    library.dll = true;
    let found = seen(&library);
    assert_eq!((&*found.detail, found.role), ("DLL, i386", Some(Role::Library)));
    let odd = seen(&Pe::new(0x1234));
    assert_eq!(odd.machine.as_deref(), Some("machine 0x1234"));
}

#[test]
fn cygwin_and_msys_by_their_imports() {
    for machine in [I386, AMD64, ARM64] {
        let cygwin = Pe::new(machine).importing(&["KERNEL32.dll", "cygwin1.dll"], 0);
        let found = seen(&cygwin);
        assert_eq!((found.runtimes, found.unknown), (vec![Runtime::Cygwin], None));
        assert!(found.detail.ends_with(", Cygwin (cygwin1.dll)"), "{}", found.detail);
        let msys = seen(&Pe::new(machine).importing(&["MSYS-2.0.DLL"], 0));
        assert_eq!(msys.runtimes, [Runtime::Msys]);
        let neither = seen(&Pe::new(machine).importing(&["KERNEL32.dll", "cygz.dll"], 0));
        assert_eq!((neither.runtimes.len(), neither.unknown), (0, None));
    }
}

#[test]
fn the_library_of_cygwin_itself() {
    let found = seen(&Pe::new(AMD64).importing(&["KERNEL32.dll"], 0).named("cygwin1.dll"));
    assert_eq!(found.runtimes, [Runtime::Cygwin]);
    assert_eq!(found.detail, "DLL, x86_64, the Cygwin library itself");
    let other = seen(&Pe::new(AMD64).named("cygz.dll"));
    assert_eq!((other.runtimes.len(), other.unknown), (0, None));
}

#[test]
fn many_descriptors_are_read_in_turns() {
    let mut names = vec!["KERNEL32.dll"; 700];
    names.push("cygwin1.dll");
    let found = seen(&Pe::new(AMD64).importing(&names, 0));
    assert_eq!(found.runtimes, [Runtime::Cygwin]);
    // A size that says less than the terminator does.
    let mut short = Pe::new(AMD64).importing(&names, 0);
    short.directories[1].1 = 20;
    assert_eq!(seen(&short).runtimes, [Runtime::Cygwin]);
}

#[test]
fn what_64_kib_do_not_tell_is_not_denied() {
    let names = vec!["KERNEL32.dll"; 4000];
    for pe in [Pe::new(AMD64).importing(&names, 0), Pe::new(I386).importing(&names[..300], 8000)] {
        let found = seen(&pe);
        let unknown = found.unknown.unwrap_or_default();
        assert!(unknown.contains("imports not read: beyond 64 KiB"), "{unknown}");
        assert!(found.runtimes.is_empty());
    }
    // Found before the budget is spent: there is nothing more to know.
    let mut names = vec!["cygwin1.dll"];
    names.extend(vec!["KERNEL32.dll"; 300]);
    let found = seen(&Pe::new(AMD64).importing(&names, 8000));
    assert_eq!((found.runtimes, found.unknown), (vec![Runtime::Cygwin], None));
}

#[test]
fn imports_that_lie_elsewhere_are_not_denied() {
    for address in [0x0fff_0000, u32::MAX, 0x800] {
        let mut pe = Pe::new(AMD64);
        pe.directories[1] = (address, 40);
        let unknown = seen(&pe).unknown.unwrap_or_default();
        assert!(unknown.contains("outside the file"), "{address:#x}: {unknown}");
    }
    let mut pe = Pe::new(AMD64);
    pe.directory(1, &[[1, 0, 0, u32::MAX, 1].map(u32::to_le_bytes).concat(), vec![0; 20]].concat());
    let unknown = seen(&pe).unknown.unwrap_or_default();
    assert!(unknown.contains("outside the file"), "{unknown}");
}

/// Imports two gigabytes behind the headers: what is read is what is needed.
#[test]
fn imports_far_into_a_large_file_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.exe");
    let pe = Pe::new(AMD64).importing(&["KERNEL32.dll", "msys-2.0.dll"], 3000);
    let (mut bytes, far) = (pe.bytes(), 0x7000_0000_u32);
    let section = 0x80 + 24 + 240 + 20;
    bytes[section..section + 4].copy_from_slice(&far.to_le_bytes());
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&bytes[..OFFSET], 0).unwrap();
    file.write_all_at(&bytes[OFFSET..], far.into()).unwrap();
    let found = identify(&path).unwrap();
    assert_eq!((found.runtimes, found.unknown), (vec![Runtime::Msys], None));
    assert_eq!(found.bytes_read, 4096 + 3 * 20 + 2 * 16);
}

fn dotnet(machine: u16, flags: u32, native_bytes: u32) -> Identity {
    let mut header = [0_u32; 18];
    (header[0], header[4], header[17]) = (72, flags, native_bytes);
    let mut pe = Pe::new(machine);
    pe.directory(14, &header.map(u32::to_le_bytes).concat());
    seen(&pe)
}

#[test]
fn kinds_of_dotnet() {
    for (machine, flags, native_bytes, detail) in [
        (I386, 1, 0, "console program, i386, .NET (IL only, any processor)"),
        (I386, 3, 0, "console program, i386, .NET (IL only)"),
        (AMD64, 1, 0, "console program, x86_64, .NET (IL only)"),
        (AMD64, 0x10, 0, "console program, x86_64, .NET (mixed with native code)"),
        (AMD64, 5, 64, "console program, x86_64, .NET (compiled ahead)"),
    ] {
        let found = dotnet(machine, flags, native_bytes);
        assert_eq!((&*found.detail, found.runtimes), (detail, vec![Runtime::DotNet]));
        assert_eq!(found.unknown, None);
    }
    let mut outside = Pe::new(AMD64);
    outside.directories[14] = (0x0fff_0000, 72);
    let found = seen(&outside);
    assert_eq!(found.runtimes, [Runtime::DotNet]);
    assert!(found.unknown.is_some_and(|unknown| unknown.contains(".NET")));
}

#[test]
fn arm64_hybrids_by_their_load_configuration() {
    let machine = |machine: u16, metadata: u8, size: u32| {
        let mut configuration = vec![0; 256];
        configuration[..4].copy_from_slice(&size.to_le_bytes());
        configuration[200] = metadata;
        let mut pe = Pe::new(machine);
        pe.directory(10, &configuration);
        seen(&pe).machine.unwrap_or_default()
    };
    assert_eq!(machine(AMD64, 1, 256), "arm64ec");
    assert_eq!(machine(ARM64, 1, 256), "arm64x");
    assert_eq!(machine(AMD64, 0, 256), "x86_64");
    assert_eq!(machine(AMD64, 1, 200), "x86_64");
    assert_eq!(machine(I386, 1, 256), "i386");
}

#[test]
fn what_came_before_pe() {
    let with = |header: &[u8]| {
        let mut bytes = vec![0; 512];
        bytes[..2].copy_from_slice(b"MZ");
        bytes[0x3c] = 0x80;
        bytes[0x80..0x80 + header.len()].copy_from_slice(header);
        identify_bytes(&bytes)
    };
    let mut ne = [0; 64];
    ne[..2].copy_from_slice(b"NE");
    ne[0x36] = 2;
    let found = with(&ne);
    assert_eq!((found.kind, &*found.detail), (FileKind::Ne, "16-bit Windows program (NE)"));
    assert_eq!(with(b"LE\0\0").kind, FileKind::Le);
    assert_eq!(with(b"LX\0\0").detail, "OS/2 program (LX)");
    assert_eq!(with(b"").kind, FileKind::Dos);
    let mut far = vec![0; 100];
    far[..2].copy_from_slice(b"MZ");
    far[0x3c..0x40].fill(0xff);
    assert_eq!(identify_bytes(&far).kind, FileKind::Dos);
    assert_eq!(identify_bytes(b"MZ is where I live\n").kind, FileKind::Text);
}
