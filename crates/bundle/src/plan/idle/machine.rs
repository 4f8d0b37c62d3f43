//! A few instructions of x86-64, carried out with what is known before a launch.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use model::BundleVa;
use rustc_hash::FxHashMap;

/// Instructions that are carried out at most, so that loops end.
const MOST_STEPS: usize = 64;
/// Longest instruction.
const LONGEST: usize = 15;
/// Registers that a function gives back as they came (System V ABI for x86-64, figure 3.4).
const PRESERVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// What is known of memory before a launch.
pub(super) trait Memory {
    /// Bytes of code, as far as there are any.
    fn code(&self, at: BundleVa) -> &[u8];
    /// A word that has its value before any code runs, and keeps it.
    fn word(&self, at: BundleVa) -> Value;
    /// Whether a byte is zero before any code runs, and can be written to.
    fn is_clear(&self, at: BundleVa) -> bool;
}

/// What a word or a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    /// An address of the bundle, which may move.
    Address(BundleVa),
    /// The C library's `__cxa_finalize`.
    Finalize,
    /// What this register held at the beginning.
    Kept(Register),
    /// Where the function itself returns to.
    Caller,
    Unknown,
}

/// What a function does, besides what it gives back as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// It calls `__cxa_finalize` with its module's handle, which is here, and remembers in a byte of its own that
    /// it has.
    Finalizes(BundleVa),
}

/// What the function at `at` does; `None` where that is not known for certain.
pub(super) fn effect(memory: &impl Memory, at: BundleVa) -> Option<Effect> {
    let mut machine = Machine {
        memory,
        at,
        registers: FxHashMap::default(),
        stack: vec![Value::Caller],
        flags: None,
        guard: Guard::default(),
        finalized: Vec::new(),
    };
    for _ in 0..MOST_STEPS {
        if machine.step()? == Step::Returned {
            return machine.effect();
        }
    }
    None
}

/// Whether the function goes on.
#[derive(PartialEq, Eq)]
enum Step {
    Next,
    Returned,
}

/// What a comparison found: equal, and lower as unsigned numbers.
#[derive(Clone, Copy)]
struct Flags {
    zero: bool,
    below: Option<bool>,
}

/// A byte that the function reads first and sets later.
#[derive(Default)]
struct Guard {
    read: Option<BundleVa>,
    written: bool,
}

struct Machine<'m, M> {
    memory: &'m M,
    /// The next instruction.
    at: BundleVa,
    registers: FxHashMap<Register, Value>,
    stack: Vec<Value>,
    flags: Option<Flags>,
    guard: Guard,
    /// Handles of modules.
    finalized: Vec<BundleVa>,
}

