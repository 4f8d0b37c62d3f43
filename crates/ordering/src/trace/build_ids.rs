//! Build-ids that are not true: fixed ones (`--build-id=0x…`), and those of tools that change a file
//! and keep its build-id, as BOLT does. Names and sizes of the called functions tell.

use super::names_index::Names;
use super::runs::{OrderedImage, covering};
use model::{FirstCall, FunctionTrace};

/// Of so many calls one may differ in size: tables tell the end of assembly in different ways.
const ONE_OF: usize = 10;

/// Whether the calls of a trace contradict that a module is the image, whose build-id it has.
pub(super) fn is_contradicted(
    trace: &FunctionTrace,
    module: usize,
    image: &OrderedImage<'_>,
    names: &Names<'_>,
) -> bool {
    let (mut all, mut odd) = (0, 0);
    for call in trace.calls.iter().filter(|call| call.module.index() == module) {
        all += 1;
        match compared(call, image, names) {
            Likeness::Elsewhere => return true,
            Likeness::Odd => odd += 1,
            Likeness::Same => {}
        }
    }
    odd * ONE_OF > all
}

/// A call and the function at its address.
enum Likeness {
    Same,
    /// Nothing says that they are the same, and their sizes differ.
    Odd,
    /// The image has a function of the call's name, at other addresses only.
    Elsewhere,
}

fn compared(call: &FirstCall, image: &OrderedImage<'_>, names: &Names<'_>) -> Likeness {
    let here = covering(image.functions, call.rva);
    let is_called = here.and_then(|function| names.is_called(function, &call.name));
    if is_called == Some(true) {
        return Likeness::Same;
    }
    if !call.name.is_empty()
        && (here.is_none() || is_called == Some(false))
        && names.has(&call.name)
    {
        return Likeness::Elsewhere;
    }
    let placed = here.and_then(|function| image.functions.get(function.index()));
    let begins = placed.filter(|function| function.rva == call.rva);
    let is_known = |function: &&crate::PlacedFunction| function.bytes > 0 && call.bytes > 0;
    match begins.filter(is_known) {
        Some(function) if function.bytes != call.bytes => Likeness::Odd,
        _ => Likeness::Same,
    }
}
