//! Golden views, and what holds for every view.

use super::*;
use crate::explain::ROWS;

const PLAIN: Style = Style { color: false, width: 80, unicode: true };
const SOME: Option<usize> = Some(ROWS);

/// Recorded: a program with 120 libraries that need each other.
fn recorded() -> Reading<Hot> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explanations/hot.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn function(name: &str, module: &str, samples: u64, kernel: bool) -> HotFunction {
    let (function, module) = (name.to_owned(), module.to_owned());
    HotFunction { module, function, samples, share: samples as f64 / 10.0, kernel }
}

fn instruction(address: u64, length: u8, samples: u64, text: &str) -> HotInstruction {
    let source = (address & 0x20 == 0).then(|| format!("strcmp.S:{}", 100 + address / 8 % 8));
    HotInstruction { address, length, samples, text: text.to_owned(), source }
}

/// Ten samples, most of them in the kernel.
fn few() -> Reading<Hot> {
    let notes = ["10 samples only: the program uses little processor time", "3 records were lost"];
    let instructions = vec![
        instruction(0x1139, 3, 0, "mov eax, edi"),
        instruction(0x113c, 4, 3, "lea rdx, [rax+rax*2]"),
        instruction(0x1140, 1, 0, "ret"),
    ];
    Reading::Value(Hot {
        samples: 10,
        launches: 1,
        frequency_hz: 4_000,
        notes: notes.map(str::to_owned).to_vec(),
        functions: vec![
            function("clear_page_erms", "[kernel]", 7, true),
            function("main", "/tmp/\u{1b}[2Jx", 3, false),
        ],
        hottest: Reading::Value(Hottest {
            function: "main".to_owned(),
            module: "/tmp/\u{1b}[2Jx".to_owned(),
            instructions,
        }),
    })
}

/// A program that sleeps.
fn none() -> Reading<Hot> {
    Reading::Value(Hot {
        samples: 0,
        launches: 5,
        frequency_hz: 19_997,
        notes: vec!["0 samples only: the program uses little processor time".to_owned()],
        functions: Vec::new(),
        hottest: Reading::unavailable("no sample fell on a function whose bounds are known", ""),
    })
}

fn refused() -> Reading<Hot> {
    let reason = "sampling with perf events is not permitted: kernel.perf_event_paranoid is 3; \
                  allow it with: sudo sysctl kernel.perf_event_paranoid=2";
    Reading::unavailable(reason, "")
}

#[test]
fn golden_views() {
    for (name, hot) in
        [("recorded", recorded()), ("few", few()), ("none", none()), ("refused", refused())]
    {
        insta::assert_snapshot!(name, view(&hot, &PLAIN, SOME));
    }
    let narrow = Style { width: 60, unicode: false, ..PLAIN };
    insta::assert_snapshot!("recorded_ascii", view(&recorded(), &narrow, Some(3)));
}

#[test]
fn no_line_is_wider_than_the_terminal_or_moves_the_cursor() {
    for hot in [recorded(), few(), none(), refused()] {
        for width in [40, 60, 72, 80, 132] {
            for unicode in [true, false] {
                let text = view(&hot, &Style { width, unicode, ..PLAIN }, SOME);
                for line in text.lines() {
                    assert!(columns(line) <= width.max(60), "{width}: {line}");
                    assert!(unicode || line.is_ascii(), "{line}");
                    assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
                }
            }
        }
    }
}

#[test]
fn rows_and_cuts_keep_every_sample_of_the_functions() {
    let hot = recorded();
    let Reading::Value(found) = &hot else { panic!("{hot:?}") };
    let samples = |text: &str| -> u64 {
        let (functions, _) = text.split_once("\n\nHottest").unwrap();
        let rows = functions.lines().skip_while(|line| !line.contains(" module")).skip(1);
        let first = |line: &str| line.split_whitespace().next().unwrap().replace(',', "");
        rows.map(|line| first(line).parse::<u64>().unwrap()).sum()
    };
    for rows in [Some(1), Some(10), None] {
        let text = view(&hot, &PLAIN, rows);
        assert_eq!(samples(&text), found.samples);
        assert!(rows.is_none() || text.contains("…\n"), "a long function is cut");
    }
}
