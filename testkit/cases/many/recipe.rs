use crate::cases::{Case, Compiler, Image, Linker, shows};

pub const CASES: &[Case] = &[Case::new(
    "many",
    "300 libraries have 1,200 segments: more than a page of program headers holds",
    images,
)
.prints(
    "
    constructed 300 sum 44850 last first 1
    values 0 150 299
",
)
.evidence(&[shows("program", "-dW", "[libtiny299.so]")])
.declining(|toolchain| {
    let quickest = toolchain.compiler == Compiler::Gcc && toolchain.linker == Linker::Bfd;
    (!quickest).then_some("one toolchain is enough for so many libraries")
})];

fn images() -> Vec<Image> {
    let name = |number: u32| format!("libtiny{number}.so");
    let mut images = vec![Image::library("libbase.so", &["base.c"])];
    for number in 0..300 {
        let given = format!("-Wl,--defsym=number=places+{number},--defsym=value{number}=value");
        let library = Image::library(&name(number), &["tiny.c"]).link(&["-nostdlib", &given]);
        images.push(library.needs(&["lib/libbase.so"]));
    }
    let tiny: Vec<String> = (0..300).map(|number| format!("lib/{}", name(number))).collect();
    let tiny: Vec<&str> = tiny.iter().map(String::as_str).collect();
    images.push(Image::program(&["main.c"]).needs(&tiny).needs(&["lib/libbase.so"]));
    images
}
