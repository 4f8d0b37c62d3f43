//! Writes the tables behind the preamble's code: the header, the lists, the texts.

mod plugins;

use crate::folders::{Step, by_folder};
use crate::shared::{self, Header, kind};
use crate::{
    Addresses, BuildError, CachedName, Expected, FileIdentity, LoadedBuild, MergedModule,
    OriginalLook, Tables, Variable, WrappedFunction, code,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Code and tables, but for addresses of the bundle's own data.
#[derive(Clone, Debug)]
pub struct Preamble {
    header: Header,
    /// The lists and the texts.
    behind: Vec<u8>,
}

/// Bytes of what an entry of the table of functions is to be.
const FILL_BYTES: usize = 8;

/// Offset of the first list.
fn lists() -> usize {
    code().len() + Header::SIZE + 8 * WrappedFunction::ALL.len()
}

impl Preamble {
    /// Bytes of which the preamble's address must be a multiple.
    pub const ALIGNMENT: u64 = 16;

    /// Makes the preamble that checks and tells what the tables say. The same tables give the same
    /// bytes, and other offsets, identities or times of the same kind as many bytes.
    ///
    /// # Errors
    /// A path is relative, a text cannot be one, or modules are out of order.
    pub fn new(tables: &Tables) -> Result<Preamble, BuildError> {
        if !tables.modules.is_sorted_by(|one, next| one.end <= next.start) {
            return Err(BuildError::Overlap);
        }
        let [must, hints, all] =
            [&tables.must, &tables.hints, &tables.all].map(|list| by_folder(list));
        let plugin_records: Vec<_> =
            tables.plugins.iter().map(|plugin| by_folder(&plugin.records)).collect();
        let records = must.len() + hints.len() + all.len();
        let size = shared::Variable::SIZE * tables.environment.len()
            + shared::Record::SIZE * records
            + shared::Cached::SIZE * tables.cached.len()
            + shared::Build::SIZE * tables.builds.len()
            + shared::Build::SIZE * tables.fill_libraries.len()
            + FILL_BYTES * tables.fills.len()
            + shared::Carried::SIZE * tables.carried.len()
            + tables.tool.size()
            + shared::PluginFile::SIZE * tables.plugin_files.len()
            + shared::Plugin::SIZE * tables.plugins.len()
            + shared::Record::SIZE * plugin_records.iter().map(Vec::len).sum::<usize>()
            + shared::Range::SIZE * tables.relro.len()
            + shared::Module::SIZE * tables.modules.len();
        let mut writer = Writer { lists: Vec::with_capacity(size), size, texts: Vec::new() };
        let mut header = writer.original(tables)?;
        (header.variables, header.variable_count) =
            writer.list(&tables.environment, Writer::variable)?;
        (header.must, header.must_count) = writer.list(&must, Writer::step)?;
        (header.hints, header.hint_count) = writer.list(&hints, Writer::step)?;
        (header.all, header.all_count) = writer.list(&all, Writer::step)?;
        (header.cached, header.cached_count) = writer.list(&tables.cached, Writer::cached)?;
        (header.builds, header.build_count) = writer.list(&tables.builds, Writer::build)?;
        (header.fill_libraries, header.fill_library_count) =
            writer.list(&tables.fill_libraries, Writer::build)?;
        (header.fills, header.fill_count) = writer.list(&tables.fills, |writer, fill| {
            writer.lists.extend(fill.place().to_le_bytes());
            Ok(())
        })?;
        (header.carried, header.carried_count) =
            writer.list(&tables.carried, |writer, (file, name)| {
                let (path, name) = (writer.text(path(file)?), writer.text(plain_name(name, b'/')?));
                shared::Carried { path, name }.write(&mut writer.lists);
                Ok(())
            })?;
        tables.tool.write(&mut writer, &mut header)?;
        writer.plugins(tables, &plugin_records, &mut header)?;
        header.used = writer.text(tables.used.replace('\0', "").as_bytes());
        (header.relro, header.relro_count) = writer.list(&tables.relro, |writer, range| {
            shared::Range { offset: range.offset, length: range.length }.write(&mut writer.lists);
            Ok(())
        })?;
        (header.modules, header.module_count) = writer.list(&tables.modules, Writer::module)?;
        let mut behind = writer.lists;
        behind.append(&mut writer.texts);
        Ok(Preamble { header, behind })
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        (lists() + self.behind.len()) as u64
    }

    /// All its bytes: to be placed readable and executable, and written to by nothing.
    pub fn bytes(mut self, addresses: &Addresses) -> Vec<u8> {
        let header = &mut self.header;
        header.names = addresses.names.unwrap_or_default();
        header.plugin_chains = addresses.plugin_names;
        header.image = addresses.image;
        header.dynamic = addresses.dynamic;
        header.debug = addresses.dynamic;
        header.debug_copy = addresses.debugger.unwrap_or_default();
        let start = &addresses.start;
        header.program = start.program;
        (header.initializers, header.initializer_count) =
            (start.initializers.offset, start.initializers.count);
        (header.finalizers, header.finalizer_count) =
            (start.finalizers.offset, start.finalizers.count);
        header.finish = start.finish;
        let stubs = &addresses.stubs;
        (header.stubs, header.stub_count) = (stubs.functions.offset, stubs.functions.count);
        header.stub_table = stubs.table;
        (header.table_pages, header.table_bytes) = (stubs.pages.offset, stubs.pages.length);
        if let Some(early) = &addresses.early {
            header.ahead = early.list.unwrap_or_default();
            header.written = early.written;
            (header.written_count, header.written_large_count) = early.written_counts;
            header.recorded = early.recorded;
            (header.recorded_read_count, header.recorded_written_count) = early.recorded_counts;
            (header.packed, header.packed_count) = (early.packed.offset, early.packed.count);
            header.own_address = early.own_address;
        }
        let mut bytes = Vec::with_capacity(lists() + self.behind.len());
        bytes.extend(code());
        header.write(&mut bytes);
        let slots = (addresses.slots..).step_by(8).take(WrappedFunction::ALL.len());
        bytes.extend(slots.flat_map(i64::to_le_bytes));
        bytes.append(&mut self.behind);
        bytes
    }
}

pub(crate) struct Writer {
    pub(crate) lists: Vec<u8>,
    /// Size of all lists, when they are complete.
    size: usize,
    texts: Vec<u8>,
}

impl Writer {
    /// Offset and number of the items.
    pub(crate) fn list<T>(
        &mut self,
        items: &[T],
        item: impl Fn(&mut Writer, &T) -> Result<(), BuildError>,
    ) -> Result<(u64, u64), BuildError> {
        let offset = lists() + self.lists.len();
        items.iter().try_for_each(|each| item(self, each))?;
        Ok((offset as u64, items.len() as u64))
    }

    /// Offset of a text, whose end is added.
    pub(crate) fn text(&mut self, text: &[u8]) -> u64 {
        let offset = self.next_text();
        self.texts.extend(text);
        self.texts.push(0);
        offset
    }

    /// Offset of what is added to the texts next.
    fn next_text(&self) -> u64 {
        (lists() + self.size + self.texts.len()) as u64
    }

    fn original(&mut self, tables: &Tables) -> Result<Header, BuildError> {
        let original = path(&tables.original)?;
        let file = path(&tables.original_file)?;
        let [name, file_name] = [&tables.original, &tables.original_file].map(|path| {
            let name_error = || BuildError::Name(path.clone().into());
            path.file_name().ok_or_else(name_error)
        });
        let (name, file_name) = (name?, file_name?);
        let (file_kind, identity) = match tables.original_look {
            OriginalLook::Never => (kind::ABSENT, FileIdentity::default()),
            OriginalLook::File(identity) => (kind::FILE, identity),
            OriginalLook::Copy(identity) => (kind::COPY, identity),
            OriginalLook::CopyOrNothing(identity) => (kind::COPY_OR_ABSENT, identity),
        };
        let instead = match &tables.instead {
            Some(instead) => self.text(path(instead)?),
            None => 0,
        };
        Ok(Header {
            instead,
            file_kind: file_kind.into(),
            original: self.text(original),
            original_length: original.len() as u64,
            original_base: self.text(name.as_bytes()),
            file: self.text(file),
            file_length: file.len() as u64,
            file_base: self.text(file_name.as_bytes()),
            file_inode: identity.inode,
            file_size: identity.size,
            file_modified_seconds: identity.modified.0,
            file_modified_nanoseconds: identity.modified.1,
            own_name: self.text(plain_name(&tables.own_name, b'/')?),
            ..Header::default()
        })
    }

    fn variable(&mut self, variable: &Variable) -> Result<(), BuildError> {
        let name = plain_name(&variable.name, b'=')?;
        let expected = variable.expected.as_deref().unwrap_or_default();
        if expected.as_bytes().contains(&0) {
            return Err(BuildError::Text(expected.to_owned()));
        }
        let variable = shared::Variable {
            name_with_equals_sign: self.text(&[name, b"="].concat()),
            name: self.text(name),
            expected: self.text(expected.as_bytes()),
            is_expected: u64::from(!expected.is_empty()),
        };
        variable.write(&mut self.lists);
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), BuildError> {
        let (text, prefix, kind, identity) = match *step {
            Step::Enter(folder) => (folder, 0, kind::ENTER, FileIdentity::default()),
            Step::Look(record, prefix) => {
                let path = path(&record.path)?;
                match &record.expected {
                    Expected::Absent => (path, prefix, kind::ABSENT, FileIdentity::default()),
                    Expected::File(identity) => (path, prefix, kind::FILE, *identity),
                    Expected::Folder(identity) => (path, prefix, kind::FOLDER, *identity),
                    Expected::Copy { size, modified_s } => {
                        let (size, modified) = (*size, (*modified_s, 0));
                        let identity = FileIdentity { size, modified, ..FileIdentity::default() };
                        (path, prefix, kind::COPY, identity)
                    }
                    Expected::Link(target) => {
                        let target = text(target.as_os_str())?;
                        let (inode, size) = (self.text(target), target.len() as u64);
                        let identity = FileIdentity { inode, size, ..FileIdentity::default() };
                        (path, prefix, kind::LINK, identity)
                    }
                }
            }
        };
        let record = shared::Record {
            path: self.text(text) + prefix as u64,
            kind,
            prefix: prefix as u32,
            inode: identity.inode,
            size: identity.size,
            modified_seconds: identity.modified.0,
            modified_nanoseconds: identity.modified.1,
            changed_seconds: identity.changed.0,
            changed_nanoseconds: identity.changed.1,
        };
        record.write(&mut self.lists);
        Ok(())
    }

    /// The paths' offsets stand among the texts.
    fn cached(&mut self, cached: &CachedName) -> Result<(), BuildError> {
        let name = self.text(text(&cached.name)?);
        let paths = cached.paths.iter().map(|file| Ok(self.text(path(file)?)));
        let paths: Vec<u64> = paths.collect::<Result<_, BuildError>>()?;
        let cached =
            shared::Cached { name, paths: self.next_text(), path_count: paths.len() as u64 };
        self.texts.extend(paths.into_iter().flat_map(u64::to_le_bytes));
        cached.write(&mut self.lists);
        Ok(())
    }

    fn build(&mut self, build: &LoadedBuild) -> Result<(), BuildError> {
        let name = self.text(plain_name(&build.name, b'/')?);
        let (id, length) = (self.next_text(), build.id.len() as u64);
        self.texts.extend(&build.id);
        shared::Build { name, id, length }.write(&mut self.lists);
        Ok(())
    }

    fn module(&mut self, module: &MergedModule) -> Result<(), BuildError> {
        let name = match &module.path {
            Some(file) => self.text(path(file)?),
            None => 0,
        };
        let symbols = &module.symbols;
        let identity = module.identity.unwrap_or_default();
        let module = shared::Module {
            start: module.start,
            end: module.end,
            base: module.base,
            thread: module.thread,
            name,
            hash: symbols.hash.unwrap_or_default(),
            symbols: symbols.table,
            symbol_count: symbols.count,
            strings: symbols.strings,
            versions: symbols.versions.unwrap_or_default(),
            definitions: symbols.definitions.unwrap_or_default(),
            behind_outside: u64::from(module.behind_outside),
            inode: identity.inode,
            size: identity.size,
            modified_seconds: identity.modified.0,
            modified_nanoseconds: identity.modified.1,
        };
        module.write(&mut self.lists);
        Ok(())
    }
}

pub(crate) fn path(path: &Path) -> Result<&[u8], BuildError> {
    if !path.is_absolute() {
        return Err(BuildError::Relative(path.to_owned()));
    }
    text(path.as_os_str())
}

pub(crate) fn plain_name(name: &OsStr, without: u8) -> Result<&[u8], BuildError> {
    let bytes = text(name)?;
    if bytes.contains(&without) { Err(BuildError::Name(name.to_owned())) } else { Ok(bytes) }
}

pub(crate) fn text(text: &OsStr) -> Result<&[u8], BuildError> {
    let bytes = text.as_bytes();
    let bad = bytes.is_empty() || bytes.contains(&0);
    if bad { Err(BuildError::Text(text.to_owned())) } else { Ok(bytes) }
}
