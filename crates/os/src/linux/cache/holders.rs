//! Which running processes have files mapped.

use super::super::{processes, residency};
use model::{MappingProcess, text};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// Who has which file mapped.
#[derive(Debug, Default)]
pub struct Holders {
    /// Processes in the order of their ids, by file; files that nobody maps are missing.
    pub by_file: HashMap<PathBuf, Vec<MappingProcess>>,
    /// Processes that the caller may not look into, such as those of other users.
    pub hidden: u64,
}

/// Looks through the mappings of every process for these files (paths without links). A file is told
/// by its device and inode, as `/proc/PID/maps` shows them, whatever its path is to the process.
pub fn holders<P: AsRef<Path>>(files: &[P]) -> Holders {
    let wanted = Wanted::of(files);
    let mut found = Holders::default();
    if wanted.is_empty() {
        return found;
    }
    let mut pids: Vec<libc::pid_t> = processes::all().collect();
    pids.sort_unstable();
    for pid in pids {
        match fs::read(format!("/proc/{pid}/maps")) {
            Ok(maps) => {
                for path in wanted.mapped(&maps, |path| is_same_file(pid, path)) {
                    let process = MappingProcess { pid, name: name(pid) };
                    found.by_file.entry(path.to_owned()).or_default().push(process);
                }
            }
            Err(error) => found.hidden += u64::from(is_hidden(pid, &error)),
        }
    }
    found
}

/// Major and minor number of a device, and an inode.
type FileKey = (u32, u32, u64);

/// The files that are looked for.
#[derive(Default)]
struct Wanted<'a> {
    /// Several paths of one file are hard links.
    by_key: HashMap<FileKey, Vec<&'a Path>>,
    /// Files whose device or inode `/proc/PID/maps` shows otherwise than stat (overlay, btrfs, FUSE).
    by_path: HashMap<&'a [u8], &'a Path>,
}

impl<'a> Wanted<'a> {
    fn of<P: AsRef<Path>>(files: &'a [P]) -> Wanted<'a> {
        let mut wanted = Wanted::default();
        let mut shown = HashMap::new();
        for path in files.iter().map(AsRef::as_ref) {
            // A file that has gone is mapped by nobody under this path.
            let Ok(data) = fs::metadata(path) else { continue };
            let key = (libc::major(data.dev()), libc::minor(data.dev()), data.ino());
            if *shown.entry(data.dev()).or_insert_with(|| shown_as(path) == Some(key)) {
                wanted.by_key.entry(key).or_default().push(path);
            } else {
                wanted.by_path.insert(path.as_os_str().as_bytes(), path);
            }
        }
        wanted
    }

    fn is_empty(&self) -> bool {
        self.by_key.is_empty() && self.by_path.is_empty()
    }

    /// Those that have a line in `/proc/PID/maps`, each once. `is_same` says whether a path is the
    /// same file to that process.
    fn mapped(&self, maps: &[u8], is_same: impl Fn(&Path) -> bool) -> HashSet<&'a Path> {
        let mut found = HashSet::new();
        let mut last = None;
        for line in maps.split(|byte| *byte == b'\n') {
            let Some((key, path)) = fields(line) else { continue };
            // Most files have several lines, one after the other.
            if last.replace((key, path)) == Some((key, path)) {
                continue;
            }
            found.extend(self.by_key.get(&key).into_iter().flatten());
            let same_path = self.by_path.get(path).copied();
            found.extend(same_path.filter(|path| is_same(path)));
        }
        found
    }
}

/// The file of a line of `/proc/PID/maps`, and its path there (a line feed in it is shown as \012).
fn fields(line: &[u8]) -> Option<(FileKey, &[u8])> {
    let path = &line[line.iter().position(|byte| *byte == b'/')?..];
    let before = std::str::from_utf8(&line[..line.len() - path.len()]).ok()?;
    let mut words = before.split_ascii_whitespace().skip(3);
    let (major, minor) = words.next()?.split_once(':')?;
    let number = |word| u32::from_str_radix(word, 16).ok();
    Some(((number(major)?, number(minor)?, words.next()?.parse().ok()?), path))
}

/// How a mapping of this file is shown: tried with one of our own, which touches nothing.
fn shown_as(path: &Path) -> Option<FileKey> {
    let file = residency::open(path).ok()?;
    let bytes = residency::page_bytes() as usize;
    // SAFETY: a fresh mapping that is never accessed.
    let start = unsafe { mmap(null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, &file, 0) };
    let start = start.ok()?;
    let maps = fs::read("/proc/self/maps");
    // SAFETY: the mapping of above.
    unsafe { libc::munmap(start, bytes) };
    let maps = maps.ok()?;
    let address = start as usize as u64;
    let own = maps.split(|byte| *byte == b'\n').find(|line| holds(line, address).unwrap_or(false));
    fields(own?).map(|(key, _)| key)
}

fn holds(line: &[u8], address: u64) -> Option<bool> {
    let range = line.split(|byte| *byte == b' ').next()?;
    let (start, end) = std::str::from_utf8(range).ok()?.split_once('-')?;
    let number = |word| u64::from_str_radix(word, 16).ok();
    Some((number(start)?..number(end)?).contains(&address))
}

