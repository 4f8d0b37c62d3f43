//! Symbol tables of images, and PDB files, as maps: by [`image::function_table`], PE also by
//! [`image::pe::symbols`] and [`image::pe::symbols_of_pdb`].

use super::collect::Collected;
use super::{Linkage, LinkerMap, MapFormat, MapSymbol};
use image::FunctionTable;
use image::pe::PeSymbol;
use model::Va;

/// A symbol of an image's table or of its PDB file, as readers of images give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSymbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Whether that is its readable form only, as the procedures of a PDB file have.
    pub is_demangled: bool,
    /// Where it is, by the image's preferred base.
    pub va: Va,
    /// Its size, where the table tells.
    pub bytes: Option<u64>,
    /// Its section; empty where nobody tells.
    pub section: &'a [u8],
    /// The object file or module, where the table tells.
    pub object: Option<&'a [u8]>,
    /// Whether it is a function.
    pub is_function: bool,
    /// Whether other object files can refer to it; `None` where the table does not tell.
    pub linkage: Option<Linkage>,
}

impl LinkerMap {
    /// What a table says of the image with that preferred base.
    pub fn of_symbols<'a>(
        base: Va,
        symbols: impl IntoIterator<Item = TableSymbol<'a>>,
    ) -> LinkerMap {
        let mut found = Collected::default();
        for symbol in symbols {
            let section = found.shared(symbol.section);
            let object = symbol.object.map(|object| found.shared(object));
            found.symbols.push(MapSymbol {
                name: crate::lines::name_text(symbol.name),
                is_demangled: symbol.is_demangled,
                va: symbol.va,
                bytes: symbol.bytes.filter(|bytes| *bytes > 0),
                section,
                section_alignment: None,
                object,
                is_function: symbol.is_function,
                is_inline: false,
                linkage: symbol.linkage,
            });
        }
        found.into_map(MapFormat::Table, Some(base), Vec::new())
    }

    /// The functions of an image, by its symbols and its unwind table.
    pub fn of_functions(table: &FunctionTable) -> LinkerMap {
        let symbols = table.functions.iter().flat_map(|function| {
            function.names.iter().map(|name| TableSymbol {
                name: name.as_bytes(),
                is_demangled: false,
                va: function.address,
                bytes: Some(function.bytes),
                section: b"",
                object: None,
                is_function: true,
                linkage: None,
            })
        });
        LinkerMap::of_symbols(table.preferred_base, symbols)
    }

    /// The symbols of a PE image with that preferred base, by its COFF symbols or its PDB file.
    pub fn of_pe_symbols(base: Va, symbols: &[PeSymbol]) -> LinkerMap {
        let symbols = symbols.iter().map(|symbol| TableSymbol {
            name: &symbol.name,
            is_demangled: symbol.is_readable,
            va: base.wrapping_add(symbol.rva.0.into()),
            bytes: symbol.bytes.map(u64::from),
            section: &symbol.section,
            object: symbol.object.as_deref(),
            is_function: symbol.is_function,
            linkage: Some(if symbol.is_public { Linkage::Public } else { Linkage::Static }),
        });
        LinkerMap::of_symbols(base, symbols)
    }
}
