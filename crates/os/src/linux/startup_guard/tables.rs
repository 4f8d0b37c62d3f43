//! The tables behind the blob's code, laid out as guard.s and records.s name their fields.

use super::folders::{Step, by_folder};
use super::{BuildError, Expected, Function, Identity, Module, Tables, Variable};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// 8-byte words of the first table. A list is its offset and, in the next word, its count.
pub(super) mod word {
    pub const ORIGINAL: usize = 0;
    pub const ORIGINAL_LENGTH: usize = 1;
    pub const ORIGINAL_BASE: usize = 2;
    pub const FILE: usize = 3;
    pub const FILE_LENGTH: usize = 4;
    pub const OWN_NAME: usize = 5;
    pub const VARIABLES: usize = 6;
    pub const MUST: usize = 8;
    pub const HINTS: usize = 10;
    pub const ALL: usize = 12;
    pub const RELRO: usize = 14;
    pub const NAMES: usize = 16;
    pub const DYNAMIC: usize = 17;
    pub const PROGRAM: usize = 18;
    pub const INITIALISERS: usize = 19;
    pub const INITIALISER_COUNT: usize = 20;
    pub const FINALISERS: usize = 21;
    pub const FINALISER_COUNT: usize = 22;
    pub const FINISH: usize = 23;
    pub const DEBUG: usize = 24;
    pub const DEBUG_COPY: usize = 25;
    pub const MODULES: usize = 26;
    /// One for each function.
    pub const SLOTS: usize = 28;
    pub const COUNT: usize = SLOTS + super::Function::ALL.len();
}

/// Writes tables and the texts they name: the first table, the lists, the texts.
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Where the first table begins.
    header: usize,
    /// Texts, with the places that name them and how much of each stands before what is named.
    texts: Vec<(usize, usize, Vec<u8>)>,
}

impl Writer {
    pub(super) fn new(code: &[u8]) -> Writer {
        let mut bytes = code.to_vec();
        bytes.resize(code.len() + word::COUNT * 8, 0);
        Writer { bytes, header: code.len(), texts: Vec::new() }
    }

    /// The code and everything behind it.
    pub(super) fn write(mut self, tables: &Tables) -> Result<Vec<u8>, BuildError> {
        self.identity_of_the_original(tables)?;
        self.list(word::VARIABLES, &tables.environment, Writer::variable)?;
        self.list(word::MUST, &by_folder(&tables.must), Writer::step)?;
        self.list(word::HINTS, &by_folder(&tables.hints), Writer::step)?;
        self.list(word::ALL, &by_folder(&tables.all), Writer::step)?;
        self.list(word::RELRO, &tables.relro, |writer, range| {
            writer.words(&[range.offset as u64, range.length]);
            Ok(())
        })?;
        if let Some(names) = tables.names {
            self.header_word(word::NAMES, names.first as u64);
            self.header_word(word::DYNAMIC, names.dynamic as u64);
        }
        let ordered = tables.modules.is_sorted_by(|one, next| one.end <= next.start);
        if !ordered {
            return Err(BuildError::Overlap);
        }
        self.list(word::MODULES, &tables.modules, Writer::module)?;
        if let Some((from, to)) = tables.debugger {
            self.header_word(word::DEBUG, from as u64);
            self.header_word(word::DEBUG_COPY, to as u64);
        }
        if let Some(start) = tables.start {
            self.header_word(word::PROGRAM, start.program as u64);
            let (initialisers, finalisers) = (start.initialisers, start.finalisers);
            self.header_word(word::INITIALISERS, initialisers.offset as u64);
            self.header_word(word::INITIALISER_COUNT, initialisers.count);
            self.header_word(word::FINALISERS, finalisers.offset as u64);
            self.header_word(word::FINALISER_COUNT, finalisers.count);
            self.header_word(word::FINISH, start.finish as u64);
        }
        for (index, &(function, offset)) in tables.slots.iter().enumerate() {
            if tables.slots[..index].iter().any(|&(other, _)| other == function) {
                return Err(BuildError::TwoSlots(function.name()));
            }
            self.header_word(word::SLOTS + function as usize, offset as u64);
        }
        Ok(self.with_texts())
    }

    fn identity_of_the_original(&mut self, tables: &Tables) -> Result<(), BuildError> {
        let original = path(&tables.original)?;
        let file = path(&tables.original_file)?;
        let name_error = || BuildError::Name(tables.original.clone().into());
        let name = tables.original.file_name().ok_or_else(name_error)?;
        self.text_of_header(word::ORIGINAL, original);
        self.header_word(word::ORIGINAL_LENGTH, original.len() as u64);
        self.text_of_header(word::ORIGINAL_BASE, name.as_bytes());
        self.text_of_header(word::FILE, file);
        self.header_word(word::FILE_LENGTH, file.len() as u64);
        self.text_of_header(word::OWN_NAME, plain_name(&tables.own_name, b'/')?);
        Ok(())
    }

