//! What the processor says of itself.

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{hypervisor, model};

/// The name that Windows gives it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn model() -> String {
    std::env::var("PROCESSOR_IDENTIFIER").unwrap_or_else(|_| "unknown model".to_owned())
}

/// Not asked for.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn hypervisor() -> Option<String> {
    None
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    pub(in crate::windows::host) use crate::cpuid::hypervisor;
    use core::arch::x86_64::__cpuid;

    /// The first leaf of the processor's name, and the one that says which leaves there are.
    const NAME_LEAF: u32 = 0x8000_0002;
    const EXTENDED_LEAVES: u32 = 0x8000_0000;

    /// The processor's own name for itself.
    pub(in crate::windows::host) fn model() -> String {
        if __cpuid(EXTENDED_LEAVES).eax < NAME_LEAF + 2 {
            return "unknown model".to_owned();
        }
        let leaves = (NAME_LEAF..NAME_LEAF + 3).map(__cpuid);
        let words = leaves.flat_map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]);
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned()
    }
}
