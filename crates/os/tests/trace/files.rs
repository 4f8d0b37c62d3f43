//! Calls on the file system.

use crate::support::{folder, gcc, traced_with};
use model::{FileCall, FileOperation};

fn calls(argv: &[&str]) -> (i32, Vec<FileCall>) {
    let run = traced_with(argv, |request| request.record_files = true);
    (run.code(), run.launch.trace.file_calls)
}

#[test]
fn calls_are_recorded_with_their_paths_and_errors() {
    let source = r#"
        #define _GNU_SOURCE
        #include <dirent.h>
        #include <fcntl.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            char text[100];
            struct stat data;
            struct statx more;
            chdir(argv[1]);
            int folder = open(".", O_RDONLY | O_DIRECTORY);
            close(openat(folder, "present", O_CREAT | O_WRONLY, 0600));
            open("absent", O_RDONLY);
            stat("present", &data);
            lstat("./absent", &data);
            fstat(folder, &data);
            fstatat(folder, "", &data, AT_EMPTY_PATH);
            statx(folder, "present", 0, STATX_SIZE, &more);
            access("/etc/passwd", R_OK);
            faccessat(folder, "absent", R_OK, 0);
            readlink("present", text, 100);
            closedir(({ DIR *d = opendir(argv[1]); while (readdir(d)); d; }));
            execl("absent", "absent", (char *)0);
            execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
        }"#;
    let folder = folder();
    let Some(program) = gcc(folder.path(), "program", source, &["-w"]) else { return };
    let root = folder.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let (code, calls) = calls(&[program.to_str().unwrap(), root]);
    assert_eq!(code, 6);
    let own: Vec<_> = calls
        .iter()
        .take_while(|call| call.path != "/bin/sh")
        .filter(|call| call.path.starts_with(root) || call.path == "/etc/passwd")
        .map(|call| (call.operation, call.path.trim_start_matches(root), call.error))
        .collect();
    use FileOperation::*;
    let expected = [
        (Open, "", 0),
        (Open, "/present", 0),
        (Open, "/absent", libc::ENOENT),
        (Stat, "/present", 0),
        (Stat, "/absent", libc::ENOENT),
        (Stat, "/present", 0),
        (Access, "/etc/passwd", 0),
        (Access, "/absent", libc::ENOENT),
        (ReadLink, "/present", libc::EINVAL),
        (Open, "", 0),
        (ReadFolder, "", 0),
        (Execute, "/absent", libc::ENOENT),
    ];
    // The launcher's own execve is no call of the program.
    assert_eq!(own, expected);
    assert!(calls.iter().any(|call| call.operation == Execute && call.path == "/bin/sh"));
}

#[test]
fn the_same_calls_as_strace_sees() {
    let Some(strace) = testkit::tool("strace") else { return };
    let names = "open,openat,openat2,stat,lstat,newfstatat,statx,access,faccessat,faccessat2,\
                 readlink,readlinkat";
    let output = std::process::Command::new(strace)
        .args(["-qq", "-e", &format!("trace={names}"), "git", "--version"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lookups = text.lines().filter(|line| !line.contains("AT_EMPTY_PATH"));
    let paths: Vec<&str> = lookups.filter_map(|line| line.split('"').nth(1)).collect();
    let (code, calls) = calls(&["git", "--version"]);
    assert_eq!(code, 0);
    let own: Vec<&str> = calls
        .iter()
        .filter(|call| {
            !matches!(call.operation, FileOperation::ReadFolder | FileOperation::Execute)
        })
        .map(|call| call.path.as_str())
        .collect();
    assert!(own.len() > 5);
    assert_eq!(own, paths);
}
