//! What of an argument tells one kind of launch from another. Launchers have the same code, so it
//! uses nothing but `core`.

/// The longest ending of a file's name that counts.
const LONGEST_ENDING: usize = 8;
/// The longest sub-command.
const LONGEST_WORD: usize = 32;

/// A word of a class: `before`, and then `rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassWord<'a> {
    /// `*.` of an ending, else nothing.
    pub before: &'static [u8],
    /// What is taken from the argument.
    pub rest: &'a [u8],
}

impl ClassWord<'_> {
    /// Whether it is written so.
    pub fn is(&self, written: &[u8]) -> bool {
        written.strip_prefix(self.before) == Some(self.rest)
    }
}

/// The words of the arguments one after the other, and which of them may be a sub-command: the
/// first that is no option.
#[derive(Clone, Copy, Debug)]
pub struct ClassWords {
    is_first: bool,
}

impl ClassWords {
    /// Before the first argument.
    pub fn new() -> ClassWords {
        ClassWords { is_first: true }
    }

    /// What stands for the next argument: the name of an option, the ending of a file's name, a
    /// sub-command, or nothing.
    pub fn next<'a>(&mut self, word: &'a [u8]) -> Option<ClassWord<'a>> {
        let is_first = self.is_first;
        self.is_first &= word.starts_with(b"-");
        let plain = |rest| ClassWord { before: b"", rest };
        if word.starts_with(b"--") {
            return word.split(|byte| *byte == b'=').next().map(plain);
        }
        if word.starts_with(b"-") && word.len() > 1 {
            // A short option may have its value behind it: -O2, -Ifolder.
            return word.get(..1 + character(word.get(1..)?)).map(plain);
        }
        match ending(word) {
            Some(rest) => Some(ClassWord { before: b"*.", rest }),
            None if is_first && is_word(word) => Some(plain(word)),
            None => None,
        }
    }
}

impl Default for ClassWords {
    fn default() -> ClassWords {
        ClassWords::new()
    }
}

/// Bytes of the first character.
fn character(text: &[u8]) -> usize {
    let continued = text.iter().skip(1).take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    1 + if text.first().is_some_and(|byte| *byte >= 0xc0) { continued } else { 0 }
}

fn ending(word: &[u8]) -> Option<&[u8]> {
    let name = word.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty())?;
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0)?;
    let ending = name.get(dot + 1..)?;
    let plain = ending.len() <= LONGEST_ENDING && ending.iter().all(u8::is_ascii_alphanumeric);
    (plain && !ending.iter().all(u8::is_ascii_digit)).then_some(ending)
}

/// Such as `status` of `git status`.
fn is_word(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_alphabetic)
        && word.len() <= LONGEST_WORD
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
}
