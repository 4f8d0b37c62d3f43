//! Parsers of single values that every host has.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use model::Format;

/// One of some values, each by the name that is typed.
pub fn choice<Name, Value, const N: usize>(
    choices: [(Name, Value); N],
) -> impl TypedValueParser<Value = Value>
where
    Name: Into<PossibleValue>,
    Value: Clone + Send + Sync + 'static,
{
    let choices = choices.map(|(name, value)| (name.into(), value));
    let names = PossibleValuesParser::new(choices.iter().map(|(name, _)| name.clone()));
    names.try_map(move |typed| {
        let chosen = choices.iter().find(|(name, _)| name.get_name() == typed);
        chosen.map(|(_, value)| value.clone()).ok_or("there is no such value")
    })
}

/// The format of images that the system launches, as it is typed.
pub const OWN_FORMAT: &str = if cfg!(windows) { "pe" } else { "elf" };

/// The format of generated images.
pub fn format() -> impl TypedValueParser<Value = Format> {
    choice([("elf", Format::Elf), ("pe", Format::Pe)])
}

/// `0x2000000000`, with or without the prefix.
pub fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16)
        .map_err(|_| "an address is hexadecimal: 0x2000000000".to_owned())
}
