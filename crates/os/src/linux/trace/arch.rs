//! Everything about the processor that tracing must know: x86-64.

use super::ptrace::{self, Tid};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use model::MappedVa;
use std::io;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("tracing exists for x86-64 only so far");

/// General registers of a stopped tracee.
pub type Registers = libc::user_regs_struct;

/// The one-byte breakpoint instruction, int3.
pub const BREAKPOINT: u8 = 0xcc;

/// `pushfq`.
pub const PUSH_FLAGS: u8 = 0x9c;

/// Of the flags: an exception behind the next instruction, as a single step needs it.
const TRAP: u64 = 0x100;
/// AUDIT_ARCH_X86_64 (linux/audit.h).
pub const AUDIT_ARCH: u32 = 0xc000_003e;
/// ARCH_SET_FS, the code of arch_prctl(2) that sets the thread pointer.
pub const SET_THREAD_POINTER: u32 = 0x1002;
/// Where `struct user` keeps the instruction pointer: among the registers, which come first.
const INSTRUCTION_POINTER: usize = std::mem::offset_of!(Registers, rip);
/// `add rbx, 8`.
pub const NEXT_WORD: [u8; 4] = [0x48, 0x83, 0xc3, 0x08];
/// A jump by so many bytes as the next byte says.
pub const SHORT_JUMP: [u8; 1] = [0xeb];
/// Length of the CPUID instruction.
const CPUID_LENGTH: u64 = 2;

/// Address of the breakpoint instruction that `tid` has just executed.
pub fn breakpoint_address(tid: Tid) -> io::Result<MappedVa> {
    Ok(MappedVa(instruction_pointer(tid)?.0.wrapping_sub(1)))
}

/// Address of the instruction that `tid` executes next.
pub fn instruction_pointer(tid: Tid) -> io::Result<MappedVa> {
    ptrace::user_word(tid, INSTRUCTION_POINTER).map(MappedVa)
}

/// Makes `tid` continue at `address`.
pub fn set_instruction_pointer(tid: Tid, address: MappedVa) -> io::Result<()> {
    ptrace::set_user_word(tid, INSTRUCTION_POINTER, address.0)
}

/// `pushfq` was executed by a single step: the flags that it has put on the stack are to be those of the program, which
/// may restore them.
pub fn clear_saved_trap(tid: Tid) -> io::Result<()> {
    let stack = stack_pointer(&ptrace::registers(tid)?);
    let [flags] = ptrace::read_words::<1>(tid, stack).ok_or(io::ErrorKind::NotFound)?;
    ptrace::write_memory(tid, stack, &(flags & !TRAP).to_le_bytes())
}

/// The stack pointer.
pub fn stack_pointer(registers: &Registers) -> MappedVa {
    MappedVa(registers.rsp)
}

/// Registers by their DWARF number (psABI 3.6.2); the last is the next instruction's address.
pub fn dwarf_registers(r: &Registers) -> [u64; 17] {
    [
        r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
        r.r13, r.r14, r.r15, r.rip,
    ]
}

/// First argument of a function, at its first instruction (psABI 3.2.3).
pub fn first_argument(tid: Tid) -> io::Result<MappedVa> {
    Ok(MappedVa(ptrace::registers(tid)?.rdi))
}

/// Whether the tracee executes 32-bit code (__USER32_CS).
pub fn is_32_bit(registers: &Registers) -> bool {
    registers.cs == 0x23
}

/// Has `tid`, which is stopped by a signal, make the action of SIGTRAP this one, and leaves it
/// stopped by the same signal.
pub fn set_trap_action(tid: Tid, action: &[u8]) -> io::Result<()> {
    const SYSCALL: u64 = 0x050f;
    // No other signal may come first.
    const OTHER_SIGNALS: u64 = !(1 << (libc::SIGTRAP - 1));
    let information = ptrace::signal_information(tid)?;
    let (registers, mask) = (ptrace::registers(tid)?, ptrace::signal_mask(tid)?);
    let code = MappedVa(registers.rip);
    let word = ptrace::code_word(tid, code)?;
    let room = MappedVa(registers.rsp.wrapping_sub(256) & !15);
    ptrace::write_memory(tid, room, action)?;
    ptrace::set_signal_mask(tid, OTHER_SIGNALS)?;
    ptrace::set_code_word(tid, code, (word & !0xffff) | SYSCALL)?;
    let mut call = registers;
    call.rax = libc::SYS_rt_sigaction as u64;
    (call.rdi, call.rsi, call.rdx, call.r10) = (libc::SIGTRAP as u64, room.0, 0, 8);
    call.orig_rax = u64::MAX;
    ptrace::set_registers(tid, &call)?;
    let made = make_call(tid);
    ptrace::set_code_word(tid, code, word)?;
    ptrace::set_registers(tid, &registers)?;
    ptrace::set_signal_mask(tid, mask)?;
    ptrace::set_signal_information(tid, &information)?;
    made
}

