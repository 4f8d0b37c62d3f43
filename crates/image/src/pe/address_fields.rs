//! Where tables that loaders read hold virtual addresses. Base relocations have to name each of
//! these places: nothing else puts them right when the image is not at its preferred base.
//!
//! Format: *The TLS Directory*, *Load Configuration Layout*, *Delay-Load Import Tables*;
//! `IMAGE_LOAD_CONFIG_DIRECTORY32` and `…64` of `winnt.h`.

use super::imports::ImportDamage;
use super::read::Pe;
use super::spec;
use model::{Rva, Va};

/// A place that holds an address of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressField {
    /// Address of the place, relative to the base.
    pub rva: Rva,
    /// The virtual address found there.
    pub value: Va,
    /// Bytes of it.
    pub bytes: u32,
    /// Which table it is in.
    pub table: &'static str,
    /// The field, as in `winnt.h`.
    pub field: &'static str,
}

const TLS: &str = "TLS directory";
const LOAD_CONFIG: &str = "load configuration";
const DELAY_IMPORTS: &str = "delay-import table";

/// Fields of the TLS directory; each is as wide as an address.
const TLS_FIELDS: [&str; 4] =
    ["StartAddressOfRawData", "EndAddressOfRawData", "AddressOfIndex", "AddressOfCallBacks"];

/// Offsets in PE32 and PE32+ of the load configuration's fields.
const LOAD_CONFIG_FIELDS: [(u32, u32, &str); 22] = [
    (0x20, 0x28, "LockPrefixTable"),
    (0x38, 0x50, "EditList"),
    (0x3c, 0x58, "SecurityCookie"),
    (0x40, 0x60, "SEHandlerTable"),
    (0x48, 0x70, "GuardCFCheckFunctionPointer"),
    (0x4c, 0x78, "GuardCFDispatchFunctionPointer"),
    (0x50, 0x80, "GuardCFFunctionTable"),
    (0x68, 0xa0, "GuardAddressTakenIatEntryTable"),
    (0x70, 0xb0, "GuardLongJumpTargetTable"),
    (0x78, 0xc0, "DynamicValueRelocTable"),
    (0x7c, 0xc8, "CHPEMetadataPointer"),
    (0x80, 0xd0, "GuardRFFailureRoutine"),
    (0x84, 0xd8, "GuardRFFailureRoutineFunctionPointer"),
    (0x90, 0xe8, "GuardRFVerifyStackPointerFunctionPointer"),
    (0x9c, 0xf8, "EnclaveConfigurationPointer"),
    (0xa0, 0x100, "VolatileMetadataPointer"),
    (0xa4, 0x108, "GuardEHContinuationTable"),
    (0xac, 0x118, "GuardXFGCheckFunctionPointer"),
    (0xb0, 0x120, "GuardXFGDispatchFunctionPointer"),
    (0xb4, 0x128, "GuardXFGTableDispatchFunctionPointer"),
    (0xb8, 0x130, "CastGuardOsDeterminedFailureMode"),
    (0xbc, 0x138, "GuardMemcpyFunctionPointer"),
];

/// Offsets of addresses in a delay-import descriptor of the first version.
const DELAY_FIELDS: [(u32, &str); 6] = [
    (4, "DllNameRVA"),
    (8, "ModuleHandleRVA"),
    (12, "ImportAddressTableRVA"),
    (16, "ImportNameTableRVA"),
    (20, "BoundImportAddressTableRVA"),
    (24, "UnloadInformationTableRVA"),
];

impl Pe<'_> {
    /// Places in loaders' tables that hold addresses of this image: of the TLS directory and its
    /// callbacks, the load configuration, and delay imports of the first version.
    ///
    /// # Errors
    /// Delay imports that cannot be read.
    pub fn address_fields(&self) -> Result<Vec<AddressField>, ImportDamage> {
        let mut fields = Vec::new();
        if let Some(directory) = self.directory(spec::TLS) {
            let width = self.pointer_bytes();
            for (index, field) in (0..).zip(TLS_FIELDS) {
                self.add_field(directory.rva, index * width, (TLS, field), &mut fields);
            }
            self.add_callbacks(&mut fields);
        }
        if let Some(directory) = self.directory(spec::LOAD_CONFIG) {
            let size = self.load_config().map_or(0, |config| config.bytes);
            for (pe32, pe32_plus, field) in LOAD_CONFIG_FIELDS {
                let offset = if self.headers().pe32_plus { pe32_plus } else { pe32 };
                if offset + self.pointer_bytes() <= size {
                    self.add_field(directory.rva, offset, (LOAD_CONFIG, field), &mut fields);
                }
            }
        }
        self.add_delayed(&mut fields)?;
        Ok(fields)
    }

    /// Adds the field at an offset of a table, if an address of the image is there.
    fn add_field(
        &self,
        table: Rva,
        offset: u32,
        (name, field): (&'static str, &'static str),
        to: &mut Vec<AddressField>,
    ) {
        let Some(rva) = table.checked_add(offset) else { return };
        let Some(value) = self.pointer(rva).map(Va) else { return };
        // The end of a template may be the end of the image.
        let within = value.since(self.headers().base);
        let inside = within.is_some_and(|within| within <= u64::from(self.headers().image_bytes));
        if value != Va(0) && inside {
            let bytes = self.pointer_bytes();
            to.push(AddressField { rva, value, bytes, table: name, field });
        }
    }

    fn add_callbacks(&self, to: &mut Vec<AddressField>) {
        let callbacks = to.iter().find(|field| field.field == TLS_FIELDS[3]);
        let Some(start) = callbacks.and_then(|field| self.rva(field.value)) else { return };
        let width = self.pointer_bytes();
        let mut rva = start;
        while self.pointer(rva).is_some_and(|callback| callback != 0) {
            self.add_field(rva, 0, (TLS, "callback"), to);
            let Some(next) = rva.checked_add(width) else { return };
            rva = next;
        }
    }

    fn add_delayed(&self, to: &mut Vec<AddressField>) -> Result<(), ImportDamage> {
        // Tables may overlap in damaged files; together they are no larger than the file otherwise.
        let mut left = self.bytes().len() / self.pointer_bytes() as usize;
        for dll in self.delay_imported() {
            let dll = dll?;
            left = left.checked_sub(1).ok_or(ImportDamage::Descriptor(dll.descriptor))?;
            if !dll.virtual_addresses {
                continue;
            }
            for (offset, field) in DELAY_FIELDS {
                let Some(rva) = dll.descriptor.checked_add(offset) else { continue };
                let bytes = self.range(rva, 4).and_then(|bytes| bytes.first_chunk());
                let value = bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes));
                if value != 0 {
                    let value = Va(value.into());
                    let table = DELAY_IMPORTS;
                    to.push(AddressField { rva, value, bytes: 4, table, field });
                }
            }
            for import in self.imports(&dll) {
                let import = import?;
                left =
                    left.checked_sub(1).ok_or(ImportDamage::Table(dll.ilt.unwrap_or(dll.iat)))?;
                if let super::imports::ImportBy::Name { .. } = import.by {
                    let field = (DELAY_IMPORTS, "name of a function");
                    self.add_field(import.ilt_entry, 0, field, to);
                }
            }
        }
        Ok(())
    }
}
