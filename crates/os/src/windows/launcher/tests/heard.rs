//! Programs that are heard.

use super::*;

/// What `task` writes and how it ends, where everything that it writes is progress.
fn hear(task: &str, silence: Duration, limit: usize) -> HeardOutput {
    heard(&own(task), [Duration::from_secs(60), silence], limit, &mut |_| true).unwrap()
}

#[test]
fn everything_is_heard_until_the_end() {
    let minute = Duration::from_secs(60);
    let output = hear("say-and-end these words", minute, 1 << 20);
    assert!(String::from_utf8_lossy(&output.bytes).contains("these words"), "{output:?}");
    assert_eq!(output.ending, Some(Ending::Code(0)));
    assert_eq!(hear("exit 70000", minute, 1 << 20).ending, Some(Ending::Code(70000)));
}

#[test]
fn who_falls_silent_or_says_too_much_is_given_up() {
    let output = hear("say something", Duration::from_millis(300), 1 << 20);
    assert!(String::from_utf8_lossy(&output.bytes).contains("something"), "{output:?}");
    assert_eq!(output.ending, None);
    assert_eq!(hear("say something", Duration::from_secs(600), 1).ending, None);
}

/// The other process has the pipe open, and would never close it.
#[test]
fn what_is_left_running_is_not_waited_for() {
    let output = hear("leave in the background", Duration::from_secs(600), 1 << 20);
    assert_eq!(output.ending, Some(Ending::Code(0)));
}
