//! The program of every launcher: it chooses the plan for its arguments, has it read ahead by a
//! process of its own if the plan's samples are not in memory, and becomes the program.
//!
//! It has no library, no data that can be written, and nothing that could panic (a test looks): what is
//! outside its data reads as nothing.
#![no_std]
#![no_main]

#[path = "../class.rs"]
#[allow(dead_code)] // Headstart writes classes, too.
mod class;
mod exec;
#[path = "../format.rs"]
#[allow(dead_code)]
mod format;
mod gate;
mod memory;
mod reader;
mod system;

use class::ClassWords;
use core::arch::global_asm;
use exec::StartWords;
use format::{ANY_CLASS, Data, PlanEntry};

// The kernel begins here, with the words of the launch at the stack pointer.
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym main
);

/// Where `launcher.ld` has the data mapped: its length as a `u64`, and the data.
const DATA_ADDRESS: usize = 0x2000_0000;

extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: the kernel hands the words of the launch over in this way (System V ABI, "Process
    // Initialization").
    let launch = unsafe { StartWords::of(stack) };
    // SAFETY: it is mapped there with its length before it, and nobody writes to it.
    let data = unsafe {
        let begin = core::ptr::with_exposed_provenance::<u64>(DATA_ADDRESS);
        core::slice::from_raw_parts(begin.add(1).cast::<u8>(), begin.read() as usize)
    };
    let data = Data(data);
    if !data.is_whole() {
        system::say(b"this launcher has no data; install it again\n");
        system::exit(127);
    }
    if let Some(plan) = chosen(data, &launch)
        && plan.requests.count() > 0
        && !gate::is_warm(data, &plan)
    {
        exec::start_reader(data, &plan);
    }
    launch.become_program(data)
}

/// The plan for launches with these arguments, else the one for any.
fn chosen(data: Data<'static>, launch: &StartWords) -> Option<PlanEntry> {
    let mut plans = data.plans().places().map(|at| data.plan(at));
    plans.find(|plan| plan.class.count() == ANY_CLASS || is_of(data, plan, launch))
}

/// Whether the arguments have all words of the class, and no others.
#[inline(never)] // It makes its callers larger than two pages.
fn is_of(data: Data<'static>, plan: &PlanEntry, launch: &StartWords) -> bool {
    let all = u64::MAX.checked_shl(plan.class.count()).map_or(u64::MAX, |above| !above);
    let (mut words, mut found) = (ClassWords::new(), 0_u64);
    for argument in launch.arguments(data) {
        let Some(word) = words.next(argument) else { continue };
        let is_it = |index: &u32| {
            plan.class.at(*index).is_some_and(|at| word.is(data.string(data.u32(at) as usize)))
        };
        match (0..plan.class.count().min(u64::BITS)).find(is_it) {
            Some(index) => found |= 1_u64.wrapping_shl(index),
            None => return false,
        }
    }
    found == all
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    system::exit(127)
}
