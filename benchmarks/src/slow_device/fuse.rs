//! Messages of the kernel's FUSE protocol 7.31, as far as one file in one folder needs them:
//! include/uapi/linux/fuse.h of the kernel.

use super::model::ReadRequest;

/// The folder.
const ROOT: u64 = 1;
/// The file in it.
const FILE: u64 = 2;
/// Its name.
pub const NAME: &str = "disk";

const HEADER: usize = 40;
const VERSION: (u32, u32) = (7, 31);
/// Longer reads are split by the kernel.
pub const MOST_READ_BYTES: u32 = 1 << 20;
const MOST_PAGES: u16 = 256;
/// Reads that are under way at once.
const MOST_WAITING: u16 = 256;
/// How long the kernel may believe an answer: nothing ever changes.
const VALID_S: u64 = 3_600;

const NO_ENTRY: i32 = 2;
const NOT_IMPLEMENTED: i32 = 38;

/// Reads of one file need not wait for each other, of this kind and of the direct kind; a read may
/// have more than 32 pages.
const FLAGS: u32 = 1 | 1 << 15 | 1 << 22;
/// The kernel keeps nothing of an opened file in memory.
const DIRECT_IO: u32 = 1;

const FOLDER_MODE: u32 = 0o040_755;
const FILE_MODE: u32 = 0o100_444;

/// What is to be done about a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Todo {
    /// To be answered with these bytes.
    Answer(Vec<u8>),
    /// To be answered when the device has read it.
    Read(ReadRequest),
    /// The kernel waits for no answer.
    Nothing,
    /// The file system is no longer mounted.
    End,
}

/// What a message of the kernel asks for; the file has that size.
pub fn understand(message: &[u8], size_bytes: u64) -> Todo {
    let (Some(opcode), Some(unique), Some(node), Some(body)) =
        (u32_at(message, 4), u64_at(message, 8), u64_at(message, 16), message.get(HEADER..))
    else {
        return Todo::Nothing;
    };
    let reply = |body: &[u8]| Todo::Answer(answer(unique, body));
    match opcode {
        // LOOKUP
        1 if node == ROOT && body.strip_suffix(&[0]) == Some(NAME.as_bytes()) => {
            reply(&entry(size_bytes))
        }
        1 => Todo::Answer(refusal(unique, NO_ENTRY)),
        // FORGET, INTERRUPT, BATCH_FORGET
        2 | 36 | 42 => Todo::Nothing,
        // GETATTR
        3 => reply(&[numbers(&[VALID_S, 0]), attributes(node, size_bytes)].concat()),
        // OPEN, OPENDIR
        14 => reply(&[numbers(&[0]), words(&[DIRECT_IO, 0])].concat()),
        27 => reply(&[0; 16]),
        // READ
        15 => read(unique, body),
        // STATFS: blocks of a page, and names of 255 bytes.
        17 => reply(&[numbers(&[0; 5]), words(&[4_096, 255, 4_096]), words(&[0; 7])].concat()),
        // RELEASE, FSYNC, FLUSH, READDIR, RELEASEDIR, ACCESS
        18 | 20 | 25 | 28 | 29 | 34 => reply(&[]),
        // INIT
        26 => reply(&init(body)),
        // DESTROY
        38 => Todo::End,
        _ => Todo::Answer(refusal(unique, NOT_IMPLEMENTED)),
    }
}

/// The answer that has this body.
pub fn answer(unique: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(unique, 0, body.len());
    bytes.extend(body);
    bytes
}

/// The answer that it cannot be done, with the number of the error.
pub fn refusal(unique: u64, error: i32) -> Vec<u8> {
    head(unique, error, 0)
}

fn head(unique: u64, error: i32, body: usize) -> Vec<u8> {
    let length = (16 + body) as u32;
    let mut bytes = words(&[length]);
    bytes.extend((-error).to_ne_bytes());
    bytes.extend(unique.to_ne_bytes());
    bytes
}