/// Executes a system call, at which the filter may stop too, and leaves the tracee stopped by
/// SIGTRAP. A step would do the same, but handlers are told which trap was the last one
/// (`trapno` in sigcontext): Wine's goes by it.
fn make_call(tid: Tid) -> io::Result<()> {
    let next = |how| {
        ptrace::resume(tid, how);
        ptrace::wait_for_stop(tid).ok_or(io::ErrorKind::NotFound)
    };
    let mut stops = 0;
    while stops < 2 {
        let status = next(ptrace::Resume::ToSyscallExit)?;
        stops += u32::from(libc::WSTOPSIG(status) == libc::SIGTRAP | 0x80);
    }
    next(ptrace::Resume::Continue(libc::SIGTRAP))?;
    Ok(())
}

/// Number of the system call that the tracee is in.
pub fn syscall_number(registers: &Registers) -> i64 {
    registers.orig_rax as i64
}

/// Arguments of the system call that the tracee is in.
pub fn syscall_arguments(registers: &Registers) -> [u64; 6] {
    [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9]
}

/// What the system call gave: a value, or an error number below zero.
pub fn syscall_result(registers: &Registers) -> i64 {
    registers.rax as i64
}

/// Flags of the clone, fork or vfork that the tracee has just made.
pub fn clone_flags(tid: Tid, registers: &Registers) -> u64 {
    const I386_CLONE: i64 = 120;
    match syscall_number(registers) {
        I386_CLONE if is_32_bit(registers) => registers.rbx,
        libc::SYS_clone => registers.rdi,
        libc::SYS_clone3 => {
            let words = ptrace::read_words::<1>(tid, MappedVa(registers.rdi));
            words.map_or(0, |[flags]| flags)
        }
        libc::SYS_vfork => (libc::CLONE_VM | libc::CLONE_VFORK) as u64,
        _ => 0,
    }
}

/// Replaces the flags of the clone that `tid` makes.
pub fn set_clone_flags(tid: Tid, flags: u64) -> io::Result<()> {
    let registers = ptrace::registers(tid)?;
    match syscall_number(&registers) {
        libc::SYS_clone => ptrace::set_registers(tid, &Registers { rdi: flags, ..registers }),
        // The first word of its structure, which may be read-only.
        libc::SYS_clone3 => ptrace::set_code_word(tid, MappedVa(registers.rdi), flags),
        _ => Ok(()),
    }
}

/// Gives the system call that `tid` is about to make this result, without making it.
pub fn answer(tid: Tid, result: i64) -> io::Result<()> {
    let registers = ptrace::registers(tid)?;
    let answered = Registers { orig_rax: u64::MAX, rax: result as u64, ..registers };
    ptrace::set_registers(tid, &answered)
}

/// Does in `registers` what the CPUID instruction at `address` would do.
///
/// The tracer runs on the same kind of processor, and on the same one when both are pinned, so
/// it gets the same answer.
pub fn emulate_cpuid(registers: &mut Registers, address: MappedVa) {
    let answer = core::arch::x86_64::__cpuid_count(registers.rax as u32, registers.rcx as u32);
    registers.rax = u64::from(answer.eax);
    registers.rbx = u64::from(answer.ebx);
    registers.rcx = u64::from(answer.ecx);
    registers.rdx = u64::from(answer.edx);
    registers.rip = address.wrapping_add(CPUID_LENGTH).0;
}

/// Fills a buffer from the program's memory and gives the number of bytes.
type Read<'a> = &'a dyn Fn(MappedVa, &mut [u8]) -> usize;

/// Has the decoder build its tables, half a millisecond that must not fall into a launch.
pub fn prepare() {
    find_main(MappedVa::ZERO, &|_, code| {
        code.fill(BREAKPOINT);
        code.len()
    });
}

/// Finds `main` from the code at the entry point.
///
/// The start code of every C library loads the address of `main` into the first argument
/// register before it calls `__libc_start_main`; musl does so in a function that `_start`
/// calls.
pub fn find_main(entry: MappedVa, read: Read<'_>) -> Option<MappedVa> {
    match scan_start(entry, read) {
        Start::Main(address) => Some(address),
        Start::Calls(target) => match scan_start(target, read) {
            Start::Main(address) => Some(address),
            _ => None,
        },
        Start::Unknown => None,
    }
}

/// What a piece of start code does.
enum Start {
    /// It calls a function with this address as its first argument.
    Main(MappedVa),
    /// It calls this function with something else as its first argument.
    Calls(MappedVa),
    /// Neither.
    Unknown,
}

