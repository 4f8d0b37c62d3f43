//! The part of the program of [`super::loads`] that learns from the loader which modules are loaded and unloaded.
//!
//! A callback, registered with ntdll's LdrRegisterDllNotification, stores a notice of each in a ring buffer. It runs
//! inside the loader, so it calls nothing but QueryPerformanceCounter, which is bound already, and never waits.
//! Microsoft warns against any call there. Notices that do not fit are counted. After each load, the program writes the notices and frees their places. Only the callback moves the head
//! of the ring, and only the program moves its tail, so neither has to wait for the other.

use super::code::{Code, If};
use super::load_records::notice;
use model::Rva;

/// Bytes of a place in the ring: a power of two.
const PLACE_BYTES: u32 = 1 << PLACE_SHIFT;
const PLACE_SHIFT: u8 = 11;
/// How many places there are: a power of two.
pub(super) const PLACES: u32 = 1024;
/// Bytes of all places.
pub(super) const RING_BYTES: u32 = PLACES * PLACE_BYTES;
const PAGE_BYTES: u32 = 4096;

/// Bytes of a module's path that are kept: the rest of a place.
pub(super) const NAME_LIMIT: u32 = PLACE_BYTES - notice::BYTES;

/// Where the variables are. All but the mark and the names are zero at first.
mod variable {
    /// What begins a notice.
    pub(super) const MARK: u32 = 0;
    /// Not 0 while the callback is running.
    pub(super) const BUSY: u32 = 16;
    /// How many notices were stored, and how many of these were written.
    pub(super) const HEAD: u32 = 20;
    pub(super) const TAIL: u32 = 24;
    /// Notices that were dropped since the last record.
    pub(super) const LOST: u32 = 28;
    /// The cookie of the registration, which is not used.
    pub(super) const COOKIE: u32 = 32;
    pub(super) const LIBRARY: u32 = 40;
    pub(super) const FUNCTION: u32 = 56;
}

/// Bytes of all variables.
pub(super) const VARIABLE_BYTES: u32 = 96;

const LIBRARY: &[u8] = b"ntdll.dll\0";
const FUNCTION: &[u8] = b"LdrRegisterDllNotification\0";

/// The initial values of the variables.
pub(super) fn variables(mark: [u8; 16]) -> [u8; VARIABLE_BYTES as usize] {
    let mut bytes = [0; VARIABLE_BYTES as usize];
    let parts =
        [(variable::MARK, &mark[..]), (variable::LIBRARY, LIBRARY), (variable::FUNCTION, FUNCTION)];
    for (at, part) in parts {
        bytes[at as usize..at as usize + part.len()].copy_from_slice(part);
    }
    bytes
}

/// Where the callback and the program find what they share.
#[derive(Clone, Copy)]
pub(super) struct Notices {
    pub(super) variables: Rva,
    pub(super) places: Rva,
    /// The import slot of QueryPerformanceCounter.
    pub(super) counter: Rva,
}

impl Notices {
    fn variable(&self, offset: u32) -> Rva {
        self.variables + offset
    }

    /// The names of ntdll and of its function that registers callbacks.
    pub(super) fn names(&self) -> [Rva; 2] {
        [self.variable(variable::LIBRARY), self.variable(variable::FUNCTION)]
    }

    /// Where the registration's cookie is stored.
    pub(super) fn cookie(&self) -> Rva {
        self.variable(variable::COOKIE)
    }

    /// Appends code that brings the ring into memory, so that no page fault of it is within a measured time.
    pub(super) fn push_touching(&self, code: &mut Code) {
        // lea rax, [places]; mov ecx, pages
        code.memory(&[0x48, 0x8d, 0x05], self.places);
        code.bytes(&[0xb9]).number(RING_BYTES / PAGE_BYTES);
        let next = code.here();
        // mov byte [rax], 0; add rax, page; dec ecx; jne next
        code.bytes(&[0xc6, 0, 0, 0x48, 0x05]).number(PAGE_BYTES).bytes(&[0xff, 0xc9]);
        code.jump_if(If::NotEqual, next);
    }

