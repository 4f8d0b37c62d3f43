//! File systems that unpack what they hold, or have a process serve it, and what that takes.

use super::super::residency;
use model::{Reading, UnpackTimes, UnpackingMount};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Overlays may lie upon one another; more than so many are not followed.
const MOST_OVERLAYS: u32 = 4;
/// Where squashfs has its compression: *Squashfs 4.0 binary format*, superblock.
const SQUASHFS_COMPRESSION: usize = 20;
/// EROFS' superblock, and within it the features and algorithms: linux/fs/erofs/erofs_fs.h.
const EROFS_SUPERBLOCK: u64 = 1024;
const EROFS_FEATURES: usize = 80;
const EROFS_ALGORITHMS: usize = 84;

/// The file system that holds the file at `path`, where that is one with work to do for each page
/// that is not in memory; through an overlay, that of the layer which has the file.
///
/// `None` for other file systems, and where layers are not visible from here.
pub fn unpacking_mount(path: &Path) -> Option<UnpackingMount> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts: Vec<Mounted> = mounts.lines().filter_map(mounted).collect();
    let mut path = std::fs::canonicalize(path).ok()?;
    for overlays in 0..MOST_OVERLAYS {
        let mount = holding(&mounts, &path)?;
        if mount.kind == "overlay" {
            path = in_layer(mount, &path)?;
            continue;
        }
        let compression = match mount.kind {
            "squashfs" => squashfs(mount),
            "erofs" => erofs(mount)?,
            kind if kind == "fuse" || kind.starts_with("fuse.") => Reading::unavailable(
                "a process serves this file system, and the kernel does not know how",
                "",
            ),
            _ => return None,
        };
        return Some(UnpackingMount {
            kind: mount.kind.to_owned(),
            point: mount.point.display().to_string(),
            compression,
            through_overlay: overlays > 0,
        });
    }
    None
}

/// A line of mountinfo: proc_pid_mountinfo(5).
struct Mounted<'a> {
    point: PathBuf,
    kind: &'a str,
    source: String,
    options: &'a str,
}

fn mounted(line: &str) -> Option<Mounted<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split(' ');
    let kind = right.next()?;
    let point = unescaped(left.split(' ').nth(4)?).into();
    Some(Mounted { point, kind, source: unescaped(right.next()?), options: right.next()? })
}

/// The kernel writes white space and backslashes as three octal digits.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (octal, character)| text.replace(octal, character))
}

/// The mount with the longest point, the last one of equals.
fn holding<'a, 'b>(mounts: &'a [Mounted<'b>], path: &Path) -> Option<&'a Mounted<'b>> {
    let holding = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    holding.max_by_key(|mount| mount.point.components().count())
}

/// Where the uppermost layer of an overlay that has the file keeps it.
fn in_layer(overlay: &Mounted, path: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(&overlay.point).ok()?;
    let options = overlay.options.split(',');
    let mut layers: Vec<&str> =
        options.clone().filter_map(|of| of.strip_prefix("upperdir=")).collect();
    let lower = options.filter_map(|of| of.strip_prefix("lowerdir="));
    layers.extend(lower.flat_map(|layers| layers.split(':')).filter(|layer| !layer.is_empty()));
    let mut found = layers.into_iter().map(|layer| Path::new(&unescaped(layer)).join(below));
    // The file that is seen has the same size: a layer of that name may be another one here.
    let seen = std::fs::metadata(path).ok()?.len();
    found
        .find(|path| std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() == seen))
}

/// The first bytes of what is mounted from `offset` on: its device, or the file of its loop device.
fn superblock(mount: &Mounted, offset: u64) -> Result<[u8; 128], Reading<String>> {
    let mut bytes = [0; 128];
    let device = Path::new(&mount.source);
    let error = match File::open(device).and_then(|file| file.read_exact_at(&mut bytes, offset)) {
        Ok(()) => return Ok(bytes),
        Err(error) => error,
    };
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    let folder = PathBuf::from(format!("/sys/block/{name}/loop"));
    let within = std::fs::read_to_string(folder.join("offset")).ok();
    let within = within.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let file = std::fs::read_to_string(folder.join("backing_file")).ok();
    let read = file.and_then(|file| {
        let file = File::open(file.trim_end_matches('\n')).ok()?;
        file.read_exact_at(&mut bytes, within.checked_add(offset)?).ok()
    });
    match read {
        Some(()) => Ok(bytes),
        None => Err(Reading::unavailable(
            format!("{} cannot be read ({error})", mount.source),
            "run headstart as root",
        )),
    }
}