impl<M: Memory> Machine<'_, M> {
    fn effect(&self) -> Option<Effect> {
        let kept = PRESERVED.iter().all(|&one| self.register(one) == Value::Kept(one));
        match (kept, &self.finalized[..], self.guard.read, self.guard.written) {
            (true, [], None, false) => Some(Effect::Nothing),
            (true, &[handle], Some(_), true) => Some(Effect::Finalizes(handle)),
            _ => None,
        }
    }

    fn step(&mut self) -> Option<Step> {
        let bytes = self.memory.code(self.at);
        let bytes = bytes.get(..bytes.len().min(LONGEST))?;
        let one = Decoder::with_ip(64, bytes, self.at.0, DecoderOptions::NONE).decode();
        self.at = BundleVa(one.next_ip());
        match one.mnemonic() {
            Mnemonic::Endbr64 | Mnemonic::Nop => {}
            Mnemonic::Push => self.stack.push(self.operand(&one, 0)?),
            Mnemonic::Pop => {
                let value = self.stack.pop()?;
                self.set(&one, value)?;
            }
            Mnemonic::Mov => self.move_value(&one)?,
            Mnemonic::Lea => {
                let value = self.address(&one).map(Value::Address)?;
                self.set(&one, value)?;
            }
            Mnemonic::Sub | Mnemonic::Add if one.op0_register() == Register::RSP => {
                self.move_stack(&one)?;
            }
            Mnemonic::Sub
            | Mnemonic::Add
            | Mnemonic::Sar
            | Mnemonic::Shr
            | Mnemonic::Xor
            | Mnemonic::Cmp
            | Mnemonic::Test => self.calculate(&one)?,
            Mnemonic::Je | Mnemonic::Jne | Mnemonic::Ja | Mnemonic::Jbe => self.branch(&one)?,
            Mnemonic::Jmp | Mnemonic::Call => return self.transfer(&one),
            Mnemonic::Ret if one.op_count() == 0 => return self.returns(),
            _ => return None,
        }
        Some(Step::Next)
    }

    fn register(&self, register: Register) -> Value {
        let whole = register.full_register();
        self.registers.get(&whole).copied().unwrap_or(Value::Kept(whole))
    }

    /// The address of an instruction's memory operand.
    fn address(&self, one: &Instruction) -> Option<BundleVa> {
        if one.segment_prefix() != Register::None {
            return None;
        }
        if one.is_ip_rel_memory_operand() {
            return Some(BundleVa(one.ip_rel_memory_address()));
        }
        let plain = one.memory_index() == Register::None;
        match self.register(one.memory_base()) {
            Value::Address(base) if plain => Some(base.wrapping_add(one.memory_displacement64())),
            _ => None,
        }
    }

    fn operand(&self, one: &Instruction, number: u32) -> Option<Value> {
        match one.op_kind(number) {
            OpKind::Register => match one.op_register(number) {
                // The stack itself goes nowhere.
                Register::RSP => Some(Value::Unknown),
                register if register.is_gpr64() => Some(self.register(register)),
                _ => None,
            },
            OpKind::Memory if one.memory_size().size() == 8 => {
                Some(self.memory.word(self.address(one)?))
            }
            OpKind::Memory => None,
            _ => Some(Value::Number(one.try_immediate(number).ok()?)),
        }
    }

    /// Sets the register that is the first operand.
    fn set(&mut self, one: &Instruction, value: Value) -> Option<()> {
        let register = one.op0_register();
        let whole = register.full_register();
        let value = match value {
            Value::Number(number) if register.is_gpr32() => Value::Number(number & 0xffff_ffff),
            value if register.is_gpr64() => value,
            _ => return None,
        };
        if whole == Register::RSP {
            return None;
        }
        self.registers.insert(whole, value);
        Some(())
    }

    fn move_value(&mut self, one: &Instruction) -> Option<()> {
        match one.code() {
            Code::Mov_rm8_imm8 => {
                let guard = self.guard.read?;
                self.guard.written = self.address(one)? == guard && one.immediate8() == 1;
                self.guard.written.then_some(())
            }
            _ if one.op0_kind() == OpKind::Register => {
                let value = self.operand(one, 1)?;
                self.set(one, value)
            }
            _ => None,
        }
    }

    /// Room on the stack.
    fn move_stack(&mut self, one: &Instruction) -> Option<()> {
        let bytes = one.try_immediate(1).ok().filter(|bytes| bytes % 8 == 0 && *bytes <= 256)?;
        let (words, depth) = (bytes as usize / 8, self.stack.len());
        match one.mnemonic() {
            Mnemonic::Sub => self.stack.resize(depth + words, Value::Unknown),
            _ => self.stack.truncate(depth.checked_sub(words)?),
        }
        self.flags = None;
        Some(())
    }

    fn calculate(&mut self, one: &Instruction) -> Option<()> {
        if one.op0_kind() == OpKind::Memory && one.memory_size().size() == 1 {
            return self.read_guard(one);
        }
        if one.op0_register().is_gpr32() {
            // Nothing of 32 bits but this clears a register.
            let clears =
                one.mnemonic() == Mnemonic::Xor && one.op0_register() == one.op1_register();
            self.flags = Some(Flags { zero: true, below: Some(false) });
            return if clears { self.set(one, Value::Number(0)) } else { None };
        }
        let (left, right) = (self.operand(one, 0)?, self.operand(one, 1)?);
        let (result, flags) = calculated(one.mnemonic(), left, right)?;
        self.flags = Some(flags);
        match one.mnemonic() {
            Mnemonic::Cmp | Mnemonic::Test => Some(()),
            _ if one.op0_kind() == OpKind::Register => self.set(one, result),
            _ => None,
        }
    }

    /// `cmp byte ptr [rip + …], 0`
    fn read_guard(&mut self, one: &Instruction) -> Option<()> {
        let at = self.address(one).filter(|&at| self.memory.is_clear(at))?;
        let compares = one.code() == Code::Cmp_rm8_imm8 && one.immediate8() == 0;
        if !compares || self.guard.read.is_some_and(|known| known != at) || self.guard.written {
            return None;
        }
        self.guard.read = Some(at);
        self.flags = Some(Flags { zero: true, below: Some(false) });
        Some(())
    }

    fn branch(&mut self, one: &Instruction) -> Option<()> {
        let Flags { zero, below } = self.flags?;
        let taken = match one.mnemonic() {
            Mnemonic::Je => zero,
            Mnemonic::Jne => !zero,
            Mnemonic::Ja => !zero && !below?,
            _ => zero || below?,
        };
        if taken {
            self.at = BundleVa(one.near_branch_target());
        }
        Some(())
    }

    /// A jump or a call.
    fn transfer(&mut self, one: &Instruction) -> Option<Step> {
        let target = match one.op0_kind() {
            OpKind::NearBranch64 => Value::Address(BundleVa(one.near_branch_target())),
            _ => self.operand(one, 0)?,
        };
        if one.mnemonic() == Mnemonic::Call {
            self.stack.push(Value::Address(BundleVa(one.next_ip())));
        }
        match target {
            Value::Address(to) => self.at = to,
            Value::Finalize => return self.finalize(),
            _ => return None,
        }
        Some(Step::Next)
    }

    /// `__cxa_finalize(__dso_handle)`: the handle is a word that holds its own address.
    fn finalize(&mut self) -> Option<Step> {
        match self.register(Register::RDI) {
            Value::Address(handle) if self.memory.word(handle) == Value::Address(handle) => {
                self.finalized.push(handle);
            }
            _ => return None,
        }
        self.flags = None;
        self.registers.retain(|register, _| PRESERVED.contains(register));
        for register in [Register::RAX, Register::RCX, Register::RDX, Register::RSI, Register::RDI]
        {
            self.registers.insert(register, Value::Unknown);
        }
        self.returns()
    }

    fn returns(&mut self) -> Option<Step> {
        match self.stack.pop()? {
            Value::Caller if self.stack.is_empty() => Some(Step::Returned),
            Value::Address(to) => {
                self.at = to;
                Some(Step::Next)
            }
            _ => None,
        }
    }
}

