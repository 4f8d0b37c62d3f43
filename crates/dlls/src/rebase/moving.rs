//! One image: what moving it takes, and moving it.

use super::audit::audit;
use super::layout::SLOT;
use super::problem::Problem;
use super::relocator::{Counts, Relocator};
use super::stamp;
use crate::signature::{self, Signatures};
use crate::{Refusal, bind};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Headers, Pe, relocations, spec};
use model::Va;

/// PE32 has addresses of 32 bits.
const END_32_BIT: Va = Va(1 << 32);
/// No loader maps images of this size (*PE Format*: at most 2 GiB).
const IMAGE_LIMIT: u64 = 1 << 31;
/// Highest address of a process on any of the machines, and beyond.
const END: Va = Va(1 << 47);

/// What may be done to an image that is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RebaseOptions {
    /// A signature is removed; without this, signed images are refused.
    pub strip_signature: bool,
    /// `CheckSum` is made right also where it was 0 or wrong.
    pub checksum: bool,
    /// `TimeDateStamp` stays, so that importers that are bound take wrong addresses for right.
    pub keep_time_stamp: bool,
}

/// What is known of an image that may be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Preferred base.
    pub base: Va,
    /// Bytes from its base to its end: `SizeOfImage`, or the end of a section behind that.
    pub memory_bytes: u64,
    /// The end of the addresses that it can be at.
    pub address_end: Va,
    /// It is a program, not a DLL.
    pub program: bool,
    /// `IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE`: Windows moves it, whatever its base.
    pub dynamic_base: bool,
    /// It is for ARM, for which Windows loads nothing without that flag.
    pub arm: bool,
    /// Relocations, those that change nothing left out.
    pub relocations: u64,
    /// Why it cannot be moved, if so.
    pub obstacle: Option<Problem>,
}

/// An image that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// The new file.
    pub bytes: Vec<u8>,
    /// Preferred base before.
    pub old_base: Va,
    /// Preferred base now.
    pub new_base: Va,
    /// Relocations applied.
    pub relocations: u64,
    /// Its imports were bound, and are not any more.
    pub unbound: bool,
    /// Signatures that it lost.
    pub stripped: Signatures,
    /// Its `TimeDateStamp` now.
    pub time_stamp: u32,
}

/// What an image's headers alone say of it: as [`examine`], if nothing is wrong with the rest and it
/// has no addresses of 32 bits in PE32+. Its relocations are not counted.
pub fn examine_headers(headers: &Headers) -> Examined {
    let flag = |flag| headers.dll_characteristics & flag != 0;
    let stripped = headers.characteristics & spec::IMAGE_FILE_RELOCS_STRIPPED != 0;
    Examined {
        base: headers.base,
        memory_bytes: memory_bytes(headers),
        address_end: if headers.pe32_plus { END } else { END_32_BIT },
        program: headers.characteristics & spec::IMAGE_FILE_DLL == 0,
        dynamic_base: flag(spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE),
        arm: matches!(
            headers.machine,
            spec::IMAGE_FILE_MACHINE_ARMNT | spec::IMAGE_FILE_MACHINE_ARM64
        ),
        relocations: 0,
        obstacle: stripped.then_some(Problem::Stripped(headers.base)),
    }
}

/// Looks at an image without changing anything; `path` is its name in errors.
pub fn examine(path: &str, pe: &Pe<'_>, options: RebaseOptions) -> Examined {
    let mut examined = Examined { obstacle: None, ..examine_headers(pe.headers()) };
    match look_ahead(path, pe, options) {
        Ok((counts, signed)) => {
            examined.obstacle = signed;
            examined.relocations = counts.total();
            if counts.narrow.is_some() {
                examined.address_end = END_32_BIT;
            }
        }
        Err(problem) => examined.obstacle = Some(problem),
    }
    examined
}

/// What would be found once the image is fit to be moved, and the signature that must not be broken.
fn look_ahead(
    path: &str,
    pe: &Pe<'_>,
    options: RebaseOptions,
) -> Result<(Counts, Option<Problem>), Problem> {
    let headers = pe.headers();
    let signatures = Signatures::of(pe);
    let settle = |strip| {
        let settled = signature::settle(&mut PeDraft::of(pe), path, strip);
        settled.err().map(|refusal| Problem::Signed(refusal.reason()))
    };
    if signatures.enforced {
        return Ok((look(pe)?.counts, settle(options.strip_signature)));
    }
    let changes = is_bound(pe) || signatures.any();
    if changes && headers.characteristics & spec::IMAGE_FILE_RELOCS_STRIPPED == 0 {
        // What stands in the way besides a signature is said rather.
        let mut draft = PeDraft::of(pe);
        prepare(&mut draft, path, RebaseOptions { strip_signature: true, ..options })?;
        let counts = look(&draft.pe())?.counts;
        return Ok((counts, if options.strip_signature { None } else { settle(false) }));
    }
    Ok((look(pe)?.counts, None))
}

/// Whether addresses of other images are in this one.
fn is_bound(pe: &Pe<'_>) -> bool {
    let stamped = |dll: image::pe::imports::Imported<'_>| dll.time_stamp != 0;
    pe.directory(spec::BOUND_IMPORT).is_some() || pe.imported().flatten().any(stamped)
}

