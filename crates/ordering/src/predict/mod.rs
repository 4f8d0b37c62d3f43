//! What an order would change, before anything is linked: where functions will be, which pages a
//! launch touches, what the kernel reads for them, and what that costs on a device.
//!
//! Everything here is a function of plain data: the functions of an image, what runs called of
//! them, an order, and a kernel's way to read ahead.

mod device;
mod distance;
mod forecast;
mod pages;
mod placement;
mod read_ahead;
mod replay;
mod scatter;
#[cfg(test)]
mod tests;

pub use device::{Device, DeviceProfile, ReadCost, Seek, WeightedReplay, expected_cost};
pub use distance::{DistanceRise, FarFunction, distance_rise};
pub use forecast::{ForecastMeans, Forecaster, LayoutForecast, RunForecast};
pub use pages::{
    ImagePage, PAGE_BYTES, TouchedPages, WINDOW_PAGES, function_floor, line_floor, touched_pages,
};
pub use placement::{FunctionExtent, TextPlacement};
pub use read_ahead::{KernelReadAhead, ReadAheadKind, TextMapping};
pub use replay::{MediaRead, Replay, replay};
pub use scatter::{ModuleScatter, module_scatter};