    /// Appends the callback. Its arguments are a reason (ecx), an `LDR_DLL_NOTIFICATION_DATA` (rdx) and a context.
    pub(super) fn push_function(&self, code: &mut Code) {
        code.labeled(|code, [full, busy, done]| {
            // push rbx; push rsi; push rdi; sub rsp, 32: space for the callee, and an aligned stack.
            code.bytes(&[0x53, 0x56, 0x57, 0x48, 0x83, 0xec, 0x20]);
            // mov ebx, ecx; mov rsi, rdx
            code.bytes(&[0x89, 0xcb, 0x48, 0x89, 0xd6]);
            // Loaders make one such call at a time, but this is not documented.
            // mov eax, 1; xchg [busy], eax; test eax, eax; jne busy
            code.bytes(&[0xb8]).number(1);
            code.memory(&[0x87, 0x05], self.variable(variable::BUSY));
            code.bytes(&[0x85, 0xc0]).jump_if(If::NotEqual, busy);
            // mov edi, [head]; mov eax, edi; sub eax, [tail]; cmp eax, PLACES; jae full
            code.memory(&[0x8b, 0x3d], self.variable(variable::HEAD)).bytes(&[0x89, 0xf8]);
            code.memory(&[0x2b, 0x05], self.variable(variable::TAIL));
            code.bytes(&[0x3d]).number(PLACES).jump_if(If::AboveOrEqual, full);
            self.keep(code);
            // inc dword [head]; xor eax, eax; mov [busy], eax; jmp done
            code.memory(&[0xff, 0x05], self.variable(variable::HEAD)).bytes(&[0x31, 0xc0]);
            code.memory(&[0x89, 0x05], self.variable(variable::BUSY)).jump(done);
            let full = code.here();
            // xor eax, eax; mov [busy], eax
            code.bytes(&[0x31, 0xc0]);
            code.memory(&[0x89, 0x05], self.variable(variable::BUSY));
            let busy = code.here();
            // lock inc dword [lost]
            code.memory(&[0xf0, 0xff, 0x05], self.variable(variable::LOST));
            let done = code.here();
            // add rsp, 32; pop rdi; pop rsi; pop rbx; ret
            code.bytes(&[0x48, 0x83, 0xc4, 0x20, 0x5f, 0x5e, 0x5b, 0xc3]);
            [full, busy, done]
        });
    }

    /// Stores a notice with the reason ebx and the data at rsi in the place with the number edi.
    fn keep(&self, code: &mut Code) {
        // and edi, places - 1; shl edi, shift; lea rax, [places]; add rdi, rax
        code.bytes(&[0x81, 0xe7]).number(PLACES - 1).bytes(&[0xc1, 0xe7, PLACE_SHIFT]);
        code.memory(&[0x48, 0x8d, 0x05], self.places).bytes(&[0x48, 0x01, 0xc7]);
        // lea rcx, [rdi + ticks]
        code.bytes(&[0x48, 0x8d, 0x4f, notice::TICKS as u8]);
        code.call_slot(self.counter);
        // mov [rdi + reason], ebx
        code.bytes(&[0x89, 0x5f, notice::REASON as u8]);
        // mov eax, gs:[48h]; mov [rdi + thread], eax
        code.bytes(&OWN_THREAD).bytes(&[0x89, 0x47, notice::THREAD as u8]);
        // mov rax, [rsi + 24]; mov [rdi + base], rax: DllBase.
        code.bytes(&[0x48, 0x8b, 0x46, 24, 0x48, 0x89, 0x47, notice::BASE as u8]);
        code.labeled(|code, [none, fits]| {
            // mov rsi, [rsi + 8]; xor ecx, ecx; test rsi, rsi; je none: FullDllName.
            code.bytes(&[0x48, 0x8b, 0x76, 8, 0x31, 0xc9, 0x48, 0x85, 0xf6]);
            code.jump_if(If::Equal, none);
            // movzx ecx, word [rsi]; mov rsi, [rsi + 8]: Length in bytes, and Buffer.
            code.bytes(&[0x0f, 0xb7, 0x0e, 0x48, 0x8b, 0x76, 8]);
            let none = code.here();
            // mov [rdi + length], ecx; cmp ecx, limit; jb fits; mov ecx, limit
            code.bytes(&[0x89, 0x4f, notice::LENGTH as u8]);
            code.bytes(&[0x81, 0xf9]).number(NAME_LIMIT).jump_if(If::Below, fits);
            code.bytes(&[0xb9]).number(NAME_LIMIT);
            let fits = code.here();
            [none, fits]
        });
        // mov [rdi + kept], ecx; add rdi, 48; rep movsb
        code.bytes(&[0x89, 0x4f, notice::KEPT as u8]);
        code.bytes(&[0x48, 0x83, 0xc7, notice::BYTES as u8, 0xf3, 0xa4]);
    }

