//! Launches in which a file is in the place of another, and what others see meanwhile.

use super::*;
use crate::launcher::{GRACE, LaunchSpec, Launcher, Stdio};
use crate::program::resolve;
use crate::trace::{TraceRequest, trace};
use model::{Ending, Until};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// `over` says "before", and `instead` says "after"; both are scripts.
fn scripts(folder: &Path) -> Cover {
    let over = testkit::script(folder, "over", "#!/bin/sh\nexit 3\n");
    let file = testkit::script(folder, "instead", "#!/bin/sh\nexit 5\n");
    Cover { file, over }
}

fn ending(launcher: &mut Launcher, program: &Path) -> Ending {
    let null = Stdio::null().unwrap();
    let slot = launcher.prepare(&resolve(&[program]).unwrap(), &null, &[]).unwrap();
    let (until, timeout) = (Until::Exit, Duration::from_secs(20));
    launcher.once(slot, &LaunchSpec { until, timeout, grace: GRACE }).unwrap().launch.ending
}

fn is_permitted() -> bool {
    let permitted = permitted();
    if let Err(error) = &permitted {
        testkit::skip(&error.to_string());
    }
    permitted.is_ok()
}

#[test]
fn a_file_is_in_the_place_of_another_for_one_launcher_alone() {
    if !is_permitted() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cover = scripts(folder.path());
    let place = PlacedFiles { covers: vec![cover.clone()] };
    let (mut plain, mut inside) = (Launcher::start().unwrap(), Launcher::start().unwrap());
    inside.enter(&place).unwrap();
    assert_eq!(ending(&mut inside, &cover.over), Ending::Code(5));
    assert_eq!(ending(&mut plain, &cover.over), Ending::Code(3));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&cover.over.display().to_string()), "{mounts}");
    drop(inside);
    fs::remove_file(&cover.over).expect("nothing is mounted over it");
}

#[test]
fn a_traced_launch_sees_it_too() {
    if !geteuid().is_root() {
        return testkit::skip("only root can put files in place for a traced launch");
    }
    let folder = tempfile::tempdir().unwrap();
    let cover = scripts(folder.path());
    let traced = |place| {
        let request = TraceRequest { place, ..TraceRequest::new(Stdio::null().unwrap()) };
        trace(&resolve(&[&cover.over]).unwrap(), &request).unwrap().ending
    };
    assert_eq!(traced(Some(PlacedFiles { covers: vec![cover.clone()] })), Ending::Code(5));
    assert_eq!(traced(None), Ending::Code(3));
}

#[test]
fn a_program_with_privileges_is_never_covered() {
    if !is_permitted() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cover = scripts(folder.path());
    fs::set_permissions(&cover.over, fs::Permissions::from_mode(0o4755)).unwrap();
    let mut launcher = Launcher::start().unwrap();
    let error = launcher.enter(&PlacedFiles { covers: vec![cover] }).unwrap_err().to_string();
    assert!(error.contains("set-user-ID"), "{error}");
}
