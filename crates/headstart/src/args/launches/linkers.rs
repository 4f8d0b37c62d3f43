//! Linkers, by the names that are typed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Well known, and without an option for an order of functions.
const MOLD: &str = "mold";
const NOT_BY_MOLD: &str =
    "mold has no option for an order file; link releases with ld.lld, and choose lld";

/// One of some linkers; who asks for mold is told what to use.
pub fn choice<Value, const N: usize>(
    choices: [(&'static str, Value); N],
) -> impl TypedValueParser<Value = Value>
where
    Value: Clone + Send + Sync + 'static,
{
    let names = choices.iter().map(|(name, _)| PossibleValue::new(*name));
    let names = names.chain([PossibleValue::new(MOLD).hide(true)]);
    PossibleValuesParser::new(names).try_map(move |typed| {
        let chosen = choices.iter().find(|(name, _)| *name == typed);
        chosen.map(|(_, value)| value.clone()).ok_or(NOT_BY_MOLD)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn who_asks_for_mold_is_told_what_to_use() {
        let argument = Arg::new("linker").value_parser(choice([("lld", 1), ("gold", 2)]));
        let command = Command::new("order").arg(argument);
        let matches = command.clone().try_get_matches_from(["order", "gold"]).unwrap();
        assert_eq!(matches.get_one::<i32>("linker"), Some(&2));
        let refused =
            |name| command.clone().try_get_matches_from(["order", name]).unwrap_err().to_string();
        assert!(refused("mold").contains("ld.lld"), "{}", refused("mold"));
        assert!(refused("wild").contains("[possible values: lld, gold]"), "{}", refused("wild"));
    }
}