    /// Writes all notices with `write`, which writes r8d bytes at rbp. Stores how many there are in `count`, and how
    /// many were dropped in `lost`. Changes r12, rbp and volatile registers.
    pub(super) fn push_writing(
        &self,
        code: &mut Code,
        [count, lost]: [Rva; 2],
        write: impl Fn(&mut Code),
    ) {
        code.labeled(|code, [end]| {
            // A callback that runs now may store a notice of the load that is over, but too late.
            // mov eax, [busy]; lock add [lost], eax
            code.memory(&[0x8b, 0x05], self.variable(variable::BUSY));
            code.memory(&[0xf0, 0x01, 0x05], self.variable(variable::LOST));
            // mov r12d, [head]; mov eax, r12d; sub eax, [tail]; mov [count], eax
            code.memory(&[0x44, 0x8b, 0x25], self.variable(variable::HEAD));
            code.bytes(&[0x44, 0x89, 0xe0]);
            code.memory(&[0x2b, 0x05], self.variable(variable::TAIL)).memory(&[0x89, 0x05], count);
            let next = code.here();
            // mov eax, [tail]; cmp eax, r12d; je end
            code.memory(&[0x8b, 0x05], self.variable(variable::TAIL)).bytes(&[0x44, 0x39, 0xe0]);
            code.jump_if(If::Equal, end);
            // and eax, places - 1; shl eax, shift; lea rbp, [places]; add rbp, rax
            code.bytes(&[0x25]).number(PLACES - 1).bytes(&[0xc1, 0xe0, PLACE_SHIFT]);
            code.memory(&[0x48, 0x8d, 0x2d], self.places).bytes(&[0x48, 0x01, 0xc5]);
            // movups xmm0, [mark]; movups [rbp], xmm0
            code.memory(&[0x0f, 0x10, 0x05], self.variable(variable::MARK));
            code.bytes(&[0x0f, 0x11, 0x45, 0]);
            // mov r8d, [rbp + kept]; add r8d, 48
            code.bytes(&[0x44, 0x8b, 0x45, notice::KEPT as u8, 0x41, 0x81, 0xc0]);
            code.number(notice::BYTES);
            write(code);
            // inc dword [tail]
            code.memory(&[0xff, 0x05], self.variable(variable::TAIL)).jump(next);
            let end = code.here();
            // xor eax, eax; xchg [lost], eax; mov [lost of the record], eax
            code.bytes(&[0x31, 0xc0]);
            code.memory(&[0x87, 0x05], self.variable(variable::LOST)).memory(&[0x89, 0x05], lost);
            [end]
        });
    }
}

/// `mov eax, gs:[48h]`: the thread ID, from the TEB.
pub(super) const OWN_THREAD: [u8; 8] = [0x65, 0x8b, 0x04, 0x25, 0x48, 0, 0, 0];
