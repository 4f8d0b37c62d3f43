//! Starts the reading, and becomes the program.

use crate::format::{Data, PlanEntry};
use crate::{memory, reader, system};

/// How much earlier than the program the reader begins, at most: so a program does not read the first
/// pages itself, in other pieces. More gains nothing on slow flash, and costs time on fast flash.
const HEAD_START_MS: usize = 5;
/// The same on a disk with a moving head, which would go back and forth between the reader and the
/// program.
const MOVING_HEAD_START_MS: usize = 2000;
/// The longest that the first process of a container waits for what is read before it.
const BEFORE_MS: usize = 5000;
const WORD: usize = size_of::<usize>();
/// In place of an error of the kernel's: the program is the launcher.
const ITSELF: isize = 1;

/// The words with which the launcher was started.
pub struct StartWords {
    count: usize,
    words: *const usize,
}

impl StartWords {
    /// # Safety
    /// `stack` is the stack of a program that the kernel has just started.
    pub unsafe fn of(stack: *const usize) -> StartWords {
        // SAFETY: the caller's.
        unsafe { StartWords { count: stack.read(), words: stack.add(1) } }
    }

    /// The launcher's own name; null where it was given none.
    fn name(&self) -> *const u8 {
        // SAFETY: the list has `count` words and a null behind them.
        unsafe { self.words.read() as *const u8 }
    }

    /// The address of a word.
    fn word(&self, index: usize) -> usize {
        // SAFETY: as above; nothing behind the null is asked for.
        if index < self.count { unsafe { self.words.add(index).read() } } else { 0 }
    }

    fn environment(&self) -> *const usize {
        // SAFETY: the environment stands behind the null (System V ABI).
        unsafe { self.words.add(self.count + 1) }
    }

    /// The path by which the kernel has found the launcher (getauxval(3), AT_EXECFN).
    fn own_path(&self) -> *const u8 {
        const AT_EXECFN: usize = 31;
        // SAFETY: pairs of words follow the null behind the environment, up to one that begins
        // with 0 (System V ABI).
        unsafe {
            let mut word = self.environment();
            while word.read() != 0 {
                word = word.add(1);
            }
            let mut pair = word.add(1);
            while pair.read() != 0 {
                if pair.read() == AT_EXECFN {
                    return pair.add(1).read() as *const u8;
                }
                pair = pair.add(2);
            }
        }
        core::ptr::null()
    }

    /// Whether the program is this launcher, which would start itself for ever.
    fn is_own_program(&self, program: &'static [u8]) -> bool {
        let own = self.own_path();
        if own.is_null() {
            return false;
        }
        // SAFETY: the kernel's string, with its NUL.
        let own = unsafe { system::string(own) };
        let identity = |path| system::stat(path).map(|found| found.identity);
        identity(own).is_some_and(|own| identity(program) == Some(own))
    }

    /// The arguments that the program will have.
    pub fn arguments(&self, data: Data<'static>) -> impl Iterator<Item = &'static [u8]> {
        let own = data.arguments().places().map(move |at| data.string(data.u32(at) as usize));
        let given = (1..self.count).map(|index| {
            let word = self.word(index) as *const u8;
            // SAFETY: words of a launch are strings that end with NUL, and last.
            unsafe { system::string(word) }
        });
        own.chain(given)
    }

    /// Returns only from here by ending the launcher: the program cannot be started.
    pub fn become_program(&self, data: Data<'static>) -> ! {
        let own = data.arguments();
        let count = 1 + own.count() as usize + self.count + 1;
        let address = |at: usize| data.0.as_ptr().wrapping_add(at) as usize;
        let program = address(data.program());
        if self.is_own_program(data.string(data.program())) {
            self.fail(data, ITSELF);
        }
        let Some(words) = system::memory(count * WORD, false) else {
            system::say(b"a launcher of headstart has no memory\n");
            system::exit(127);
        };
        let words = words.cast::<usize>();
        let first = core::iter::once(program);
        let own = own.places().map(|at| address(data.u32(at) as usize));
        let given = (1..self.count).map(|index| self.word(index));
        for (index, word) in first.chain(own).chain(given).enumerate() {
            // SAFETY: there is memory for all of them and a null, which it is filled with.
            unsafe { words.add(index).write(word) };
        }
        // SAFETY: the path and all words end with NUL, the lists with a null.
        let error = unsafe { system::execve(program as *const u8, words, self.environment()) };
        self.fail(data, error)
    }

    fn fail(&self, data: Data<'static>, error: isize) -> ! {
        let name = self.name();
        if !name.is_null() {
            // SAFETY: words of a launch are strings that end with NUL.
            system::say(unsafe { system::string(name) });
            system::say(b": ");
        }
        system::say(b"this launcher of headstart cannot start '");
        system::say(data.string(data.program()));
        let (why, code): (&[u8], u8) = match error {
            ITSELF => (b"': that is the launcher itself\n", 127),
            -2 => (b"': it is not there, or its interpreter is not\n", 127),
            -13 => (b"': permission denied\n", 126),
            -8 => (b"': it is no program that the kernel knows\n", 126),
            -7 => (b"': arguments and environment are too long\n", 126),
            _ => (b"': the kernel refuses to start it\n", 126),
        };
        system::say(why);
        system::exit(code)
    }
}

/// Has a process of its own read ahead: no child of the program, with none of its descriptors. The
/// first process of a container, and a subreaper, would inherit it, so there it is done before.
pub fn start_reader(data: Data<'static>, plan: &PlanEntry) {
    if !memory::has_room_for(plan.kib) || system::would_found_namespace() {
        return;
    }
    if system::process_id() == 1 || system::is_subreaper() {
        return read_before(data, plan);
    }
    let Some((done, asking)) = system::pipe() else { return };
    match system::clone(0) {
        0 => {
            leave(asking);
            if system::clone(0) == 0 {
                reader::read_ahead(data, plan);
            }
            system::exit(0);
        }
        child => {
            system::close(asking);
            // It has given up everything of the caller's when it ends.
            if child > 0 {
                system::wait_for(child);
                let most_ms = if plan.one_by_one { MOVING_HEAD_START_MS } else { HEAD_START_MS };
                system::wait_readable(done, most_ms);
            }
            system::close(done);
        }
    }
}

/// The same before the program, which would inherit the reader. Other children are not waited for: a
/// shell may have started some before it became the launcher.
fn read_before(data: Data<'static>, plan: &PlanEntry) {
    let Some((done, asking)) = system::pipe() else { return };
    match system::clone(0) {
        0 => {
            leave(asking);
            reader::read_ahead(data, plan);
            system::exit(0);
        }
        child => {
            system::close(asking);
            if child > 0 {
                if !system::wait_readable(done, BEFORE_MS) {
                    system::end_group(child);
                }
                system::wait_for(child);
                // Workers of one that was ended.
                while system::wait_for(child.wrapping_neg()) {}
            }
            system::close(done);
        }
    }
}

/// Gives up what the reader has from the launcher's caller: its session, its folder, its descriptors
/// but `kept`.
fn leave(kept: i32) {
    system::leave();
    let kept = kept.cast_unsigned();
    if kept > 0 {
        system::close_range(0, kept - 1);
    }
    system::close_range(kept.wrapping_add(1), u32::MAX);
    // Standard input, output and error, as the lowest numbers are given first.
    for _ in 0..3 {
        system::open(b"/dev/null\0", system::O_RDWR);
    }
}
