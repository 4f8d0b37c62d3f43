//! The process of a modeled device: mounts a folder with one file, whose reads take their time.

use super::fuse::{self, MOST_READ_BYTES, Todo};
use super::model::{Device, DeviceModel, ReadRequest};
use anyhow::{Context as _, Result};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is printed when reads are answered.
pub const READY: &str = "ready";
const MESSAGE_BYTES: usize = (MOST_READ_BYTES as usize) + (64 << 10);
/// Of the reads through the image that bring it into memory.
const CHUNK_BYTES: usize = 4 << 20;
const IO_ERROR: i32 = 5;
const NO_DEVICE: i32 = 19;

/// Mounts the file system; what the kernel asks is read from the file that is given back.
///
/// # Errors
/// Only root can.
pub fn mounted(folder: &Path) -> Result<File> {
    let kernel = File::options().read(true).write(true).open("/dev/fuse").context("/dev/fuse")?;
    let options = format!(
        "fd={},rootmode=40000,user_id=0,group_id=0,max_read={MOST_READ_BYTES}",
        kernel.as_raw_fd()
    );
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = CString::new(options)?;
    mount("headstart-slow-device", folder, "fuse", flags, options.as_c_str())
        .with_context(|| format!("{} cannot be mounted", folder.display()))?;
    Ok(kernel)
}

/// Serves `image` below `folder`, with [`mounted`] as standard input, until nobody has the folder
/// mounted any longer.
///
/// This has to be a process in a mount namespace of its own. The last process of a namespace unmounts
/// what is mounted there, and waits for reads that are under way: it would wait for itself, forever.
///
/// # Errors
/// The image cannot be read.
pub fn serve(model: DeviceModel, image: &Path, folder: &Path) -> Result<()> {
    // Only the other namespace is to hold it.
    unmount(folder, UnmountFlags::DETACH)?;
    let kernel = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let file = File::open(image).with_context(|| format!("no {}", image.display()))?;
    let size = file.metadata()?.len();
    keep_in_memory(&file, size)?;
    let server = Server {
        kernel,
        image: file,
        size,
        start: Instant::now(),
        work: Mutex::new(Work { waiting: Vec::new(), device: model.device(size) }),
        more: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 0..model.depth() {
            scope.spawn(|| server.work());
        }
        println!("{READY}");
        server.listen()
    })
}

/// What is not in memory would take longer than the model says.
fn keep_in_memory(image: &File, size: u64) -> Result<()> {
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut at = 0;
    while at < size {
        match image.read_at(&mut bytes, at)? {
            0 => break,
            read => at += read as u64,
        }
    }
    Ok(())
}

struct Server {
    kernel: File,
    image: File,
    size: u64,
    start: Instant,
    work: Mutex<Work>,
    more: Condvar,
}

struct Work {
    /// The oldest first.
    waiting: Vec<ReadRequest>,
    device: Box<dyn Device>,
}

impl Server {
    /// Takes the kernel's messages; ends the process when the folder is unmounted.
    fn listen(&self) -> Result<()> {
        let mut message = vec![0; MESSAGE_BYTES];
        loop {
            let read = match (&self.kernel).read(&mut message) {
                Ok(read) => read,
                Err(error) if error.raw_os_error() == Some(NO_DEVICE) => std::process::exit(0),
                // What was asked for is no longer wanted.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::NotFound) =>
                {
                    continue;
                }
                Err(error) => {
                    eprintln!("slow device: {error}");
                    std::process::exit(1)
                }
            };
            match fuse::understand(message.get(..read).unwrap_or_default(), self.size) {
                Todo::Answer(answer) => self.answer(&answer),
                Todo::Read(request) => {
                    let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
                    work.waiting.push(request);
                    drop(work);
                    self.more.notify_one();
                }
                Todo::Nothing => {}
                Todo::End => std::process::exit(0),
            }
        }
    }

    /// Answers one read after another, each when its time has come.
    fn work(&self) {
        // Sleeps end 50 µs late otherwise, which is a quarter of what a fast model takes.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        loop {
            let (request, finish_us) = self.next();
            let mut bytes = vec![0; request.bytes as usize];
            let answer = match self.image.read_at(&mut bytes, request.offset) {
                // Behind the end are zeros.
                Ok(_) => fuse::answer(request.unique, &bytes),
                Err(_) => fuse::refusal(request.unique, IO_ERROR),
            };
            let finish = Duration::from_secs_f64(finish_us.max(0.0) / 1e6);
            std::thread::sleep(finish.saturating_sub(self.start.elapsed()));
            self.answer(&answer);
        }
    }

    fn next(&self) -> (ReadRequest, f64) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        while work.waiting.is_empty() {
            work = self.more.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        let next = work.device.choose(&work.waiting);
        let request = work.waiting.remove(next);
        let now_us = self.start.elapsed().as_secs_f64() * 1e6;
        let finish_us = work.device.finish_us(&request, now_us);
        (request, finish_us)
    }

    fn answer(&self, answer: &[u8]) {
        // An error is that nobody waits any longer.
        let _ = (&self.kernel).write(answer);
    }
}
