//! Which pages of which files a cold launch touched.

use crate::{Ending, Reading};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A cold launch without read-ahead, of which every page that entered memory was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePages {
    /// From before the clone call until the launch was complete.
    pub total_us: f64,
    /// How the launch ended.
    pub ending: Ending,
    /// Size of a page.
    pub page_bytes: u64,
    /// The files that were asked for, in that order.
    pub files: Vec<TouchedFile>,
    /// Files that were not asked for and of which pages entered memory: those that the launch wrote,
    /// and those that launches before it did not use.
    pub other_files: u64,
    /// Pages of those.
    pub other_pages: u64,
    /// Records that the kernel dropped for want of room.
    pub lost: u64,
    /// Files of which other programs kept pages in memory, with the reason why no copy took their place
    /// for the launch; none where no copies were asked for.
    pub not_copied: Vec<(String, String)>,
}

/// What the launch touched of one file. Pages are numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Its path, without links.
    pub path: String,
    /// Its pages.
    pub pages: u64,
    /// Pages that the launch touched, in order of first touch.
    pub touched: Reading<Vec<TouchedPage>>,
    /// Pages that were in memory before the launch, mostly because other programs hold them mapped:
    /// it is not known whether the launch touched them.
    pub in_memory: Vec<Range<u64>>,
    /// Pages that other programs brought into memory during the launch: it is not known of them,
    /// either.
    pub by_others: Vec<Range<u64>>,
}

/// A page, and when the launch touched it first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TouchedPage {
    /// Its number in the file.
    pub page: u64,
    /// Its place among all pages that the launch touched, from 0.
    pub order: u64,
    /// Since the beginning of the launch.
    pub at_us: f64,
}

impl TouchedFile {
    /// Whether the launch touched no pages but those listed.
    pub fn is_exact(&self) -> bool {
        self.touched.value().is_some() && self.in_memory.is_empty() && self.by_others.is_empty()
    }
}

/// Version of the JSON of [`PagesReport`].
pub const PAGES_REPORT_SCHEMA: u32 = 1;

/// What a launch touched, by files and their sections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PagesReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command, as one would type it.
    pub command: String,
    /// How the launched process ended.
    pub ending: Ending,
    /// From before the clone call until the launch was complete: cold, and without read-ahead.
    pub total_us: f64,
    /// Size of a page.
    pub page_bytes: u64,
    /// How the files were found.
    pub files_from: String,
    /// Those files that the launch touched or may have touched, the one with the most touched pages
    /// first.
    pub files: Vec<FilePagesReport>,
    /// Every touched page in order, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<PageInOrder>>,
    /// What could not be recorded, and why.
    pub notes: Vec<String>,
}

/// What a launch touched of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePagesReport {
    /// Its path.
    pub path: String,
    /// The figures of the whole file.
    pub pages: PageFigures,
    /// Whether the launch touched no other pages.
    pub exact: bool,
    /// The sections of an image in the order of the file; nothing for any other file.
    pub sections: Vec<SectionPages>,
}

/// What a launch touched of one section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionPages {
    /// Its name. `headers`: those of the file. `(none)`: what is in no section.
    pub name: String,
    /// A page counts for the section that has the most bytes of it.
    pub pages: PageFigures,
}

/// Numbers of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFigures {
    /// All.
    pub total: u64,
    /// Those that the launch touched.
    pub touched: Reading<u64>,
    /// Those that were in memory before, of which it is not known.
    pub in_memory: u64,
    /// Those that other programs read meanwhile, of which it is not known.
    pub by_others: u64,
}

/// One touched page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageInOrder {
    /// Index of its file.
    pub file: u64,
    /// Its number in the file, from 0.
    pub page: u64,
    /// Index of its section among those of the file; missing where that is no image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<u64>,
    /// When it was touched first, since the beginning of the launch.
    pub at_us: f64,
}
