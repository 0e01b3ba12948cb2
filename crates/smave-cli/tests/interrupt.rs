//! Ctrl-C: an exit code of its own, nothing half-written, and work that can be taken up again.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{program, run, simulate};

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts what would be typed, waits until `ready`, presses Ctrl-C; gives exit code and standard error.
fn interrupted(folder: &Path, line: &str, ready: impl Fn() -> bool) -> (Option<i32>, String) {
    let mut child = program(folder, line).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !ready() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be interrupted: {line}");
        sleep(Duration::from_millis(20));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn long_work_ends_with_its_own_exit_code_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    run(folder, "fit data.csv --target y --dim 2 --method sir --out model.json");
    let before = files(folder);
    // None of these would end by itself in reasonable time.
    for line in [
        "fit data.csv --target y --dim 2 --method smave-published --max-iter 1000000000 --out m.json",
        "explain model.json data.csv --replicates 1000000 --json e.json",
        "report model.json data.csv --replicates 1000000 --out r.html --figures figures",
        "dim data.csv --target y --repeats 100000 --json d.json",
        "compare data.csv --target y --dims 2 --methods smave --repeats 100000 --json c.json",
        "bench --methods smave --n 500 --p 5 --reps 100000 --json b.json",
    ] {
        let started = std::time::Instant::now();
        let (code, text) = interrupted(folder, line, || started.elapsed() > Duration::from_millis(300));
        assert_eq!((code, &text[..]), (Some(130), "cancelled\n"), "{line}");
        assert_eq!(files(folder), before, "{line}");
    }
}

#[test]
fn a_checkpoint_is_gone_on_from_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let fit = "fit data.csv --target y --dim 2 --method smave-published --max-iter 30000 --seed 4";
    run(folder, &format!("{fit} --out model.json"));
    let whole = fs::read(folder.join("model.json")).unwrap();
    let line = format!("{fit} --out model.json --checkpoint c.json");
    let (code, text) = interrupted(folder, &line, || folder.join("c.json").exists());
    assert_eq!((code, &text[..]), (Some(130), "cancelled; the same command goes on from c.json\n"));
    fs::remove_file(folder.join("model.json")).unwrap();
    // Other settings are other work.
    let output = program(folder, &line.replace("--seed 4", "--seed 5")).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("cannot go on from c.json: it belongs to other data or other settings"), "{text}");
    let output = program(folder, &line).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && text.contains("going on from c.json"), "{text}");
    assert!(fs::read(folder.join("model.json")).unwrap() == whole);
    assert_eq!(files(folder), ["b.csv", "data.csv", "model.json"]);
}

#[test]
fn a_bootstrap_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    run(folder, "fit data.csv --target y --dim 2 --out model.json");
    // Long enough to be interrupted, and what is done before is not done again.
    let endless = "explain model.json data.csv --replicates 100000 --permutations 19 --checkpoint c.json";
    let pieces = || {
        let text = fs::read(folder.join("c.json")).unwrap();
        let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
        file["pieces"].as_object().unwrap().len()
    };
    let (code, _) = interrupted(folder, endless, || folder.join("c.json").exists());
    assert_eq!(code, Some(130));
    let first = pieces();
    let begun = fs::metadata(folder.join("c.json")).unwrap().modified().unwrap();
    let newer = || fs::metadata(folder.join("c.json")).is_ok_and(|file| file.modified().unwrap() > begun);
    let (code, text) = interrupted(folder, endless, newer);
    assert_eq!(code, Some(130));
    assert!(text.starts_with("going on from c.json"), "{text}");
    assert!(first > 1 && pieces() > first, "{first} {}", pieces());
}
