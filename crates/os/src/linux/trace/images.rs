//! Facts of executed files, read once and kept: a traced launch must not wait for file reading.

use crate::linux::program::interpreter;
use image::elf::loadable::{Symbol, SymbolKind};
use image::elf::records::ProgramHeader;
use image::elf::{Loadable, spec};
use image::{FunctionStarts, ImageError};
use model::{Va, text};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What tracing needs of one file, addresses before relocation.
pub struct Image {
    /// Entry point; 0 where there is none.
    pub entry: Va,
    /// Its loader, as [`model::text`] writes names.
    pub interpreter: Option<String>,
    /// Addresses of code.
    code: Vec<Range<Va>>,
    /// Set-user-id or set-group-id bit.
    pub set_id: bool,
    /// Where `main` is, from the symbol table (static programs only).
    pub main: Option<Va>,
    /// `exit`.
    pub exit: Option<Va>,
    /// `__libc_start_main`.
    pub start_main: Option<Va>,
    /// `_r_debug`, which glibc's loader fills.
    pub loader_state: Option<Va>,
    /// `_dl_debug_state`, which loaders call when the list of modules changes.
    pub loader_hook: Option<Va>,
    /// `_dl_debug_addr`, musl's pointer to what glibc calls `_r_debug`.
    pub musl_state: Option<Va>,
}

impl Image {
    fn read(path: &Path, set_id: bool) -> io::Result<Self> {
        let elf = loadable(path)?;
        let names = ["exit", "__libc_start_main", "_r_debug", "_dl_debug_state", "_dl_debug_addr"];
        let [mut exit, mut start_main, loader_state, loader_hook, musl_state] =
            values(elf.symbols().map(|(_, symbol)| symbol), names);
        let mut main = None;
        // Dynamic programs are read from their start code, and their exit is the C library's.
        if elf.interpreter.is_none() && loader_hook.is_none() && exit.is_none() {
            // "main.main" is the first code of a Go program's own.
            let names = ["main", "main.main", "exit", "__libc_start_main"];
            let [c_main, go_main, full_exit, full_start] = values(elf.static_symbols(), names);
            main = c_main.or(go_main);
            exit = full_exit;
            start_main = full_start;
        }
        Ok(Image {
            entry: elf.header.entry,
            code: code(&elf).map(|part| part.address..part.end()).collect(),
            interpreter: elf.interpreter,
            set_id,
            main,
            exit,
            start_main,
            loader_state,
            loader_hook,
            musl_state,
        })
    }

    /// Whether `address`, before relocation, lies in code.
    pub fn is_code(&self, address: Va) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }

    /// A C library that is its own loader.
    pub fn is_musl(&self) -> bool {
        self.loader_hook.is_some() && self.start_main.is_some()
    }
}

/// The image at `path`. It is not kept: what is mapped cannot be evicted from memory.
/// Whether the loader changes the code of `path`; not where it cannot be read.
pub fn has_text_relocations(path: &Path) -> bool {
    loadable(path).is_ok_and(|image| image.has_text_relocations())
}

fn loadable(path: &Path) -> io::Result<Loadable> {
    Loadable::open(path).map_err(unreadable)
}

/// The segments that hold code.
pub(super) fn code(elf: &Loadable) -> impl Iterator<Item = &ProgramHeader> {
    elf.segments().iter().filter(|part| part.loads() && part.flags & spec::PF_X != 0)
}

/// Values of the defined symbols named `names`, `None` for each that is missing. The value of an
/// IFUNC is not where the code is.
fn values<'a, const N: usize>(
    symbols: impl Iterator<Item = Symbol<'a>>,
    names: [&str; N],
) -> [Option<Va>; N] {
    let mut values = [None; N];
    for symbol in symbols.filter(|one| one.defined && one.kind != SymbolKind::IndirectFunction) {
        let named = names.iter().position(|name| name.as_bytes() == symbol.name);
        if let Some(value) = named.map(|index| &mut values[index]) {
            value.get_or_insert(symbol.value);
        }
    }
    values
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    device: u64,
    inode: u64,
    modified_ns: i128,
    size: u64,
}

type Cache<T> = Mutex<Option<HashMap<Key, Arc<T>>>>;

/// The facts of `path`, from the cache where it has not changed.
pub fn image(path: &Path) -> io::Result<Arc<Image>> {
    static CACHE: Cache<Image> = Mutex::new(None);
    let data = fs::metadata(path)?;
    cached(&CACHE, &data, || Image::read(path, data.mode() & 0o6000 != 0))
}

/// CPUID instructions of `path`, from the cache where it has not changed.
pub fn cpuid_sites(path: &Path) -> io::Result<Arc<super::cpuid::Sites>> {
    static CACHE: Cache<super::cpuid::Sites> = Mutex::new(None);
    let data = fs::metadata(path)?;
    cached(&CACHE, &data, || Ok(super::cpuid::Sites::find(&loadable(path)?)))
}

/// Functions of `path`, from the cache where it has not changed.
pub fn function_starts(path: &Path) -> io::Result<Arc<FunctionStarts>> {
    static CACHE: Cache<FunctionStarts> = Mutex::new(None);
    let data = fs::metadata(path)?;
    cached(&CACHE, &data, || image::function_starts(path).map_err(unreadable))
}

/// An error of a file that is no image is [`io::ErrorKind::InvalidData`].
fn unreadable(error: ImageError) -> io::Error {
    match error {
        ImageError::Io { source, .. } => source,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}

fn cached<T>(
    cache: &Cache<T>,
    data: &fs::Metadata,
    read: impl FnOnce() -> io::Result<T>,
) -> io::Result<Arc<T>> {
    let key = Key {
        device: data.dev(),
        inode: data.ino(),
        modified_ns: i128::from(data.mtime()) * 1_000_000_000 + i128::from(data.mtime_nsec()),
        size: data.size(),
    };
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().as_ref().and_then(|map| map.get(&key)) {
        return Ok(Arc::clone(known));
    }
    let fresh = Arc::new(read()?);
    lock().get_or_insert_default().insert(key, Arc::clone(&fresh));
    Ok(fresh)
}

/// Reads what the launch of `program` will ask for, and tells whether musl will load it.
///
/// For a script that is its interpreter. Failures are left to the launch itself.
pub fn prepare(program: &Path) -> bool {
    let of_script = || interpreter(program).and_then(|path| image(Path::new(&path)).ok());
    let Some(image) = image(program).ok().or_else(of_script) else { return false };
    let Some(loader_path) = &image.interpreter else { return image.is_musl() };
    let Ok(loader_path) = fs::canonicalize(text::name(loader_path)) else { return false };
    // Only to have it read before the launch: the C library is next to its loader.
    let _ = self::image(&loader_path.with_file_name("libc.so.6"));
    self::image(&loader_path).is_ok_and(|loader| loader.is_musl())
}
