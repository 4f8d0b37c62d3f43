//! Traces of launches that failed.

use model::FunctionTrace;

/// Says which of the traces are of launches that failed: they have the calls until then.
pub fn failed(traces: &[FunctionTrace]) -> Option<String> {
    let endings = traces.iter().filter_map(|trace| Some((trace, trace.ending?)));
    let mut failed = endings.filter(|(_, ending)| !ending.is_success());
    let (first, ending) = failed.next()?;
    let others = match failed.count() {
        0 => String::new(),
        others => format!(", and {others} more failed"),
    };
    let (command, ending) = (first.command.join(" "), ending.words());
    Some(format!(
        "traced launches failed: '{command}' {ending}{others}; if that is not usual, trace launches \
         that succeed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;

    #[test]
    fn failed_launches_are_named_and_counted() {
        let trace = |ending| FunctionTrace {
            command: vec!["a".to_owned(), "b".to_owned()],
            ending,
            ..FunctionTrace::default()
        };
        let fine = [None, Some(Ending::Code(0)), Some(Ending::Ready)].map(trace);
        assert_eq!(failed(&fine), None);
        let [one, two] = [Some(Ending::Code(1)), Some(Ending::Signal(9))].map(trace);
        let words = failed(std::slice::from_ref(&one)).unwrap();
        assert!(words.contains("'a b' ended with exit code 1; if"), "{words}");
        assert!(failed(&[one, two]).unwrap().contains("code 1, and 1 more failed;"));
    }
}