fn read(unique: u64, body: &[u8]) -> Todo {
    match (u64_at(body, 8), u32_at(body, 16)) {
        (Some(offset), Some(bytes)) if bytes <= MOST_READ_BYTES => {
            Todo::Read(ReadRequest { unique, offset, bytes })
        }
        _ => Todo::Answer(refusal(unique, NOT_IMPLEMENTED)),
    }
}

fn init(body: &[u8]) -> Vec<u8> {
    let offered = u32_at(body, 12).unwrap_or(0);
    let mut bytes = words(&[VERSION.0, VERSION.1, MOST_READ_BYTES, offered & FLAGS]);
    bytes.extend(MOST_WAITING.to_ne_bytes());
    bytes.extend(MOST_WAITING.to_ne_bytes());
    // The longest write, of which there are none, and the unit of times in nanoseconds.
    bytes.extend(words(&[MOST_READ_BYTES, 1]));
    bytes.extend(MOST_PAGES.to_ne_bytes());
    bytes.resize(64, 0);
    bytes
}

fn entry(size_bytes: u64) -> Vec<u8> {
    let generation = 0;
    let mut bytes = numbers(&[FILE, generation, VALID_S, VALID_S]);
    bytes.extend(words(&[0, 0]));
    bytes.extend(attributes(FILE, size_bytes));
    bytes
}

fn attributes(node: u64, size_bytes: u64) -> Vec<u8> {
    let (mode, size) = if node == ROOT { (FOLDER_MODE, 0) } else { (FILE_MODE, size_bytes) };
    let mut bytes = numbers(&[node, size, size / 512, 0, 0, 0]);
    let (links, owner, group, device, block, flags) = (1, 0, 0, 0, 4_096, 0);
    bytes.extend(words(&[0, 0, 0, mode, links, owner, group, device, block, flags]));
    bytes
}

fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(opcode: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut bytes = words(&[(HEADER + body.len()) as u32, opcode]);
        bytes.extend(numbers(&[7, node]));
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes
    }

    fn length_and_error(todo: &Todo) -> (u32, u32) {
        let Todo::Answer(bytes) = todo else { panic!("{todo:?}") };
        assert_eq!(u32_at(bytes, 0), Some(bytes.len() as u32));
        assert_eq!(u64_at(bytes, 8), Some(7));
        (bytes.len() as u32, u32_at(bytes, 4).unwrap())
    }

    #[test]
    fn answers_have_the_sizes_of_the_kernels_structures() {
        let size = |opcode, node, body: &[u8]| {
            let (length, error) = length_and_error(&understand(&message(opcode, node, body), 9));
            assert_eq!(error, 0);
            length - 16
        };
        assert_eq!(size(1, ROOT, b"disk\0"), 128);
        assert_eq!(size(3, FILE, &[0; 16]), 104);
        assert_eq!(size(14, FILE, &[0; 8]), 16);
        assert_eq!(size(17, FILE, &[]), 80);
        assert_eq!(size(26, 0, &[0; 64]), 64);
    }

    #[test]
    fn other_names_are_not_there() {
        let todo = understand(&message(1, ROOT, b"disc\0"), 9);
        assert_eq!(length_and_error(&todo), (16, (-NO_ENTRY) as u32));
        let todo = understand(&message(9, ROOT, &[]), 9);
        assert_eq!(length_and_error(&todo), (16, (-NOT_IMPLEMENTED) as u32));
    }

    #[test]
    fn a_read_is_handed_on() {
        let mut body = numbers(&[0, 8_192]);
        body.extend(words(&[4_096, 0]));
        let todo = understand(&message(15, FILE, &body), 1 << 20);
        assert_eq!(todo, Todo::Read(ReadRequest { unique: 7, offset: 8_192, bytes: 4_096 }));
        assert_eq!(understand(&message(38, 0, &[]), 9), Todo::End);
        assert_eq!(understand(&[1, 2, 3], 9), Todo::Nothing);
    }
}
