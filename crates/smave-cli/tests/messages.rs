//! What the program says, word for word: help, results and errors.
//!
//! After a change of words: `INSTA_UPDATE=always cargo test -p smave-cli --test messages`, and read the difference.

mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::{program, run, simulate};

/// Commands, one after the other, each with its exit code and what it said.
fn transcript(folder: &Path, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let output = program(folder, line).output().unwrap();
        let code = output.status.code().unwrap();
        writeln!(text, "$ smave {line}").unwrap();
        text += &shape(&String::from_utf8(output.stdout).unwrap());
        text += &shape(&String::from_utf8(output.stderr).unwrap());
        writeln!(text, "-> {code}\n").unwrap();
    }
    text
}

/// The text without what may differ from one machine to the next: the digits of results, and the widths of columns.
fn shape(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let continues = |next: &char| next.is_ascii_digit() || ".e-".contains(*next);
        if c.is_ascii_digit() {
            let mut number = String::from(c);
            while let Some(next) = characters.next_if(|next| next.is_ascii_digit() || *next == '.') {
                number.push(next);
            }
            // Counts stay; results do not.
            out += if number.trim_end_matches('.').contains('.') { "#" } else { &number };
            while characters.next_if(|next| number.contains('.') && continues(next)).is_some() {}
        } else if !(out.ends_with(c) && " ─═╌┄".contains(c)) {
            out.push(c);
        }
    }
    let lines: Vec<&str> =
        out.lines().map(str::trim_end).filter(|line| !line.starts_with(['├', '╞'])).collect();
    lines.join("\n") + if out.is_empty() { "" } else { "\n" }
}

const COMMANDS: [&str; 13] = [
    "demo",
    "simulate",
    "fit",
    "transform",
    "dim",
    "predict",
    "explain",
    "report",
    "info",
    "compare",
    "bench",
    "completions",
    "man",
];

#[test]
fn help() {
    let folder = tempfile::tempdir().unwrap();
    let help = |line: &str| run(folder.path(), line);
    let mut text = help("--help");
    for command in COMMANDS {
        let page = help(&format!("{command} --help"));
        assert!(page.contains(&format!("Example: smave {command}")), "{page}");
        assert!(text.contains(command), "{command}");
        write!(text, "\n\n$ smave {command} --help\n{page}").unwrap();
    }
    insta::assert_snapshot!("help", text);
}

#[test]
fn results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let text = transcript(
        folder,
        &[
            "simulate --link rational --n 50 --p 3 --out small.csv --truth small-b.csv",
            "fit data.csv --target y --dim 2 --method dr --truth b.csv --out model.json --figure f.svg",
            "transform model.json data.csv --out z.csv",
            "predict model.json data.csv --out p.csv",
            "dim data.csv --target y --max-dim 2 --folds 3 --repeats 1 --no-second-opinions",
            "explain model.json data.csv --replicates 20 --permutations 19 --top 2",
            "report model.json data.csv --quick --out r.html --figures figures",
            "info model.json",
            "compare data.csv --target y --dims 2 --methods pca,sir --folds 3 --repeats 1",
            "bench --methods sir --n 200 --p 4 --reps 1 --scenarios interaction:ar1",
        ],
    );
    insta::assert_snapshot!("results", text);
    // Quiet is quiet.
    for line in ["fit data.csv --target y --dim 1 --method sir --quiet", "-q info model.json"] {
        let output = program(folder, line).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{line}");
    }
}

/// Every command has results for machines, and nothing else is on standard output then.
#[test]
fn json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    run(folder, "fit data.csv --target y --dim 2 --method dr --out model.json");
    let mut shapes = String::new();
    for line in [
        "demo --json -",
        "simulate --link rational --n 50 --p 3 --out small.csv --json -",
        "fit data.csv --target y --dim auto --method smave --truth b.csv --json -",
        "transform model.json data.csv --out z.csv --json -",
        "predict model.json data.csv --out p.csv --json -",
        "dim data.csv --target y --max-dim 2 --folds 3 --repeats 1 --json -",
        "explain model.json data.csv --replicates 20 --permutations 19 --json -",
        "report model.json data.csv --quick --figures figures --json -",
        "info model.json --json -",
        "compare data.csv --target y --dims 2 --methods pca,sir --folds 3 --repeats 1 --json -",
        "bench --methods sir --n 200 --p 4 --reps 1 --scenarios interaction:ar1 --json -",
    ] {
        let text = run(folder, line);
        let value: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{line}: {text}"));
        writeln!(shapes, "$ smave {line}\n{}", keys(&value)).unwrap();
    }
    insta::assert_snapshot!("json", shapes);
}

/// The names and types of a JSON value, with one element for each list.
fn keys(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}: {}", keys(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        serde_json::Value::Array(values) => format!("[{}]", values.first().map(keys).unwrap_or_default()),
        serde_json::Value::String(_) => "text".into(),
        serde_json::Value::Number(_) => "number".into(),
        other => other.to_string(),
    }
}

