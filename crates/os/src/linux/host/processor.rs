//! What the processor says about the machine, and what asking costs.

use crate::linux::cpuid;

/// The hypervisor's name, as people write it, where this is a virtual machine.
pub fn hypervisor() -> Option<String> {
    Some(match cpuid::is_virtual()?.as_str() {
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

/// Microseconds that one CPUID instruction takes; `None` on processors without it.
pub fn cpuid_cost_us() -> Option<f64> {
    Some(cpuid::cpuid_cost_us())
}

#[cfg(test)]
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
