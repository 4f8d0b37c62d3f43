//! What the processor says about itself (CPUID), and what asking costs.

#[cfg(target_arch = "x86_64")]
use crate::linux::clock::Instant;

/// The hypervisor's name where this is a virtual machine.
///
/// Its signature is CPUID leaf 0x4000_0000, valid where leaf 1 has ECX bit 31 set.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    if __cpuid(1).ecx >> 31 == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
    let signature = String::from_utf8_lossy(&bytes);
    Some(match signature.trim_matches(['\0', ' ']) {
        "KVMKVMKVM" => "KVM".to_owned(),
        "Microsoft Hv" => "Hyper-V".to_owned(),
        "VMwareVMware" => "VMware".to_owned(),
        "XenVMMXenVMM" => "Xen".to_owned(),
        "VBoxVBoxVBox" => "VirtualBox".to_owned(),
        "TCGTCGTCGTCG" => "QEMU (emulated processor)".to_owned(),
        "bhyve bhyve" => "bhyve".to_owned(),
        "ACRNACRNACRN" => "ACRN".to_owned(),
        "" => "a hypervisor without a name".to_owned(),
        other => format!("a hypervisor named '{other}'"),
    })
}

/// The hypervisor's name where this is a virtual machine that says so.
#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Option<String> {
    let read = |path| std::fs::read_to_string(path).ok();
    let text =
        read("/sys/hypervisor/type").or_else(|| read("/proc/device-tree/hypervisor/compatible"))?;
    Some(text.trim_matches(['\0', '\n']).to_owned())
}

/// Median cost of one CPUID instruction, leaf 2 as the loader asks it; `None` on processors
/// without that instruction.
///
/// In a virtual machine every CPUID leaves the guest; on bare metal it takes some 0.05 µs.
#[cfg(target_arch = "x86_64")]
pub fn cpuid_cost_us() -> Option<f64> {
    const PER_SAMPLE: u32 = 4;
    let mut samples: Vec<f64> = (0..25)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..PER_SAMPLE {
                std::hint::black_box(std::arch::x86_64::__cpuid(2));
            }
            Instant::now().us_since(start) / f64::from(PER_SAMPLE)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}

/// Median cost of one CPUID instruction: this processor has none.
#[cfg(not(target_arch = "x86_64"))]
pub fn cpuid_cost_us() -> Option<f64> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn asking_takes_time_and_agrees_with_the_kernel() {
        assert!(cpuid_cost_us().unwrap() > 0.0);
        let cpu_info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let kernel_says = cpu_info.split_whitespace().any(|flag| flag == "hypervisor");
        assert_eq!(hypervisor().is_some(), kernel_says);
    }
}
