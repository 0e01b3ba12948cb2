#![no_main]

#[path = "../checks/delimited.rs"]
mod check;
mod one_thread;

libfuzzer_sys::fuzz_target!(init: one_thread::begin(), |bytes: &[u8]| check::check(bytes));
