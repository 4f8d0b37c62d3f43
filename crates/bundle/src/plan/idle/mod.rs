//! Initializers and finalizers that do nothing: what compilers and linkers put into every module (`_init`,
//! `frame_dummy`, `_fini`, `__do_global_dtors_aux` of crti.o and crtbeginS.o) for what few modules have.
//!
//! They are recognized by carrying out their instructions, whoever has written them. What is not certain to do
//! nothing stays.

mod machine;
mod merged;
#[cfg(test)]
mod tests;

use machine::Effect;
use model::BundleVa;

pub(crate) use merged::MergedCode;

/// Functions of the C library with which a module registers what `__cxa_finalize` would find for it.
const REGISTERS: [&[u8]; 6] = [
    b"__cxa_atexit",
    b"__cxa_at_quick_exit",
    b"__register_atfork",
    b"atexit",
    b"at_quick_exit",
    b"pthread_atfork",
];

/// Whether calling the initializer at `at` changes nothing.
pub(crate) fn is_idle_initializer(code: &MergedCode<'_, '_>, at: BundleVa) -> bool {
    machine::effect(code, at) == Some(Effect::Nothing)
}

/// Whether calling the finalizer at `at` changes nothing. A module that registers nothing has nothing that
/// `__cxa_finalize` would find. Of one that does it has: the handlers of its constructors, which stand behind
/// the bundle's own in the C library's list, would come too late.
pub(crate) fn is_idle_finalizer(code: &MergedCode<'_, '_>, at: BundleVa) -> bool {
    match machine::effect(code, at) {
        Some(Effect::Nothing) => true,
        Some(Effect::Finalizes) => !code.member.image.refers_to(&REGISTERS),
        None => false,
    }
}