/// The result, and how it compares.
fn calculated(how: Mnemonic, left: Value, right: Value) -> Option<(Value, Flags)> {
    use Value::{Address, Number};
    // Addresses move together, and none of them is 0.
    let (left, right) = match (how, left, right) {
        (Mnemonic::Sub | Mnemonic::Cmp, Address(left), Address(right)) => (left.0, right.0),
        (Mnemonic::Test, Address(left), Address(right)) if left == right => (1, 1),
        (Mnemonic::Cmp, Address(_) | Value::Finalize, Number(0)) => (1, 0),
        (Mnemonic::Test, Value::Finalize, Value::Finalize) => (1, 1),
        (_, Number(left), Number(right)) => (left, right),
        _ => return None,
    };
    let shift = u32::try_from(right & 63).ok()?;
    let result = match how {
        Mnemonic::Sub | Mnemonic::Cmp => left.wrapping_sub(right),
        Mnemonic::Add => left.wrapping_add(right),
        Mnemonic::Sar => (left.cast_signed() >> shift).cast_unsigned(),
        Mnemonic::Shr => left >> shift,
        Mnemonic::Xor => left ^ right,
        Mnemonic::Test => left & right,
        _ => return None,
    };
    // A shift by nothing leaves the flags as they were.
    if matches!(how, Mnemonic::Sar | Mnemonic::Shr) && shift == 0 {
        return None;
    }
    let below = matches!(how, Mnemonic::Sub | Mnemonic::Cmp).then_some(left < right);
    Some((Number(result), Flags { zero: result == 0, below }))
}
