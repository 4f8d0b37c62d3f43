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

/// Whether calling the initializer at `at` changes nothing.
pub(crate) fn is_idle_initializer(code: &MergedCode<'_, '_>, at: BundleVa) -> bool {
    machine::effect(code, at) == Some(Effect::Nothing)
}

/// A finalizer that need not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleFinalizer {
    /// It does nothing, as far as is known.
    Nothing,
    /// It finalizes what was registered with the module's handle, the word here, which holds its own address and which
    /// nothing else knows.
    KnowsHandle(BundleVa),
}

/// Whether calling the finalizer at `at` changes nothing. `__cxa_finalize` looks for what was registered with the
/// module's handle. Where only the finalizer itself knows that, nothing was. Else its handlers, which stand behind
/// the bundle's own in the C library's list, would come too late. Code can compute the handle in ways that are not
/// seen, so a module that can register anything keeps its finalizer.
pub(crate) fn idle_finalizer(code: &MergedCode<'_, '_>, at: BundleVa) -> Option<IdleFinalizer> {
    match machine::effect(code, at)? {
        Effect::Nothing => Some(IdleFinalizer::Nothing),
        Effect::Finalizes(handle) if code.registers() || code.exports(handle) => None,
        Effect::Finalizes(handle) => {
            let (in_code, words) = (code.references_in_code(handle), code.words_with(handle));
            let is_own = code.holds_own_address(handle) && words == 0;
            let idle =
                if is_own { IdleFinalizer::KnowsHandle(handle) } else { IdleFinalizer::Nothing };
            (in_code + words == 1).then_some(idle)
        }
    }
}
