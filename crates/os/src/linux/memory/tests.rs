//! Memory of small programs, against what the kernel says elsewhere.

use super::*;
use crate::linux::processes::{line, own_pid};

#[test]
fn the_mappings_of_this_process_sum_to_what_the_kernel_says() {
    // Other tests run in this process meanwhile; a child that waits does not change.
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    testkit::wait_until_asleep(child.id());
    let memory = read(child.id());
    let pid = child.id().cast_signed();
    let size = line(pid, "status", "VmSize:");
    child.kill().unwrap();
    child.wait().unwrap();
    let memory = memory.unwrap();
    assert_eq!(memory.agrees(), Some(true));
    let kib = size.unwrap().strip_suffix(" kB").unwrap().parse::<u64>().unwrap();
    assert_eq!(memory.sum().memory.size_kib, kib);
    assert!(memory.command.ends_with("sleep 1000"), "{}", memory.command);
    let sum = memory.sum().memory;
    assert_eq!(sum.rss_kib, sum.private_kib + sum.shared_kib);
    assert_eq!(sum.rss_kib, sum.shareable_kib + sum.copied_kib);
    assert!(memory.mappings.is_sorted_by_key(|mapping| mapping.memory.start));
}

#[test]
fn pages_agree_with_the_figures_of_their_mapping() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    testkit::wait_until_asleep(child.id());
    let memory = read(child.id());
    let mut compared = 0;
    for mapping in &memory.as_ref().unwrap().mappings {
        if !mapping.is_of_file() {
            continue;
        }
        let (mut present, mut exclusive, mut of_file) = (0, 0, 0);
        for page in pages(child.id(), &mapping.memory).unwrap() {
            present += u64::from(page.is_present());
            exclusive += u64::from(page.is_present() && page.is_exclusive());
            of_file += u64::from(page.is_present() && page.is_of_file());
        }
        let kib = crate::linux::residency::page_bytes() / 1024;
        let figures = mapping.figures.memory;
        assert_eq!(present * kib, figures.rss_kib, "{mapping:?}");
        assert_eq!(exclusive * kib, figures.private_kib, "{mapping:?}");
        assert_eq!(of_file * kib, figures.shareable_kib, "{mapping:?}");
        compared += 1;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(compared > 5);
}

#[test]
fn what_has_no_memory_is_told_apart() {
    assert!(matches!(read(u32::MAX), Err(MemoryError::NoProcess(_))));
    assert!(matches!(read(4_000_000), Err(MemoryError::NoProcess(_))));
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let ended = || processes::stat_fields(child.id().cast_signed()).is_some_and(|f| f[0] == "Z");
    while !ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(read(child.id()), Err(MemoryError::Zombie(_))));
    child.wait().unwrap();
    // Process 2 starts the threads of the kernel, unless this is a container.
    if line(2, "comm", "kthreadd").is_some() {
        assert!(matches!(read(2), Err(MemoryError::KernelThread(2))));
    }
    assert!(own_pid() > 0);
}