fn squashfs(mount: &Mounted) -> Reading<String> {
    let bytes = match superblock(mount, 0) {
        Ok(bytes) if bytes.starts_with(b"hsqs") => bytes,
        Ok(_) => return Reading::unavailable(format!("{} has no superblock", mount.source), ""),
        Err(missing) => return missing,
    };
    match bytes[SQUASHFS_COMPRESSION] {
        1 => Reading::Value("gzip".to_owned()),
        2 => Reading::Value("lzma".to_owned()),
        3 => Reading::Value("lzo".to_owned()),
        4 => Reading::Value("xz".to_owned()),
        5 => Reading::Value("lz4".to_owned()),
        6 => Reading::Value("zstd".to_owned()),
        other => Reading::unavailable(format!("its compression {other} is not known"), ""),
    }
}

/// `None` for one that is not compressed.
fn erofs(mount: &Mounted) -> Option<Reading<String>> {
    match superblock(mount, EROFS_SUPERBLOCK) {
        Ok(bytes) => erofs_compression(&bytes).map(Reading::Value),
        Err(missing) => Some(missing),
    }
}

fn erofs_compression(superblock: &[u8; 128]) -> Option<String> {
    const HAS_LZ4: u8 = 1;
    const HAS_ALGORITHMS: u8 = 2;
    let features = superblock[EROFS_FEATURES];
    if features & HAS_ALGORITHMS == 0 {
        return (features & HAS_LZ4 != 0).then(|| "lz4".to_owned());
    }
    let algorithms = superblock[EROFS_ALGORITHMS];
    let names = ["lz4", "lzma", "deflate", "zstd"].into_iter().enumerate();
    let names: Vec<&str> =
        names.filter(|(bit, _)| algorithms & (1 << bit) != 0).map(|(_, name)| name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// So much is read at most, and for so long.
const MOST_BYTES: u64 = 1 << 20;
const LONGEST: Duration = Duration::from_millis(300);
const CHUNK: u64 = 128 << 10;

/// What reading parts of these files takes that are not in memory, and again when they are. Nothing
/// is driven out of memory for it; up to 1 MiB comes in.
pub fn unpack_times(files: &[PathBuf]) -> Reading<UnpackTimes> {
    let mut times = UnpackTimes { bytes: 0, first_us: 0.0, again_us: 0.0 };
    let began = Instant::now();
    let mut buffer = vec![0; CHUNK as usize];
    for path in files {
        for (file, offset) in absent_chunks(path) {
            if times.bytes >= MOST_BYTES || began.elapsed() > LONGEST {
                return Reading::Value(times);
            }
            let mut timed = || {
                let start = Instant::now();
                let read = file.read_at(&mut buffer, offset);
                read.map(|bytes| (bytes as u64, start.elapsed().as_secs_f64() * 1e6))
            };
            if let (Ok((bytes, first_us)), Ok((again, again_us))) = (timed(), timed())
                && bytes == again
            {
                times.bytes += bytes;
                times.first_us += first_us;
                times.again_us += again_us;
            }
        }
    }
    match times.bytes {
        0 => Reading::unavailable("no part of the files is known not to be in memory", ""),
        _ => Reading::Value(times),
    }
}

/// The places of whole chunks of a file of which no page is in memory.
fn absent_chunks(path: &Path) -> Vec<(std::rc::Rc<File>, u64)> {
    // mincore tells strangers that all is in memory, of which nothing is read then.
    let Ok(file) = residency::open(path) else { return Vec::new() };
    let Ok(present) = residency::resident_ranges(&file) else { return Vec::new() };
    let size = file.metadata().map_or(0, |data| data.len());
    let pages = CHUNK / residency::page_bytes();
    let file = std::rc::Rc::new(file);
    let is_absent = |chunk: &u64| {
        let wanted = chunk * pages..(chunk + 1) * pages;
        !present.iter().any(|held| held.start < wanted.end && wanted.start < held.end)
    };
    let chunks = (0..size / CHUNK).filter(is_absent);
    chunks.map(|chunk| (file.clone(), chunk * CHUNK)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn lines_of_mountinfo_are_read() {
        let line = "36 35 98:0 / /mnt/a\\040b rw,noatime shared:1 - overlay over\\040lay rw,lowerdir=/x:/y,upperdir=/z";
        let mount = mounted(line).unwrap();
        assert_eq!((mount.kind, mount.source.as_str()), ("overlay", "over lay"));
        assert_eq!(mount.point, Path::new("/mnt/a b"));
        assert!(mount.options.contains("lowerdir=/x:/y"));
        assert!(mounted("36 35 98:0 / /mnt rw").is_none());
    }

    #[test]
    fn erofs_tells_its_algorithms() {
        let mut superblock = [0; 128];
        assert_eq!(erofs_compression(&superblock), None);
        superblock[EROFS_FEATURES] = 1;
        assert_eq!(erofs_compression(&superblock).as_deref(), Some("lz4"));
        (superblock[EROFS_FEATURES], superblock[EROFS_ALGORITHMS]) = (3, 0b1001);
        assert_eq!(erofs_compression(&superblock).as_deref(), Some("lz4, zstd"));
    }

    #[test]
    fn ordinary_file_systems_unpack_nothing() {
        assert_eq!(unpacking_mount(Path::new("/proc/self/maps")), None);
        assert_eq!(unpacking_mount(Path::new("/no/such/file")), None);
    }

    const FOLDER: &str = "HEADSTART_UNPACKING";
    const THIS: &str = "linux::host::unpacking::tests::squashfs_is_told_alone_and_below_an_overlay";

    /// Runs itself in a mount namespace of its own, which ends with it.
    #[test]
    fn squashfs_is_told_alone_and_below_an_overlay() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return within(Path::new(&folder));
        }
        let (Some(mksquashfs), Some(unshare)) =
            (testkit::tool("mksquashfs"), testkit::tool("unshare"))
        else {
            return;
        };
        if !rustix::process::geteuid().is_root() {
            return testkit::skip("only root can mount a file system");
        }
        for compression in ["xz", "zstd"] {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            for name in ["source", "plain", "upper", "work", "over"] {
                std::fs::create_dir(path(name)).unwrap();
            }
            let content: Vec<u8> =
                (0..4_000_000_u32).map(|at| (at.wrapping_mul(at) / 77) as u8).collect();
            std::fs::write(path("source/program"), content).unwrap();
            let mut make = Command::new(&mksquashfs);
            make.arg(path("source")).arg(path("image")).args(["-quiet", "-no-progress", "-comp"]);
            assert!(make.arg(compression).output().unwrap().status.success());
            let script = "cd \"$HEADSTART_UNPACKING\" && mount -o loop,ro image plain && \
                 { mount -t overlay -o lowerdir=$PWD/plain,upperdir=$PWD/upper,workdir=$PWD/work x over \
                   || mount -t overlay -o lowerdir=$PWD/plain:$PWD/source x over; } || exit 97; \
                 exec \"$@\"";
            let mut inner = Command::new(&unshare);
            inner
                .args(["-m", "--", "sh", "-c", script, "sh"])
                .arg(std::env::current_exe().unwrap());
            inner.args(["--exact", THIS, "--nocapture"]).env(FOLDER, folder.path());
            let output = inner.env("COMPRESSION", compression).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(97) || said.contains("unshare:") {
                return testkit::skip("squashfs or an overlay cannot be mounted here");
            }
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && told.contains("1 passed"), "{told}\n{said}");
        }
    }

    fn within(folder: &Path) {
        let wanted = std::env::var("COMPRESSION").unwrap();
        let plain = unpacking_mount(&folder.join("plain/program")).unwrap();
        assert_eq!((&*plain.kind, plain.through_overlay), ("squashfs", false));
        assert_eq!(plain.compression, Reading::Value(wanted));
        let over = unpacking_mount(&folder.join("over/program")).unwrap();
        assert_eq!(over, UnpackingMount { through_overlay: true, ..plain });
        assert_eq!(unpacking_mount(&folder.join("image")), None);
        // Nothing has read the file yet, so the first time unpacks it.
        let read = unpack_times(&[folder.join("plain/program")]);
        let times = *read.value().unwrap();
        // A busy machine reads less in the time that is given.
        assert!((CHUNK..=MOST_BYTES).contains(&times.bytes) && times.bytes.is_multiple_of(CHUNK));
        let (_, resident) = residency::resident_pages(&folder.join("plain/program")).unwrap();
        let pages = times.bytes / residency::page_bytes();
        assert!(resident.get().unwrap() >= pages, "{resident:?}");
        println!("{} bytes: {:.0} us, then {:.0} us", times.bytes, times.first_us, times.again_us);
    }
}
