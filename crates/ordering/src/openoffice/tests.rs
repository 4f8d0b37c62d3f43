//! The experiment on a program of a page or two.

use super::*;
use model::{OrderVerdict, PageinForm};
use os::trace::{FunctionRequest, RecordUntil};
use std::fs;
use std::time::Duration;

/// Functions of a kilobyte each; `main` calls every tenth, and one more where it has an argument.
fn source() -> String {
    let mut text = "static volatile int sink;\n".to_owned();
    for number in 0..400 {
        let body = "sink += sink * 3;".repeat(60);
        text += &format!("__attribute__((noinline)) void f_{number}(void) {{ {body} }}\n");
    }
    let calls: String = (0..400).step_by(10).map(|number| format!("f_{number}();")).collect();
    text + &format!(
        "int main(int argc, char **argv) {{ {calls} if (argc > 1) f_5(); return 0; }}\n"
    )
}

fn request(source: &Path, build: &str, save: &Path) -> OpenOfficeRequest {
    let launch = launch(Path::new("unset"), &[]);
    let task = |title: &str| Task {
        title: title.to_owned(),
        arguments: title.split_whitespace().map(OsString::from).collect(),
    };
    OpenOfficeRequest {
        source: ProgramSource::Own(OwnProgram {
            source: source.to_owned(),
            build: build.to_owned(),
            launches: vec![task("")],
            held_out: vec![task("more")],
        }),
        linker: Linker::Lld,
        on: None,
        save: Some(save.to_owned()),
        verify: VerifyRequest {
            old: launch.clone(),
            new: launch,
            held_out: Vec::new(),
            recording: FunctionRequest {
                until: RecordUntil::Launch(model::Until::Exit),
                first: None,
                count_limit: None,
                timeout: Duration::from_secs(60),
                cpu: Some(os::host::quiet_cpu()),
                stdio: os::launcher::Stdio::null().unwrap(),
            },
            warm_rounds: 0,
            cold_rounds: 0,
            ignore_failure: false,
        },
    }
}

/// The experiment with this command, in a folder of its own; `None` without the tools, said loudly.
fn made(build: &str) -> Option<(Result<OpenOffice, OpenOfficeError>, tempfile::TempDir)> {
    testkit::tool("gcc")?;
    testkit::tool("ld.lld-19")?;
    let folder = tempfile::tempdir().unwrap();
    let source_folder = folder.path().join("tiny");
    fs::create_dir(&source_folder).unwrap();
    fs::write(source_folder.join("tiny.c"), source()).unwrap();
    let save = folder.path().join("kept");
    let request = request(&source_folder, build, &save);
    let launchers = ExperimentLaunchers::start().unwrap();
    Some((openoffice(&request, launchers, &mut |_| {}), folder))
}

const BUILD: &str = "gcc -O1 -ffunction-sections -fuse-ld=lld -B /usr/lib/llvm-19/bin \
                     -Wl,--symbol-ordering-file=@ORDER@ -o @OUT@ tiny.c";

#[test]
fn a_program_is_ordered_verified_and_read_ahead() {
    let Some((made, folder)) = made(BUILD) else { return };
    let OpenOffice { experiment, folder: kept } = made.unwrap();
    let verification = &experiment.verification;
    assert_ne!(verification.verdict, OrderVerdict::Rejected, "{:?}", verification.notes);
    assert!(verification.new.pages * 2 < verification.old.pages, "{verification:?}");
    assert_eq!(verification.held_out[0].command, "more");
    assert_eq!(experiment.order.image, "tiny");
    let forms: Vec<PageinForm> = experiment.pagein.iter().map(|row| row.form).collect();
    let all = [PageinForm::Neither, PageinForm::Pagein, PageinForm::Order, PageinForm::Both];
    assert_eq!(forms, all);
    // What is read ahead is the whole file, where reads can be seen and files leave memory.
    let bytes: Vec<Option<u64>> = experiment.pagein.iter().map(|row| row.bytes.get()).collect();
    match bytes[..] {
        [Some(neither), Some(pagein), ..] if neither > 0 => {
            assert!(pagein >= neither && pagein >= 400 * 1000, "{bytes:?}");
        }
        _ => testkit::skip("reads are not seen here"),
    }
    let order = fs::read_to_string(kept.join("tiny.order")).unwrap();
    let first: Vec<&str> = order.lines().filter(|line| line.starts_with("f_")).take(3).collect();
    assert_eq!(first, ["f_0", "f_10", "f_20"]);
    // The programs are gone; the order and what the command writes remain.
    assert_eq!(fs::read_dir(folder.path().join("kept")).unwrap().count(), 1);
}

#[test]
fn what_is_wrong_with_a_build_is_told_and_no_empty_folder_stays() {
    for (build, wanted) in [
        ("false # @ORDER@ @OUT@", "ended with code 1"),
        ("true # @ORDER@ @OUT@", "did not write"),
        ("gcc -O1 -o @OUT@ tiny.c # @ORDER@", "has the same bytes"),
    ] {
        let Some((made, folder)) = made(build) else { return };
        let error = made.unwrap_err().to_string();
        assert!(error.contains(wanted), "{build}: {error}");
        let kept = folder.path().join("kept");
        let has_order = kept.join("tiny.order").exists();
        assert!(has_order || !kept.exists(), "{build}");
    }
}

#[test]
fn a_folder_with_something_in_it_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(matches!(places::claim(Some(folder.path())), Err(OpenOfficeError::NotEmpty(_))));
}
