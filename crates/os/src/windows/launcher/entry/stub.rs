//! What stands at the entry point instead of the program's code.

use crate::windows::launcher::loaded_image::{self, ImageProblem};
use crate::windows::launcher::memory::ChildMemory;
use crate::windows::system_file::function;
use std::io;
use windows_sys::Win32::Foundation::HANDLE;

/// Code that is compared to find out whether ntdll is where it is here.
const COMPARED: usize = 16;

/// Why there is no stub.
#[derive(Debug, thiserror::Error)]
pub(super) enum Obstacle {
    #[error("its memory cannot be changed ({0})")]
    Memory(#[from] io::Error),
    #[error("{0}, and headstart stops only x86-64 programs at their entry point")]
    Image(ImageProblem),
    #[error("only the x86-64 build of headstart can stop programs at their entry point")]
    Build,
    #[error("its ntdll.dll has another address or other code than that of headstart")]
    OtherNtdll,
    #[error("its header names no entry point, as those of some .NET programs do not")]
    NoEntry,
}

/// Whether the stub is of this build's processor.
const IS_HERE: bool = cfg!(target_arch = "x86_64");

/// Has the process set `event` when it reaches its entry point, and go no further.
pub(super) fn plant(memory: &ChildMemory, event: HANDLE) -> Result<(), Obstacle> {
    if !IS_HERE {
        return Err(Obstacle::Build);
    }
    let image = loaded_image::read(memory, memory.image_base()?)?.map_err(Obstacle::Image)?;
    // The stub would be written over the header.
    let entry = image.entry.ok_or(Obstacle::NoEntry)?;
    let [set_event, wait] = [c"NtSetEvent", c"NtWaitForSingleObject"].map(|name| {
        let found = function(c"ntdll.dll", name).ok_or(Obstacle::OtherNtdll)? as usize;
        let mut code = [0; COMPARED];
        memory.read(found, &mut code).map_err(|_| Obstacle::OtherNtdll)?;
        // SAFETY: the code of a loaded function, which is followed by others.
        let own = unsafe { &*(found as *const [u8; COMPARED]) };
        if &code == own { Ok(found) } else { Err(Obstacle::OtherNtdll) }
    });
    let code = code(memory.give(event)?, set_event?, wait?);
    Ok(memory.write_code(entry, &code)?)
}

/// `NtSetEvent(event, NULL)`, then `NtWaitForSingleObject(this process, FALSE, NULL)` for ever.
fn code(event: usize, set_event: usize, wait: usize) -> Vec<u8> {
    let mut code = vec![0x48, 0x83, 0xec, 0x28]; // sub rsp, 40: room for arguments, aligned
    code.extend([0x48, 0xb9]); // mov rcx, event
    code.extend(event.to_le_bytes());
    code.extend([0x31, 0xd2]); // xor edx, edx
    code.extend([0x48, 0xb8]); // mov rax, NtSetEvent
    code.extend(set_event.to_le_bytes());
    code.extend([0xff, 0xd0]); // call rax
    let again = code.len();
    code.extend([0x48, 0xc7, 0xc1, 0xff, 0xff, 0xff, 0xff]); // mov rcx, −1
    code.extend([0x31, 0xd2]); // xor edx, edx
    code.extend([0x45, 0x31, 0xc0]); // xor r8d, r8d
    code.extend([0x48, 0xb8]); // mov rax, NtWaitForSingleObject
    code.extend(wait.to_le_bytes());
    code.extend([0xff, 0xd0]); // call rax
    let behind = code.len() + 2;
    code.extend([0xeb, (again as i8 - behind as i8).cast_unsigned()]); // jmp again
    code
}