#[test]
fn tables_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = "a,b,y\n1,2,3\n2,1,4\n3,5,5\n4,4,8\n";
    let long = "a,b,y\n".to_string() + &(0..200).map(|i| format!("{i},t{i},{i}\n")).collect::<String>();
    for (name, text) in [
        ("good.csv", good),
        ("empty.csv", ""),
        ("header.csv", "a,b,y\n"),
        ("one.csv", "a,b,y\n1,2,3\n"),
        ("ragged.csv", "a,b,y\n1,2,3\n4,5\n"),
        ("word.csv", "a,b,y\n1,2,3\n4,oops,6\n5,1,2\n"),
        ("gap.csv", "a,b,y\n1,2,3\n4,,6\n"),
        ("date.csv", "a,day,y\n1,2024-01-02,3\n"),
        ("huge.csv", "a,b,y\n1,1e999,3\n"),
        ("red.csv", "a,b,y\n1,2,red\n"),
        ("twice.csv", "a,a,y\n1,2,3\n"),
        ("alone.csv", "y\n1\n2\n"),
        ("constant.csv", "a,b,y\n1,2,3\n2,1,3\n3,5,3\n"),
        ("same.csv", "a,b,y\n1,2,3\n1,5,4\n1,7,8\n1,2,6\n"),
        ("texts.csv", &long[..]),
        ("not.parquet", good),
        ("not.npy", good),
        ("not.csv.gz", good),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("bytes.csv"), [0x50, 0x4b, 0x03, 0xff, b'\n', 1, 2]).unwrap();
    let names = [
        "empty.csv",
        "header.csv",
        "one.csv",
        "ragged.csv",
        "word.csv",
        "gap.csv",
        "date.csv",
        "huge.csv",
        "red.csv",
        "twice.csv",
        "alone.csv",
        "constant.csv",
        "same.csv",
        "texts.csv",
        "not.parquet",
        "not.npy",
        "not.csv.gz",
        "bytes.csv",
        "missing.csv",
    ];
    let lines: Vec<String> =
        names.iter().map(|name| format!("fit {name} --target y --dim 1 --method sir")).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.extend([
        "fit good.csv --target z --dim 1",
        "fit good.csv --target Y --dim 1",
        "fit good.csv --target y --dim 0",
        "fit good.csv --target y --dim 3",
        "fit good.csv --target y --dim 1 --features a,q",
        "fit good.csv --target y --dim 1 --features a --drop a",
        "fit good.csv --target y --dim 1 --drop a,b",
        "fit good.csv --target y,y --dim 1",
        "fit good.csv --target y --dim 1 --weights y",
        "fit good.csv --target y --dim 1 --weights w",
        "fit good.csv --target y --dim 1 --holdout 0.9",
        "fit good.csv --target y --dim 1 --method sir --out no/such/folder.json",
        "fit good.csv --target y --dim 1 --figure plot.pdf",
        "fit good.csv --target y --dim 1 --truth good.csv",
        "fit good.csv --target y --dim 1 --checkpoint good.csv",
        "dim good.csv --target y --folds 9",
        "compare good.csv --target y --dims 7 --methods pca",
        "simulate --link rational --n 5 --p 1 --out s.csv",
        "bench --methods sir --n 1 --p 5",
        "man nothing",
    ]);
    insta::assert_snapshot!("bad_tables", transcript(folder, &lines));
}

#[test]
fn models_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    run(folder, "fit data.csv --target y --dim 1 --method sir --out model.json");
    let model = fs::read_to_string(folder.join("model.json")).unwrap();
    fs::write(folder.join("half.json"), &model[..model.len() / 2]).unwrap();
    fs::write(folder.join("new.json"), model.replacen("\"version\": 3", "\"version\": 99", 1)).unwrap();
    fs::write(folder.join("changed.json"), model.replacen("\"n_samples\": 600", "\"n_samples\": 601", 1))
        .unwrap();
    fs::write(folder.join("fewer.csv"), "x1,x2,x3,x4,x5\n1,2,3,4,5\n").unwrap();
    fs::write(folder.join("no-target.csv"), "x1,x2,x3,x4,x5,x6\n1,2,3,4,5,6\n").unwrap();
    let lines = [
        "transform data.csv data.csv --out z.csv",
        "info half.json",
        "info new.json",
        "info changed.json",
        "info none.json",
        "transform model.json fewer.csv --out z.csv",
        "predict model.json fewer.csv --out z.csv",
        "predict model.json data.csv --level 2 --out z.csv",
        "explain model.json no-target.csv",
        "explain model.json data.csv --replicates 3",
        "explain model.json data.csv --target nothing",
        "report model.json fewer.csv",
    ];
    insta::assert_snapshot!("bad_models", transcript(folder, &lines));
    assert!(!folder.join("z.csv").exists() && !folder.join("report.html").exists());
}

#[test]
fn usage() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        "fit",
        "fit data.csv --target y --dim two",
        "fit data.csv --target y --dim 1 --missing ignore",
        "bench --methods nonsense --n 100 --p 5",
        "bench --methods sir --n 100 --p 5 --scenarios cubic:ar1",
        "bench --methods sir --n 100 --p 5 --scenarios rational",
        "simulate --link cubic --n 5 --p 5 --out x.csv",
        "demo --threads 0",
        "completions tcsh",
        "unknown",
    ];
    insta::assert_snapshot!("usage", transcript(folder.path(), &lines));
}