fn scan_start(start: MappedVa, read: Read<'_>) -> Start {
    let mut code = [0; 160];
    let length = read(start, &mut code).min(code.len());
    let decoder = Decoder::with_ip(64, &code[..length], start.0, DecoderOptions::NONE);
    let mut argument = None;
    for instruction in decoder {
        match instruction.flow_control() {
            FlowControl::Next => {
                if let Some(value) = loaded_argument(&instruction, read) {
                    argument = value;
                }
            }
            FlowControl::Call | FlowControl::UnconditionalBranch => {
                let target = MappedVa(instruction.near_branch_target());
                return argument.map_or(Start::Calls(target), Start::Main);
            }
            FlowControl::IndirectCall | FlowControl::IndirectBranch => {
                return argument.map_or(Start::Unknown, Start::Main);
            }
            _ => return Start::Unknown,
        }
    }
    Start::Unknown
}

/// `None` where `instruction` leaves the first argument register alone; otherwise its new value,
/// as far as it is a constant.
fn loaded_argument(instruction: &Instruction, read: Read<'_>) -> Option<Option<MappedVa>> {
    let writes = instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().full_register() == Register::RDI
        && instruction.op_count() > 1;
    if !writes {
        return None;
    }
    let value = match instruction.code() {
        Code::Lea_r64_m if instruction.is_ip_rel_memory_operand() => {
            Some(instruction.ip_rel_memory_address())
        }
        Code::Mov_r32_imm32 => Some(u64::from(instruction.immediate32())),
        Code::Mov_r64_imm64 | Code::Mov_rm64_imm32 => Some(instruction.immediate(1)),
        Code::Mov_r64_rm64 if instruction.is_ip_rel_memory_operand() => {
            let mut word = [0; 8];
            let from = MappedVa(instruction.ip_rel_memory_address());
            let complete = read(from, &mut word) == 8;
            complete.then(|| u64::from_le_bytes(word))
        }
        _ => None,
    };
    Some(value.map(MappedVa))
}

/// Does in `registers` what `add rbx, 8` at `address` would do: the instruction to which a bundle's
/// initializers return. What it would do to the flags nobody looks at.
pub fn emulate_next_word(registers: &mut Registers, address: MappedVa) {
    registers.rbx = registers.rbx.wrapping_add(8);
    registers.rip = address.wrapping_add(NEXT_WORD.len() as u64).0;
}

/// Does in `registers` what a jump to `target` would do.
pub fn jump(registers: &mut Registers, target: MappedVa) {
    registers.rip = target.0;
}

/// Offsets in `code` of the CPUID instructions among those that begin at its first byte and
/// follow one another.
pub fn cpuid_offsets(code: &[u8]) -> Vec<usize> {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut offsets = Vec::new();
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        let offset = decoder.position();
        decoder.decode_out(&mut instruction);
        // A prefix would make it longer than the two bytes that are emulated; no compiler emits one.
        if instruction.code() == Code::Cpuid && instruction.len() as u64 == CPUID_LENGTH {
            offsets.push(offset);
        }
    }
    offsets
}

/// Offsets of bytes that could be a CPUID instruction.
pub fn cpuid_candidates(code: &[u8]) -> impl Iterator<Item = usize> + '_ {
    code.windows(2).enumerate().filter(|(_, pair)| *pair == [0x0f, 0xa2]).map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_of(code: &[u8]) -> Option<u64> {
        let code = code.to_vec();
        let main = find_main(MappedVa(0x1000), &move |address, target| {
            let from = (address.0 as usize).wrapping_sub(0x1000);
            let available = code.get(from..).unwrap_or(&[]);
            let length = available.len().min(target.len());
            target[..length].copy_from_slice(&available[..length]);
            length
        });
        main.map(|main| main.0)
    }

    #[test]
    fn main_is_read_from_the_start_code_of_c_libraries() {
        // lea rdi, [rip+0x10]; call [rip+0]
        assert_eq!(main_of(b"\x48\x8d\x3d\x10\0\0\0\xff\x15\0\0\0\0"), Some(0x1017));
        // mov rdi, 0x401106; call [rip+0]
        assert_eq!(main_of(b"\x48\xc7\xc7\x06\x11\x40\0\xff\x15\0\0\0\0"), Some(0x401106));
        // mov edi, 0x401106; call next
        assert_eq!(main_of(b"\xbf\x06\x11\x40\0\xe8\0\0\0\0"), Some(0x401106));
        // mov rdi, [rip+6]; call [rip+0]; then the word
        let got = b"\x48\x8b\x3d\x06\0\0\0\xff\x15\0\0\0\0\x34\x12\0\0\0\0\0\0";
        assert_eq!(main_of(got), Some(0x1234));
        // mov rdi, rsp; call +0; lea rdi, [rip+8]; jmp +0
        let musl = b"\x48\x89\xe7\xe8\0\0\0\0\x48\x8d\x3d\x08\0\0\0\xe9\0\0\0\0";
        assert_eq!(main_of(musl), Some(0x1017));
    }

    #[test]
    fn other_start_code_gives_no_main() {
        // mov rdi, [rsp]; jmp to itself: the Go runtime
        assert_eq!(main_of(b"\x48\x8b\x3c\x24\xeb\xfa"), None);
        assert_eq!(main_of(b"\x0f\x0b"), None);
        assert_eq!(main_of(b""), None);
    }
}