/// Takes away what would be wrong in a moved image. Whether it was bound, and what it was signed
/// with.
fn prepare(
    draft: &mut PeDraft,
    path: &str,
    options: RebaseOptions,
) -> Result<(bool, Signatures), Problem> {
    let unprepared = |refusal: Refusal| Problem::Unprepared(refusal.reason());
    let stripped = signature::settle(draft, path, options.strip_signature).map_err(unprepared)?;
    let bound = is_bound(&draft.pe());
    if bound {
        bind::unbind(draft, path).map_err(unprepared)?;
        let same = Pe::parse(path, draft.bytes()).is_ok_and(|now| {
            let (now, before) = (now.headers(), draft.headers());
            now.sections == before.sections && now.base == before.base
        });
        if !same {
            let reason = "its import tables overlap its headers; the file is damaged";
            return Err(Problem::Unprepared(reason.into()));
        }
    }
    Ok((bound, stripped))
}

/// Bytes from an image's base to its end.
fn memory_bytes(headers: &Headers) -> u64 {
    let ends = headers.sections.iter();
    let ends = ends.map(|section| u64::from(section.rva.0) + u64::from(section.extent()));
    ends.max().unwrap_or(0).max(headers.image_bytes.into()).max(1)
}

/// All that was found to be needed for moving an image.
struct Movable {
    relocator: Relocator,
    counts: Counts,
}

fn look(pe: &Pe<'_>) -> Result<Movable, Problem> {
    let headers = pe.headers();
    if headers.characteristics & spec::IMAGE_FILE_RELOCS_STRIPPED != 0 {
        return Err(Problem::Stripped(headers.base));
    }
    let bytes = memory_bytes(headers);
    if bytes > IMAGE_LIMIT {
        return Err(Problem::Large(bytes));
    }
    let relocator = Relocator::of(pe)?;
    let counts = relocator.check(pe.bytes())?;
    audit(pe, &relocator)?;
    Ok(Movable { relocator, counts })
}

impl Movable {
    /// Finds out whether the image can be at that base.
    fn check_base(&self, headers: &Headers, base: Va) -> Result<(), Problem> {
        let end = base.checked_add(memory_bytes(headers));
        let refuse = |reason| Err(Problem::Base { base, reason });
        match end {
            Some(end) if headers.pe32_plus && end <= END => {}
            Some(end) if !headers.pe32_plus && end <= END_32_BIT => {}
            _ if headers.pe32_plus => return refuse("addresses end at 128 TiB"),
            _ => return refuse("it is a PE32 image, which must be below 4 GiB"),
        }
        if !base.0.is_multiple_of(SLOT) {
            return refuse("bases must be multiples of 64 KiB");
        }
        if let Some(rva) = self.counts.narrow
            && headers.pe32_plus
            && end.is_none_or(|end| end > END_32_BIT)
        {
            return Err(Problem::Narrow { rva, base });
        }
        let distance = base.0.wrapping_sub(headers.base.0);
        match self.counts.half {
            Some((rva, kind)) if !distance.is_multiple_of(SLOT) => {
                let name = relocations::name(kind, headers.machine).unwrap_or_default();
                Err(Problem::Unaligned { rva, name })
            }
            _ => Ok(()),
        }
    }
}

/// Moves an image: its relocations are applied as a loader does, its import tables unbound, its
/// time stamp and checksum put right. An image that is at that base is not changed, but for
/// `CheckSum` where that is asked for.
///
/// To one base, to another and back gives the same bytes again, unless it was bound or signed.
///
/// # Errors
/// It cannot be moved, or not there: why, and what to do.
pub fn rebase(
    path: &str,
    file: Vec<u8>,
    new_base: Va,
    options: RebaseOptions,
) -> Result<Rebased, Refusal> {
    let mut draft = PeDraft::read(path, file)?;
    let refused = |problem: Problem| Refusal::new(path, problem.reason());
    let old = draft.headers().clone();
    let mut done = Rebased {
        bytes: Vec::new(),
        old_base: old.base,
        new_base,
        relocations: 0,
        unbound: false,
        stripped: Signatures::default(),
        time_stamp: old.time_stamp,
    };
    if new_base != old.base {
        (done.unbound, done.stripped) = prepare(&mut draft, path, options).map_err(refused)?;
        let movable = look(&draft.pe()).map_err(refused)?;
        movable.check_base(&old, new_base).map_err(refused)?;
        done.relocations = movable.counts.total();
        if !options.keep_time_stamp {
            done.time_stamp = stamp::moved(old.time_stamp, old.base, new_base);
        }
        change(&mut draft, &movable, &done).map_err(refused)?;
    }
    done.bytes = draft.finish(match options.checksum {
        true => KeepChecksum::Compute,
        false => KeepChecksum::AsItWas,
    });
    Ok(done)
}

fn change(draft: &mut PeDraft, movable: &Movable, to: &Rebased) -> Result<(), Problem> {
    let outside = |error: image::pe::edit::OutsideFile| Problem::Outside(error.to_string());
    movable.relocator.apply(draft.bytes_mut(), to.new_base.0.wrapping_sub(to.old_base.0))?;
    draft.set_base(to.new_base).map_err(outside)?;
    draft.set_time_stamp(to.time_stamp).map_err(outside)
}
