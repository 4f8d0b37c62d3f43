//! The kernel's calls that a launcher makes (syscalls(2), x86-64).

mod files;
mod processes;

use core::arch::asm;
use core::ptr;
pub use files::*;
pub use processes::*;

const MMAP: usize = 9;

/// # Safety
/// As the call with this number: memory that it is given must be fit for it.
unsafe fn call(number: usize, a: [usize; 6]) -> isize {
    let result;
    // SAFETY: the caller's; the kernel changes rcx and r11 only.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a[0],
            in("rsi") a[1],
            in("rdx") a[2],
            in("r10") a[3],
            in("r8") a[4],
            in("r9") a[5],
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

/// A structure of the size of `struct stat` and `struct rusage` of x86-64.
type Answer = [u64; 18];

/// Makes a call with the argument `first` that writes a structure to `answer`. Returns whether it succeeds.
///
/// # Safety
/// `first` is a valid argument of the call with this number, and the structure is no larger than an [`Answer`].
unsafe fn ask(number: usize, first: usize, answer: &mut Answer) -> bool {
    // SAFETY: the caller's.
    unsafe { call(number, [first, ptr::from_mut(answer).addr(), 0, 0, 0, 0]) == 0 }
}

/// A call that is given numbers, which can do no harm to memory.
fn plain(number: usize, a: [usize; 3]) -> isize {
    // SAFETY: no memory is passed.
    unsafe { call(number, [a[0], a[1], a[2], 0, 0, 0]) }
}

/// Zeroed memory of its own, with `shared` the children's, too.
pub fn memory(bytes: usize, shared: bool) -> Option<*mut u8> {
    let kind = if shared { 1 } else { 2 };
    // SAFETY: at a place that the kernel chooses.
    let result = unsafe { call(MMAP, [0, bytes, 3, 0x20 | kind, usize::MAX, 0]) };
    // The last page of addresses are errors.
    (result > 0 || result < -4095).then_some(result as *mut u8)
}

// What the compiler may call without being asked.

/// # Safety
/// As memcpy(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _, inout("rcx") bytes => _);
    }
    to
}

/// # Safety
/// As memset(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(at: *mut u8, byte: i32, bytes: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        asm!("rep stosb", inout("rdi") at => _, in("al") byte as u8, inout("rcx") bytes => _);
    }
    at
}

/// # Safety
/// As memcmp(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, bytes: usize) -> i32 {
    for at in 0..bytes {
        // SAFETY: the caller's.
        let (a, b) = unsafe { (one.add(at).read_volatile(), other.add(at).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// # Safety
/// As bcmp(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, bytes: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { memcmp(one, other, bytes) }
}

/// The bytes of a string, without its NUL.
///
/// # Safety
/// It ends with NUL, and lasts.
pub unsafe fn string(text: *const u8) -> &'static [u8] {
    // SAFETY: the caller's.
    unsafe { core::slice::from_raw_parts(text, length(text)) }
}

/// # Safety
/// As strlen(3).
unsafe fn length(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller's.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}
