//! The code that all programs share: how they begin and how they end.

use super::bytes::Bytes;
use super::code::Code;
use super::layout::Layout;

/// Writes ebx in decimal to stderr and exits with code 1.
#[rustfmt::skip]
const FAIL: [u8; 67] = [
    0x89, 0xd8,                         // mov eax, ebx
    0x48, 0x83, 0xec, 0x20,             // sub rsp, 32
    0x48, 0x8d, 0x74, 0x24, 0x1f,       // lea rsi, [rsp + 31]
    0xc6, 0x06, 0x0a,                   // mov byte [rsi], 10
    0xb9, 0x0a, 0x00, 0x00, 0x00,       // mov ecx, 10
    0x31, 0xd2,                         // digit: xor edx, edx
    0xf7, 0xf1,                         // div ecx
    0x80, 0xc2, 0x30,                   // add dl, '0'
    0x48, 0xff, 0xce,                   // dec rsi
    0x88, 0x16,                         // mov [rsi], dl
    0x85, 0xc0,                         // test eax, eax
    0x75, 0xf0,                         // jnz digit
    0x48, 0x8d, 0x54, 0x24, 0x20,       // lea rdx, [rsp + 32]
    0x48, 0x29, 0xf2,                   // sub rdx, rsi
    0xbf, 0x02, 0x00, 0x00, 0x00,       // mov edi, 2
    0xb8, 0x01, 0x00, 0x00, 0x00,       // mov eax, 1 (write)
    0x0f, 0x05,                         // syscall
    0xbf, 0x01, 0x00, 0x00, 0x00,       // mov edi, 1
    0xb8, 0xe7, 0x00, 0x00, 0x00,       // mov eax, 231 (exit_group)
    0x0f, 0x05,                         // syscall
];

/// Exits with code 0 without arguments, with 2 with others than `--call`, and goes on with it.
#[rustfmt::skip]
const START: [u8; 50] = [
    0x48, 0x83, 0x3c, 0x24, 0x01,       // cmp qword [rsp], 1
    0x77, 0x09,                         // ja arguments
    0x31, 0xff,                         // xor edi, edi
    0xb8, 0xe7, 0x00, 0x00, 0x00,       // mov eax, 231 (exit_group)
    0x0f, 0x05,                         // syscall
    0x48, 0x8b, 0x74, 0x24, 0x10,       // arguments: mov rsi, [rsp + 16]
    0x81, 0x3e, b'-', b'-', b'c', b'a', // cmp dword [rsi], "--ca"
    0x75, 0x09,                         // jne unknown
    0x81, 0x7e, 0x03, b'a', b'l', b'l', 0x00, // cmp dword [rsi + 3], "all\0"
    0x74, 0x0c,                         // je call
    0xbf, 0x02, 0x00, 0x00, 0x00,       // unknown: mov edi, 2
    0xb8, 0xe7, 0x00, 0x00, 0x00,       // mov eax, 231 (exit_group)
    0x0f, 0x05,                         // syscall; call:
];

/// Exits with code 0.
#[rustfmt::skip]
const DONE: [u8; 9] = [
    0x31, 0xff,                         // xor edi, edi
    0xb8, 0xe7, 0x00, 0x00, 0x00,       // mov eax, 231 (exit_group)
    0x0f, 0x05,                         // syscall
];

/// Bytes before the entry: [`FAIL`], rounded up.
pub(super) const BEFORE_ENTRY: u64 = 80;
/// Bytes of everything but the work in between.
pub(super) const FRAME_BYTES: u64 = BEFORE_ENTRY + START.len() as u64 + DONE.len() as u64;

/// Address of the code that reports the number in ebx.
pub(super) fn fail(at: &Layout) -> u64 {
    at.text.at
}

/// Writes a program around `work`, which runs with `--call` only if `on_call`.
pub(super) fn write(at: &Layout, out: &mut Bytes, on_call: bool, work: impl FnOnce(&mut Code)) {
    let mut code = Code { out, at: at.text.at };
    code.raw(&FAIL);
    code.at = at.text.at + BEFORE_ENTRY;
    if on_call {
        code.raw(&START);
    }
    work(&mut code);
    code.raw(&DONE);
}
