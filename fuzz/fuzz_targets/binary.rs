#![no_main]

#[path = "../checks/binary.rs"]
mod check;
mod one_thread;

libfuzzer_sys::fuzz_target!(init: begin(), |bytes: &[u8]| check::check(bytes));

fn begin() {
    one_thread::begin();
    // A panic ends the run at once; but those of libraries may be caught, and if not, end it later.
    let end = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|place| place.file().contains("/registry/")) {
            end(info);
        }
    }));
}
