//! The format of generated images, as an option.

/// Format of generated images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatArg {
    #[default]
    Elf,
    Pe,
}

impl From<FormatArg> for model::Format {
    fn from(format: FormatArg) -> model::Format {
        match format {
            FormatArg::Elf => model::Format::Elf,
            FormatArg::Pe => model::Format::Pe,
        }
    }
}
