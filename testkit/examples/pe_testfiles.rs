//! Makes the images of `testfiles/pe`: `cargo run -p testkit --example pe_testfiles -- FOLDER`.

fn main() {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("name the folder");
        std::process::exit(2);
    };
    if testkit::pe::samples(folder.as_ref()).is_none() {
        std::process::exit(1);
    }
}
