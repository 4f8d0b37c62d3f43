//! Plug-ins that are merged in files beside the bundle.

use super::{Writer, lists, plain_name};
use crate::folders::Step;
use crate::shared::{self, Header};
use crate::{BuildError, Plugin, PluginFile, Tables};

/// Bytes of a name for the loader (`struct libname_list`).
const NODE: u64 = 24;

impl Writer {
    /// `records`: of each plug-in.
    pub(super) fn plugins(
        &mut self,
        tables: &Tables,
        records: &[Vec<Step<'_>>],
        header: &mut Header,
    ) -> Result<(), BuildError> {
        header.scope = tables.scope;
        header.iterate = tables.iterate;
        (header.plugin_files, header.plugin_file_count) =
            self.list(&tables.plugin_files, Writer::plugin_file)?;
        let mut lists_of_records = Vec::new();
        for records in records {
            lists_of_records.push(self.list(records, Writer::step)?);
        }
        let files = header.plugin_files;
        header.plugins = (lists() + self.lists.len()) as u64;
        header.plugin_count = tables.plugins.len() as u64;
        for (plugin, records) in tables.plugins.iter().zip(lists_of_records) {
            self.plugin(plugin, files, records)?;
        }
        Ok(())
    }

    fn plugin_file(&mut self, file: &PluginFile) -> Result<(), BuildError> {
        let (folder, name) = (plain_name(&file.folder, b'/')?, plain_name(&file.name, b'/')?);
        let path = self.text(&[b"$ORIGIN/", folder, b"/", name].concat());
        let base = path + (b"$ORIGIN/".len() + folder.len() + b"/".len()) as u64;
        let (first, count) = file.names;
        let (chain, chain_count) = (NODE * first, count);
        let loaded = file.loaded.iter().map(|name| Ok(self.text(super::text(name)?)));
        let names: Vec<u64> = loaded.collect::<Result<_, BuildError>>()?;
        let (loaded, loaded_count) = (self.next_text(), names.len() as u64);
        self.texts.extend(names.into_iter().flat_map(u64::to_le_bytes));
        let preamble = file.preamble;
        let file =
            shared::PluginFile { path, base, chain, chain_count, loaded, loaded_count, preamble };
        file.write(&mut self.lists);
        Ok(())
    }

    fn plugin(
        &mut self,
        plugin: &Plugin,
        files: u64,
        (records, record_count): (u64, u64),
    ) -> Result<(), BuildError> {
        let place = |number: &usize| files + (shared::PluginFile::SIZE * number) as u64;
        let alias = match &plugin.alias {
            Some(alias) => self.text(super::text(alias)?),
            None => 0,
        };
        let folder = match &plugin.folder {
            Some(folder) => self.text(super::text(folder)?),
            None => 0,
        };
        let needs = self.next_text();
        self.texts.extend(plugin.needs.iter().flat_map(|number| place(number).to_le_bytes()));
        let identity = plugin.identity;
        let plugin = shared::Plugin {
            inode: identity.inode,
            size: identity.size,
            modified_seconds: identity.modified.0,
            modified_nanoseconds: identity.modified.1,
            file: place(&plugin.file),
            alias,
            needs,
            need_count: plugin.needs.len() as u64,
            folder,
            records,
            record_count,
        };
        plugin.write(&mut self.lists);
        Ok(())
    }
}