/// Whether a path in the mappings of a process is the file that we see there: in another mount
/// namespace, as that of a container, it may be another one.
fn is_same_file(pid: libc::pid_t, path: &Path) -> bool {
    let space = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    let (own, other) = (space("self"), space(&pid.to_string()));
    if own.is_some() && own == other {
        return true;
    }
    let below = path.strip_prefix("/").unwrap_or(path);
    let there = fs::metadata(Path::new(&format!("/proc/{pid}/root")).join(below));
    let identity = |data: fs::Metadata| (data.dev(), data.ino());
    there.is_ok_and(|there| fs::metadata(path).is_ok_and(|own| identity(own) == identity(there)))
}

/// Whether it may have files mapped that cannot be seen; threads of the kernel have none.
fn is_hidden(pid: libc::pid_t, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && !is_of_kernel(pid)
}

fn is_of_kernel(pid: libc::pid_t) -> bool {
    /// PF_KTHREAD of the kernel.
    const THREAD: u64 = 0x0020_0000;
    let flags = processes::stat_fields(pid).and_then(|fields| fields.get(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & THREAD != 0)
}

pub(super) fn name(pid: libc::pid_t) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    text::text(std::ffi::OsStr::from_bytes(name.trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_maps_its_own_program() {
        let own = std::env::current_exe().unwrap().canonicalize().unwrap();
        let nobody_maps = tempfile::NamedTempFile::new().unwrap();
        let found = holders(&[own.as_path(), nobody_maps.path()]);
        let pid = processes::own_pid();
        assert!(found.by_file[&own].iter().any(|process| process.pid == pid), "{found:?}");
        assert_eq!(found.by_file.len(), 1);
    }

    const MAPS: &[u8] = b"7f00-7f01 r-xp 00000000 fe:00 11      /lib/one.so.1\n\
          7f01-7f02 r--p 00001000 fe:1a 12      /lib/two words.so\n\
          7f02-7f03 r--p 00002000 fe:1a 12      /lib/two words.so\n\
          7f04-7f05 rw-p 00000000 00:00 0\n\
          7f06-7f07 rw-p 00000000 00:00 0       [heap]\n";

    #[test]
    fn a_file_is_told_by_its_device_and_inode_or_by_its_whole_path() {
        let (one, spaces) = (Path::new("/lib/one.so"), Path::new("/lib/two words.so"));
        let by_path = HashMap::from([one, spaces].map(|path| (path.as_os_str().as_bytes(), path)));
        let wanted = Wanted { by_path, ..Wanted::default() };
        assert_eq!(wanted.mapped(MAPS, |_| true), HashSet::from([spaces]));
        assert_eq!(wanted.mapped(MAPS, |_| false), HashSet::new());
        // The path of a key does not matter; that of another device does not count.
        let by_key = HashMap::from([
            ((0xfe, 0x1a, 12), vec![Path::new("/a"), Path::new("/b")]),
            ((0xfe, 0x1a, 11), vec![one]),
        ]);
        let wanted = Wanted { by_key, ..Wanted::default() };
        let links = HashSet::from([Path::new("/a"), Path::new("/b")]);
        assert_eq!(wanted.mapped(MAPS, |_| true), links);
    }

    /// A copy of a program that sleeps, and where to run it.
    fn sleeper(folder: &Path, name: &str) -> PathBuf {
        let path = folder.canonicalize().unwrap().join(name);
        fs::copy("/bin/sleep", &path).unwrap();
        path
    }

    fn wait_until(what: &str, condition: impl Fn() -> bool) {
        let began = std::time::Instant::now();
        while !condition() {
            assert!(began.elapsed().as_secs() < 30, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn names(pid: u32, path: &Path) -> bool {
        let found = holders(&[path]);
        found.by_file.get(path).is_some_and(|all| all.iter().any(|it| it.pid as u32 == pid))
    }

    #[test]
    fn a_hard_link_of_a_mapped_file_is_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let program = sleeper(folder.path(), "program");
        let link = program.with_file_name("link");
        fs::hard_link(&program, &link).unwrap();
        if shown_as(&program).is_none_or(|(.., inode)| inode != fs::metadata(&link).unwrap().ino())
        {
            return testkit::skip("mappings are shown with other inodes here");
        }
        let mut child = std::process::Command::new(&program).arg("60").spawn().unwrap();
        wait_until("the link is found", || names(child.id(), &link));
        assert!(names(child.id(), &program));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn another_file_at_the_same_path_in_a_container_is_not_meant() {
        let Some(unshare) = testkit::tool("unshare") else { return };
        if !rustix::process::geteuid().is_root() {
            return testkit::skip("mounting needs root");
        }
        let folder = tempfile::tempdir().unwrap();
        let ours = sleeper(folder.path(), "ours");
        let theirs = sleeper(folder.path(), "theirs");
        let script = "mount --bind \"$1\" \"$2\" && exec \"$2\" 60";
        let mut command = std::process::Command::new(unshare);
        command.args(["-m", "sh", "-c", script, "sh"]).args([&theirs, &ours]);
        let mut child = command.spawn().unwrap();
        wait_until("the container runs it", || {
            let line = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
            line.contains(&*ours.to_string_lossy())
        });
        assert!(!names(child.id(), &ours));
        assert!(!is_same_file(child.id() as i32, &ours));
        assert!(names(child.id(), &theirs) || shown_as(&theirs).is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
