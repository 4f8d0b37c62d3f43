//! Rust divided into code and comments, without the content of texts.

/// The lines of a file, twice: what is not shown is blank.
pub struct Masked {
    /// Without comments, and with empty texts.
    pub code: Vec<String>,
    /// Comments only.
    pub comments: Vec<String>,
    /// Texts only, with their quotation marks.
    pub texts: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    Line,
    /// Of that depth.
    Block(usize),
    Text,
    /// With so many `#`.
    Raw(usize),
}

/// Characters at which the state may change.
const MARKS: [char; 7] = ['/', '*', '"', '\'', '\\', 'r', '\n'];

/// Divides a file.
pub fn mask(text: &str) -> Masked {
    let text: Vec<char> = text.chars().collect();
    let (mut code, mut comments, mut texts) = (String::new(), String::new(), String::new());
    let (mut state, mut at) = (State::Code, 0);
    while at < text.len() {
        let (next, length) = step(state, &text, at);
        let is_comment = [state, next].iter().any(|s| matches!(s, State::Line | State::Block(_)));
        let is_code = state == State::Code && !is_comment;
        let is_text = [state, next].iter().any(|s| matches!(s, State::Text | State::Raw(_)));
        for &c in &text[at..(at + length).min(text.len())] {
            let shown = |is_shown: bool| if is_shown || c == '\n' { c } else { ' ' };
            code.push(shown(is_code));
            comments.push(shown(is_comment));
            texts.push(shown(is_text));
        }
        (state, at) = (next, at + length);
    }
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    Masked { code: lines(code), comments: lines(comments), texts: lines(texts) }
}

/// The state after the next characters, and how many these are.
fn step(state: State, text: &[char], at: usize) -> (State, usize) {
    if !MARKS.contains(&text[at]) {
        return (state, 1);
    }
    let starts = |pattern: &str| pattern.chars().eq(text[at..].iter().copied().take(pattern.len()));
    match state {
        State::Code if starts("//") => (State::Line, 2),
        State::Code if starts("/*") => (State::Block(1), 2),
        State::Code if starts("\"") => (State::Text, 1),
        State::Code if starts("r\"") || starts("r#") => raw_start(text, at),
        State::Code if starts("'") => (State::Code, character(text, at)),
        State::Line if starts("\n") => (State::Code, 1),
        State::Block(1) if starts("*/") => (State::Code, 2),
        State::Block(depth) if starts("*/") => (State::Block(depth - 1), 2),
        State::Block(depth) if starts("/*") => (State::Block(depth + 1), 2),
        State::Text if starts("\\") => (State::Text, 2),
        State::Text if starts("\"") => (State::Code, 1),
        State::Raw(marks) if starts(&format!("\"{}", "#".repeat(marks))) => {
            (State::Code, 1 + marks)
        }
        same => (same, 1),
    }
}

/// A raw text, if it is one: not a name that ends with r, nor a raw identifier.
fn raw_start(text: &[char], at: usize) -> (State, usize) {
    let marks = text[at + 1..].iter().take_while(|&&c| c == '#').count();
    let is_name = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    let is_byte = at > 0 && text[at - 1] == 'b';
    match text.get(at + 1 + marks) {
        Some('"') if !is_name || is_byte => (State::Raw(marks), 2 + marks),
        _ => (State::Code, 1),
    }
}

/// The length of a character literal, or 1 for a lifetime.
fn character(text: &[char], at: usize) -> usize {
    match (text.get(at + 1), text.get(at + 2)) {
        (Some('\\'), _) => text[at + 3..].iter().position(|&c| c == '\'').map_or(1, |end| end + 4),
        (Some(_), Some('\'')) => 3,
        _ => 1,
    }
}

#[test]
fn code_comments_and_texts_are_told_apart() {
    let text =
        "let a = \"// no\"; // yes \"\nlet b = r#\"x\"y\"#; /* c /* d */ e */ 'q'; '\"'; 'a: f";
    let masked = mask(text);
    assert_eq!(masked.code[0].trim_end(), "let a = \"      ;");
    assert_eq!(masked.comments[0].trim(), "// yes \"");
    assert_eq!(masked.texts[0].trim(), "\"// no\"");
    assert!(masked.code[1].contains("'a: f") && !masked.code[1].contains('y'));
    assert_eq!(masked.comments[1].trim(), "/* c /* d */ e */");
}
