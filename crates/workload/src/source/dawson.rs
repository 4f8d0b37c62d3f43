//! Bruce Dawson's workload as C sources.

use super::main_c::FRAME;
use super::script::Script;
use crate::{Counts, Dawson, Files};
use std::fmt::Write;

/// What a compiler makes of classes, as the Itanium C++ ABI (2.5, 2.9) lays it out.
const CLASSES: &str = r#"
struct type { const void *class; const char *name; };
struct object { int (*const *functions)(struct object *); };
/* A vtable has a length of its own. */
#define TABLE(count) struct { long to_top; const struct type *type; int (*functions[count])(struct object *); }
"#;

pub(crate) fn dawson(dawson: &Dawson, counts: Counts) -> Files {
    let mut files = Files::new("build.sh", counts);
    files.add("classes.h", false, || CLASSES.trim_start().as_bytes().to_vec());
    for source in 1..=dawson.sources {
        let dawson = dawson.clone();
        files.add(format!("source_{source}.c"), false, move || {
            source_text(&dawson, source).into_bytes()
        });
    }
    let copy = dawson.clone();
    files.add("main.c", false, move || main_text(&copy).into_bytes());
    let sources = dawson.sources;
    files.add("build.sh", true, move || script(sources));
    files
}

fn source_text(dawson: &Dawson, source: u32) -> String {
    let mut text =
        String::from("#include \"classes.h\"\n\nextern const void *const type_class[2];\n");
    let Dawson { classes, functions, .. } = *dawson;
    // Writing to a String cannot fail.
    for class in 1..=classes {
        let name = Dawson::class(source, class);
        let before = (u64::from(source - 1) * u64::from(classes) + u64::from(class - 1))
            * u64::from(functions);
        for function in 1..=functions {
            let number = before + u64::from(function);
            let _ = writeln!(
                text,
                "static int f{class}_{function}(struct object *o) {{ (void)o; return {number}; }}"
            );
        }
        let _ = writeln!(text, "static const struct type t{class} = {{type_class, \"{name}\"}};");
        let _ = write!(text, "static const TABLE({functions}) v{class} = {{0, &t{class}, {{");
        for function in 1..=functions {
            let _ = write!(text, "f{class}_{function}, ");
        }
        let _ = writeln!(text, "}}}};");
    }
    let _ = writeln!(text, "\nstruct object objects_{source}[{classes}] = {{");
    for class in 1..=classes {
        let _ = writeln!(text, "    {{v{class}.functions}},");
    }
    text + "};\n"
}

fn main_text(dawson: &Dawson) -> String {
    let Dawson { sources, classes, functions, .. } = *dawson;
    let mut text = format!("#include \"classes.h\"\n\n{FRAME}");
    text += "/* Stands in for the vtable of the types' own class. */\n";
    text += "const void *const type_class[2] = {0, 0};\n";
    for source in 1..=sources {
        let _ = writeln!(text, "extern struct object objects_{source}[{classes}];");
    }
    let _ = write!(
        text,
        "
static inline unsigned call(struct object *objects, unsigned number)
{{
    for (unsigned class = 0; class != {classes}u; class++)
        for (unsigned function = 0; function != {functions}u; function++)
            if (objects[class].functions[function](&objects[class]) != (int)++number)
                fail(number);
    return number;
}}

void begin(long *stack)
{{
    unsigned number = 0;
    only_with_call(stack);
"
    );
    for source in 1..=sources {
        let _ = writeln!(text, "    number = call(objects_{source}, number);");
    }
    text + "    (void)number;\n    leave(0);\n}\n"
}

fn script(sources: u32) -> Vec<u8> {
    let mut script = Script::new(false);
    let mut objects = String::new();
    for source in 1..=sources {
        script.line(&format!(
            "$CC -O0 -fPIE -fvisibility=hidden -c -o source_{source}.o source_{source}.c"
        ));
        let _ = write!(objects, " source_{source}.o");
    }
    script.program("main", &format!("-fvisibility=hidden main.c{objects}"));
    script.finish()
}