    /// A list whose offset and count are two words of the first table.
    fn list<T>(
        &mut self,
        word: usize,
        items: &[T],
        item: impl Fn(&mut Writer, &T) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        self.header_word(word, self.bytes.len() as u64);
        self.header_word(word + 1, items.len() as u64);
        items.iter().try_for_each(|each| item(self, each))
    }

    /// `NAME=`, `NAME`, the value, and whether the variable must be there.
    fn variable(&mut self, variable: &Variable) -> Result<(), BuildError> {
        let name = plain_name(&variable.name, b'=')?;
        let expected = variable.expected.as_deref().unwrap_or_default();
        if expected.as_bytes().contains(&0) {
            return Err(BuildError::Text(expected.to_owned()));
        }
        self.text([name, b"="].concat());
        self.text(name.to_vec());
        self.text(expected.as_bytes().to_vec());
        self.words(&[u64::from(!expected.is_empty())]);
        Ok(())
    }

    /// Path, kind with the length of the prefix, inode, size, and the two times: 64 bytes.
    fn step(&mut self, step: &Step) -> Result<(), BuildError> {
        let nothing = Identity { inode: 0, size: 0, modified: (0, 0), changed: (0, 0) };
        let (text, prefix, kind, identity) = match *step {
            Step::Enter(folder) => (folder, 0, 3, nothing),
            Step::Look(record, prefix) => {
                let path = path(&record.path)?;
                match record.expected {
                    Expected::Absent => (path, prefix, 0, nothing),
                    Expected::File(identity) => (path, prefix, 1, identity),
                    Expected::Folder(identity) => (path, prefix, 2, identity),
                }
            }
        };
        self.texts.push((self.bytes.len(), prefix, text.to_vec()));
        self.words(&[0, kind | (prefix as u64) << 32, identity.inode, identity.size]);
        let times = [identity.modified, identity.changed];
        self.words(
            &times.map(|(seconds, nanoseconds)| [seconds as u64, nanoseconds as u64]).concat(),
        );
        Ok(())
    }

    /// 128 bytes, named in modules.s.
    fn module(&mut self, module: &Module) -> Result<(), BuildError> {
        let Module { start, end, base, thread, .. } = *module;
        self.words(&[start, end, base, thread].map(|offset| offset as u64));
        match &module.path {
            Some(file) => self.text(path(file)?.to_vec()),
            None => self.words(&[0]),
        }
        let symbols = &module.symbols;
        let optional = |offset: Option<i64>| offset.unwrap_or(0) as u64;
        self.words(&[
            optional(symbols.hash),
            symbols.table as u64,
            symbols.count,
            symbols.strings as u64,
            optional(symbols.versions),
            optional(symbols.definitions),
            u64::from(module.behind_outside),
        ]);
        let nothing = Identity { inode: 0, size: 0, modified: (0, 0), changed: (0, 0) };
        let Identity { inode, size, modified, .. } = module.identity.unwrap_or(nothing);
        self.words(&[inode, size, modified.0 as u64, modified.1 as u64]);
        Ok(())
    }

    fn words(&mut self, words: &[u64]) {
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// The next word is the offset of a text.
    fn text(&mut self, text: Vec<u8>) {
        self.texts.push((self.bytes.len(), 0, text));
        self.words(&[0]);
    }

    fn text_of_header(&mut self, word: usize, text: &[u8]) {
        self.texts.push((self.header + word * 8, 0, text.to_vec()));
    }

    fn header_word(&mut self, word: usize, value: u64) {
        let at = self.header + word * 8;
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Puts the texts behind everything, each with its end, and their offsets where they belong.
    fn with_texts(mut self) -> Vec<u8> {
        for (place, before, text) in std::mem::take(&mut self.texts) {
            let offset = (self.bytes.len() + before) as u64;
            self.bytes[place..place + 8].copy_from_slice(&offset.to_le_bytes());
            self.bytes.extend(text);
            self.bytes.push(0);
        }
        self.bytes
    }
}

fn path(path: &Path) -> Result<&[u8], BuildError> {
    if !path.is_absolute() {
        return Err(BuildError::Relative(path.to_owned()));
    }
    text(path.as_os_str())
}

fn plain_name(name: &OsStr, without: u8) -> Result<&[u8], BuildError> {
    let bytes = text(name)?;
    if bytes.contains(&without) { Err(BuildError::Name(name.to_owned())) } else { Ok(bytes) }
}

fn text(text: &OsStr) -> Result<&[u8], BuildError> {
    let bytes = text.as_bytes();
    let bad = bytes.is_empty() || bytes.contains(&0);
    if bad { Err(BuildError::Text(text.to_owned())) } else { Ok(bytes) }
}
