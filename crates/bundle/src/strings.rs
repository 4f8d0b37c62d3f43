use rustc_hash::FxHashMap;

/// A string table (gABI, chapter 4): each string once.
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    known: FxHashMap<Vec<u8>, u32>,
}

impl Strings {
    pub(crate) fn new() -> Strings {
        Strings { bytes: vec![0], known: FxHashMap::default() }
    }

    /// The offset of a string.
    pub(crate) fn add(&mut self, text: &[u8]) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&at) = self.known.get(text) {
            return at;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
        self.known.insert(text.to_vec(), at);
        at
    }
}
