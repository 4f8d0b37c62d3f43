//! What CPUID costs here, and whether this is a virtual machine; the cycle counter.
//!
//! On a virtual machine every CPUID leaves the guest, which takes microseconds, and the C
//! library's start executes dozens of them.

use crate::clock::Instant;
use core::arch::x86_64::{__cpuid, __cpuid_count, _rdtsc};

/// Leaf that the C library asks most often: deterministic cache parameters.
const CACHE_LEAF: u32 = 4;
const SAMPLES: usize = 101;
/// Bit 31 of ECX of leaf 1: set by hypervisors, zero on every processor.
const HYPERVISOR: u32 = 1 << 31;

/// Microseconds that one CPUID instruction takes: the median of a hundred
/// samples.
///
/// In a virtual machine every CPUID leaves the guest; on bare metal it takes some 0.05 µs.
pub fn cpuid_cost_us() -> f64 {
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            // Ten at a time, so that reading the clock hardly counts.
            let started = Instant::now();
            for index in 0..10 {
                std::hint::black_box(__cpuid_count(CACHE_LEAF, index & 3));
            }
            Instant::now().us_since(started) / 10.0
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[SAMPLES / 2]
}

/// The processor's cycle counter (RDTSC).
pub fn cycles() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 processor and touches no memory.
    unsafe { _rdtsc() }
}

/// The hypervisor's name, as people write it, where this is a virtual machine.
pub fn hypervisor() -> Option<String> {
    Some(match own_name()?.as_str() {
        "KVMKVMKVM" => "KVM".to_owned(),
        "Microsoft Hv" => "Hyper-V".to_owned(),
        "VMwareVMware" => "VMware".to_owned(),
        "XenVMMXenVMM" => "Xen".to_owned(),
        "VBoxVBoxVBox" => "VirtualBox".to_owned(),
        "TCGTCGTCGTCG" => "QEMU (emulated processor)".to_owned(),
        "bhyve bhyve" => "bhyve".to_owned(),
        "ACRNACRNACRN" => "ACRN".to_owned(),
        "" => "an unnamed hypervisor".to_owned(),
        other => format!("a hypervisor named '{other}'"),
    })
}

/// The hypervisor's own name (leaf 0x4000_0000), such as `KVMKVMKVM`; `None` on a real machine.
fn own_name() -> Option<String> {
    if __cpuid(1).ecx & HYPERVISOR == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes: Vec<u8> =
        [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|w| w.to_le_bytes()).collect();
    let name = String::from_utf8_lossy(&bytes);
    Some(name.trim_matches(['\0', ' ']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_virtual_machine_is_known_to_the_kernel_too() {
        let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        assert_eq!(hypervisor().is_some(), flags.contains(" hypervisor"));
    }

    #[test]
    fn a_cpuid_takes_time() {
        let cost = cpuid_cost_us();
        assert!(cost > 0.0 && cost < 1000.0, "{cost}");
    }
}
