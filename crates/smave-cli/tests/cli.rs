//! Each command run as a user would, on small files.

mod common;

use std::fs;

use common::{fail, program, simulate, stdout, succeed};

#[test]
fn simulate_fit_and_transform_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let args = "fit data.csv --target y --dim 2 --seed 3 --threads 2 --truth b.csv --out model.json --figure plot.svg";
    let text = succeed(folder, &args.split(' ').collect::<Vec<_>>());
    for expected in
        ["600 rows, 6 covariates", "direction 2", "x4", "starts agree", "left out", "model: model.json"]
    {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let error: f64 = text.split("m^2 = ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(error < 0.15, "{error}");
    assert!(fs::read_to_string(folder.join("plot.svg")).unwrap().starts_with("<svg"));

    // Columns are found by name: another order and one more column change nothing.
    let csv = fs::read_to_string(folder.join("data.csv")).unwrap();
    let turned: String = csv
        .lines()
        .map(|line| line.split(',').rev().chain(["7"]).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    fs::write(folder.join("turned.csv"), turned.replacen(",7", ",extra", 1)).unwrap();
    succeed(folder, &["transform", "model.json", "data.csv", "--out", "z.csv"]);
    succeed(folder, &["transform", "model.json", "turned.csv", "--out", "z2.csv"]);
    let z = fs::read_to_string(folder.join("z.csv")).unwrap();
    assert_eq!(z, fs::read_to_string(folder.join("z2.csv")).unwrap());
    assert_eq!((z.lines().next(), z.lines().count()), (Some("z1,z2"), 601));
}

#[test]
fn one_thread_and_two_write_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let model = |threads: &str| {
        let flags = ["--threads", threads, "--out", "model.json"];
        succeed(folder, &[&["fit", "data.csv", "--target", "y", "-d", "2"], &flags[..]].concat());
        fs::read_to_string(folder.join("model.json")).unwrap()
    };
    // Not by `assert_eq`, which would print both.
    assert!(model("1") == model("2"));
}

#[test]
fn demo_finds_what_it_hides() {
    let folder = tempfile::tempdir().unwrap();
    let text = succeed(folder.path(), &["demo", "--figure", "demo.svg"]);
    let error: f64 =
        text.split("s, m^2 = ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(error < 0.05, "{text}");
    assert!(folder.path().join("demo.svg").exists());
}

#[test]
fn bench_reports_every_cell() {
    let folder = tempfile::tempdir().unwrap();
    let args = "bench --methods smave-published --n 100,150 --p 4,6 --reps 2 --seed 5 \
                --scenarios interaction:identity,rational:ar1 --precision f32 --json out.json";
    let text = succeed(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
    assert!(text.contains("mean m^2"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for (row, (n, p)) in rows.iter().zip([(100, 4), (100, 6), (150, 4), (150, 6)]) {
        assert_eq!(row["method"], "smave-published");
        assert_eq!((row["n"].as_u64(), row["p"].as_u64(), row["runs"].as_u64()), (Some(n), Some(p), Some(4)));
        assert!(row["mean_m2"].as_f64().unwrap() > 0.0 && row["se_m2"].as_f64().unwrap() > 0.0);
        assert!(row["mean_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(row.as_object().unwrap().len(), 7);
    }
    // A different seed is a different experiment, the same seed the same.
    let again = succeed(
        folder.path(),
        &args.replace("out.json", "again.json").split_whitespace().collect::<Vec<_>>(),
    );
    let column = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|l| l.contains("smave-published"))
            .map(|l| l.split('┆').nth(3).unwrap().into())
            .collect()
    };
    assert_eq!(column(&text), column(&again));
    let other =
        succeed(folder.path(), &args.replace("--seed 5", "--seed 6").split_whitespace().collect::<Vec<_>>());
    assert_ne!(column(&text), column(&other));
}

#[test]
fn compare_ranks_methods_on_the_same_splits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let args = "compare data.csv --target y --dims 1,2 --methods pca,dr,opg-knn --repeats 2 --folds 4 --json out.json";
    let text = succeed(folder, &args.split(' ').collect::<Vec<_>>());
    assert!(text.contains("8 splits") && text.contains("pca - opg-knn"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("out.json")).unwrap()).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!((results.len(), json["tests"].as_array().unwrap().len()), (6, 3));
    let best = |method: usize| &results[json["best"][method].as_u64().unwrap() as usize];
    // The response depends on two directions that are not those of largest variance.
    let (pca, opg) = (best(0)["mean_mse"].as_f64().unwrap(), best(2)["mean_mse"].as_f64().unwrap());
    assert!(opg < 0.6 * pca, "{opg} {pca}");
    assert_eq!(best(2)["d"], 2);
    assert!(json["tests"][1]["p_value"].as_f64().unwrap() < 0.01);
    let text = fail(folder, 1, &["compare", "data.csv", "--target", "y", "--dims", "7", "--methods", "pca"]);
    assert!(text.contains("to 7 dimensions"), "{text}");
}

#[test]
fn bad_files_are_named_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let message = |content: &str, target: &str| {
        fs::write(folder.join("bad.csv"), content).unwrap();
        fail(folder, 1, &["fit", "bad.csv", "--target", target, "--dim", "1"])
    };
    let good = "a,b,y\n1,2,3\n2,1,4\n3,5,5\n4,4,8\n";
    for (content, target, expected) in [
        ("", "y", "bad.csv is empty: expected a header line"),
        ("a,b,y\n", "y", "bad.csv has a header line but no rows"),
        ("a,b,y\n1,2,3\n", "y", "too few rows for any regression: 1, where at least 2 are needed"),
        ("a,b,y\n1,2,3\n2,4,5\n", "y", "too few rows to fit local regressions in 1 dimensions: 2,"),
        ("a,b,y\n1,2,3\n4,5\n", "y", "bad.csv, line 3: 2 values where the header has 3 columns"),
        ("a,b,y\n1,2,3\n4,oops,6\n", "y", "bad.csv, line 3, column 2 ('b'): 'oops' is not a number"),
        ("a,b,y\n1,2,3\n4,,6\n", "y", "bad.csv: values missing: 1, the first at line 3 ('b')"),
        ("a,b,y\n1,2,3\n4,NaN,6\n", "y", "fill in the mean of each column with --missing mean"),
        ("a,day,y\n1,2024-01-02,3\n", "y", "bad.csv, line 2, column 2 ('day'): '2024-01-02' is a date"),
        ("a,b,y\n1,1e999,3\n", "y", "bad.csv, line 2, column 2 ('b'): '1e999' is not a finite number"),
        (
            "a,b,y\n1,2,red\n",
            "y",
            "bad.csv, line 2, column 3 ('y'): the column must be numeric, but 'red' is text",
        ),
        ("a,a,y\n1,2,3\n", "y", "bad.csv, line 1: columns 1 and 2 are both named 'a'"),
        ("y\n1\n2\n", "y", "bad.csv: it has no columns besides 'y'"),
        ("a,b,y\n1,2,3\n2,1,3\n3,5,3\n", "y", "the target y is 3 in every row"),
        (good, "z", "bad.csv has no column 'z'; its columns are 'a', 'b', 'y'"),
        (good, "Y", "did you mean 'y'?"),
    ] {
        let text = message(content, target);
        assert!(text.starts_with("error: ") && text.contains(expected), "expected {expected}\nfound {text}");
    }
    // Bytes that are no text at all.
    fs::write(folder.join("bad.csv"), [0x50, 0x4b, 0x03, 0xff, b'\n', 1, 2]).unwrap();
    assert!(
        fail(folder, 1, &["fit", "bad.csv", "--target", "y", "--dim", "1"]).contains("is this a CSV file?")
    );
    assert!(
        fail(folder, 1, &["fit", "no.csv", "--target", "y", "--dim", "1"]).contains("cannot read no.csv")
    );
    for (dim, expected) in [("0", "to 0 dimensions: choose between 1 and 2"), ("3", "to 3 dimensions")] {
        fs::write(folder.join("good.csv"), good).unwrap();
        let text = fail(folder, 1, &["fit", "good.csv", "--target", "y", "--dim", dim]);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn bad_models_and_other_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let text = fail(folder, 1, &["transform", "data.csv", "data.csv", "--out", "z.csv"]);
    assert!(text.contains("data.csv is not a usable model file"), "{text}");
    succeed(
        folder,
        &["fit", "data.csv", "--target", "y", "-d", "1", "--max-iter", "2", "--out", "model.json"],
    );
    fs::write(folder.join("other.csv"), "x1,x2,x3,x4,x5\n1,2,3,4,5\n").unwrap();
    let text = fail(folder, 1, &["transform", "model.json", "other.csv", "--out", "z.csv"]);
    assert!(text.contains("other.csv has no column 'x6'"), "{text}");
    assert!(!folder.join("z.csv").exists());
    let text = fail(folder, 1, &["fit", "data.csv", "--target", "y", "-d", "1", "--truth", "data.csv"]);
    assert!(text.contains("data.csv is not a basis"), "{text}");
    let text = fail(folder, 1, &["demo", "--figure", "demo.pdf"]);
    assert!(text.contains("ends in .svg or .png"), "{text}");
}

#[test]
fn bad_usage_is_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["fit"][..],
        &["fit", "data.csv", "--target", "y", "--dim", "two"],
        &["bench", "--methods", "nonsense", "--n", "100", "--p", "5"],
        &["bench", "--methods", "smave-published", "--n", "100", "--p", "5", "--scenarios", "cubic:ar1"],
        &["demo", "--threads", "0"],
        &["unknown"],
    ] {
        fail(folder.path(), 2, args);
    }
}

#[test]
fn dim_counts_two_directions_and_fit_can_ask_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let args = "dim data.csv --target y --max-dim 3 --repeats 1 --nested --json dim.json";
    let text = succeed(folder, &args.split(' ').collect::<Vec<_>>());
    for expected in ["5 folds x 1", "2 directions: ", "chosen", "ladle", "nested: "] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("dim.json")).unwrap()).unwrap();
    assert_eq!((&json["chosen"], json["curve"].as_array().unwrap().len()), (&2.into(), 4));
    assert!(json["nested"]["error"].as_f64().unwrap() > 0.2);
    let text = succeed(folder, &["fit", "data.csv", "--target", "y", "--dim", "auto", "--truth", "b.csv"]);
    assert!(text.contains("2 directions: ") && text.contains("direction 2"), "{text}");
    let text = fail(folder, 2, &["fit", "data.csv", "--target", "y", "--dim", "two"]);
    assert!(text.contains("a number of directions, or auto"), "{text}");
}

#[test]
fn predict_writes_intervals_and_flags_what_is_far_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let fit = "fit data.csv --target y --dim 2 --holdout 0.25 --out model.json";
    succeed(folder, &fit.split(' ').collect::<Vec<_>>());
    let text = succeed(folder, &["predict", "model.json", "data.csv", "--out", "p.csv"]);
    assert!(text.contains("600 predictions of 'y'") && text.contains("or more (calibrated"), "{text}");
    let r2: f64 = text.split("R^2 ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert!(r2 > 0.8, "{text}");
    let rows = fs::read_to_string(folder.join("p.csv")).unwrap();
    assert_eq!((rows.lines().next(), rows.lines().count()), (Some("prediction,low,high,outside"), 601));
    // Rows without a response, one of them far away.
    fs::write(folder.join("new.csv"), "x1,x2,x3,x4,x5,x6\n0,0,0,0,0,0\n90,-90,90,-90,90,-90\n").unwrap();
    let text = succeed(folder, &["predict", "model.json", "new.csv", "--level", "0.5", "--out", "n.csv"]);
    assert!(text.contains("50% of new responses") && text.contains("1 rows lie farther"), "{text}");
    let rows = fs::read_to_string(folder.join("n.csv")).unwrap();
    let outside: Vec<&str> = rows.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(outside, ["false", "true"]);
    let text = fail(folder, 1, &["predict", "model.json", "data.csv", "--level", "2", "--out", "n.csv"]);
    assert!(text.contains("level = 2"), "{text}");
    let text = fail(folder, 1, &["fit", "data.csv", "--target", "y", "--dim", "2", "--holdout", "0.9"]);
    assert!(text.contains("for example 0.2"), "{text}");
}

#[test]
fn explain_ranks_covariates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    succeed(folder, &["fit", "data.csv", "--target", "y", "--dim", "2", "--out", "model.json"]);
    let args = "explain model.json data.csv --replicates 20 --permutations 99 --top 4 --json e.json";
    let text = succeed(folder, &args.split(' ').collect::<Vec<_>>());
    for expected in ["relevance", "p-value", "direction 2", "2 more are less relevant", "principal angles"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("e.json")).unwrap()).unwrap();
    assert_eq!(json["covariates"].as_array().unwrap().len(), 6);
    let text = fail(folder, 1, &["explain", "model.json", "data.csv", "--target", "nothing"]);
    assert!(text.contains("no column 'nothing'"), "{text}");
}

#[test]
fn weights_come_from_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let csv = fs::read_to_string(folder.join("data.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    // The first 300 rows twice: by weight, and written out.
    let weighted: String = (lines.iter().enumerate())
        .map(|(i, line)| {
            format!(
                "{line},{}\n",
                if i == 0 {
                    "w"
                } else if i <= 300 {
                    "2"
                } else {
                    "1"
                }
            )
        })
        .collect();
    fs::write(folder.join("weighted.csv"), weighted).unwrap();
    fs::write(folder.join("twice.csv"), [&lines[..], &lines[1..301]].concat().join("\n") + "\n").unwrap();
    let fit = |data: &str, more: &[&str]| {
        let args = ["fit", data, "--target", "y", "--dim", "2", "--method", "sir", "--out", "m.json"];
        succeed(folder, &[&args[..], more].concat());
        let text = fs::read_to_string(folder.join("m.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let (a, b) = (fit("weighted.csv", &["--weights", "w"]), fit("twice.csv", &[]));
    assert_eq!(a["features"].as_array().unwrap().len(), 6);
    for i in 0..6 {
        let loading = |model: &serde_json::Value| model["directions"][0]["loadings"][i].as_f64().unwrap();
        assert!((loading(&a) - loading(&b)).abs() < 1e-9);
    }
    let text = fail(folder, 1, &["fit", "data.csv", "--target", "y", "--dim", "2", "--weights", "w"]);
    assert!(text.contains("no column 'w'"), "{text}");
    let text = fail(folder, 1, &["fit", "data.csv", "--target", "y", "--dim", "2", "--weights", "x1"]);
    assert!(text.contains("weights = "), "{text}");
}

#[test]
fn several_targets_are_explained_and_predicted_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let csv = fs::read_to_string(folder.join("data.csv")).unwrap();
    let more: String = (csv.lines().enumerate())
        .map(|(i, line)| {
            let first = line.split(',').next().unwrap();
            let value =
                if i == 0 { "twice".into() } else { (2.0 * first.parse::<f64>().unwrap()).to_string() };
            format!("{line},{value}\n")
        })
        .collect();
    fs::write(folder.join("two.csv"), more).unwrap();
    let fit = "fit two.csv --target y,twice --dim 3 --figure two.svg --out model.json";
    let text = succeed(folder, &fit.split(' ').collect::<Vec<_>>());
    assert!(text.contains("target 'y', 'twice'") && text.contains("added up over targets"), "{text}");
    assert!(
        fs::read_to_string(folder.join("two.svg")).unwrap().contains("twice against the first direction")
    );
    let text = succeed(folder, &["predict", "model.json", "two.csv", "--out", "p.csv"]);
    assert!(text.contains("the file holds 'y'") && text.contains("the file holds 'twice'"), "{text}");
    let rows = fs::read_to_string(folder.join("p.csv")).unwrap();
    let header = "prediction y,low y,high y,prediction twice,low twice,high twice,outside";
    assert_eq!(rows.lines().next(), Some(header));
    let explain = "explain model.json two.csv --replicates 20 --permutations 19";
    assert!(succeed(folder, &explain.split(' ').collect::<Vec<_>>()).contains("x1"));
    let dim = "dim two.csv --target y,twice --max-dim 3 --repeats 1 --no-second-opinions";
    assert!(
        succeed(folder, &dim.split(' ').collect::<Vec<_>>()).contains("'y', 'twice' (in standard deviations")
    );
    let text = fail(folder, 1, &["fit", "two.csv", "--target", "y,y", "--dim", "2"]);
    assert!(text.contains("two roles"), "{text}");
}

#[test]
fn categories_and_missing_values_go_through_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let csv = fs::read_to_string(folder.join("data.csv")).unwrap();
    let colors = ["red", "green", "blue"];
    let more: String = (csv.lines().enumerate())
        .map(|(i, line)| match i {
            0 => format!("{line}\tcolor\tid\n").replace(',', "\t"),
            7 => format!("{line}\t\trow {i}\n").replace(',', "\t"),
            _ => format!("{line}\t{}\trow {i}\n", colors[i % 3]).replace(',', "\t"),
        })
        .collect();
    fs::write(folder.join("more.tsv"), &more).unwrap();
    let fit = |flags: &str| {
        let all = format!("fit more.tsv --target y --dim 2 --out model.json {flags}");
        all.split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    let run = |flags: &str| succeed(folder, &fit(flags).iter().map(String::as_str).collect::<Vec<_>>());
    let refuse = |flags: &str| fail(folder, 1, &fit(flags).iter().map(String::as_str).collect::<Vec<_>>());
    let text = refuse("");
    assert!(text.contains("more than 100 different texts") && text.contains("--drop id"), "{text}");
    let text = refuse("--drop id");
    assert!(text.contains("values missing: 1, the first at line 8 ('color')"), "{text}");
    let text = run("--drop id --missing drop");
    assert!(text.contains("599 rows, 8 covariates"), "{text}");
    // The same rows are left out again, and the report says so.
    succeed(folder, &["report", "model.json", "more.tsv", "--quick", "--out", "r.html"]);
    let page = fs::read_to_string(folder.join("r.html")).unwrap();
    let row = |name: &str| page.split(name).nth(1).unwrap().split("</tr>").next().unwrap().to_string();
    assert!(
        row("Missing values").contains('1') && row("Rows left out").contains('1'),
        "{}",
        row("Rows left out")
    );
    let text = run("--drop id --missing mean");
    assert!(text.contains("600 rows, 8 covariates") && text.contains("color=green"), "{text}");
    for command in ["transform model.json more.tsv --out z.csv", "predict model.json more.tsv --out z.csv"] {
        succeed(folder, &command.split(' ').collect::<Vec<_>>());
        assert_eq!(fs::read_to_string(folder.join("z.csv")).unwrap().lines().count(), 601);
    }
    let explain = "explain model.json more.tsv --replicates 20 --permutations 19";
    assert!(succeed(folder, &explain.split(' ').collect::<Vec<_>>()).contains("color=red"));
    fs::write(folder.join("new.csv"), "x1,x2,x3,x4,x5,x6,color\n0,0,0,0,0,0,pink\n").unwrap();
    let text = fail(folder, 1, &["predict", "model.json", "new.csv", "--out", "z.csv"]);
    assert!(text.contains("row 1: 'pink' is none of the texts the model knows: blue, green, red"), "{text}");
    fs::write(folder.join("new.csv"), "x1,x2,x3,x4,x5,x6\n0,0,0,0,0,0\n").unwrap();
    let text = fail(folder, 1, &["predict", "model.json", "new.csv", "--out", "z.csv"]);
    assert!(text.contains("no column 'color'"), "{text}");
    let text = run("--features x1,x2,x3");
    assert!(text.contains("600 rows, 3 covariates"), "{text}");
}

#[test]
fn standard_input_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    let input = fs::File::open(folder.join("data.csv")).unwrap();
    let args = "fit - --target y --dim 2 --method sir";
    let output = program(folder, args).stdin(input).output().unwrap();
    assert!(output.status.success() && stdout(&output).contains("600 rows, 6 covariates"));
}

#[test]
fn a_report_shows_a_model_and_info_names_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    simulate(folder);
    succeed(folder, &["fit", "data.csv", "--target", "y", "--dim", "2", "--out", "model.json"]);
    let text = succeed(folder, &["info", "model.json", "--json", "info.json"]);
    for expected in
        ["smave of 'y' on 6 covariates, 2 directions", "starts agree", "made by: smave fit data.csv"]
    {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("info.json")).unwrap()).unwrap();
    assert_eq!((&json["n_components"], &json["predictions"][0]["rows"]), (&2.into(), &600.into()));
    let report = "report model.json data.csv --replicates 20 --max-dim 3 --out r.html --figures figures";
    let text = succeed(folder, &report.split(' ').collect::<Vec<_>>());
    assert!(text.contains("report: r.html") && text.contains("as SVG and PNG in figures"), "{text}");
    let page = fs::read_to_string(folder.join("r.html")).unwrap();
    for expected in ["smave fit data.csv --target y", "smave report model.json", "x6"] {
        assert!(page.contains(expected), "{expected}");
    }
    for file in fs::read_dir(folder.join("figures")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let expected: &[u8] = if path.extension().unwrap() == "png" { b"\x89PNG" } else { b"<svg" };
        assert!(bytes.starts_with(expected), "{}", path.display());
    }
    succeed(folder, &["report", "model.json", "data.csv", "--quick", "--out", "q.html"]);
    fs::write(folder.join("other.csv"), "x1,y\n1,2\n").unwrap();
    let text = fail(folder, 1, &["report", "model.json", "other.csv", "--out", "none.html"]);
    assert!(text.contains("no column 'x2'") && !folder.join("none.html").exists(), "{text}");
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let bash = succeed(folder.path(), &["completions", "bash"]);
    let manual = succeed(folder.path(), &["man"]);
    for command in ["fit", "predict", "report", "info", "--threads"] {
        assert!(bash.contains(command) && manual.replace('\\', "").contains(command), "{command}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(succeed(folder.path(), &["completions", shell]).contains("checkpoint"), "{shell}");
    }
    assert!(succeed(folder.path(), &["man", "fit"]).replace('\\', "").contains("--checkpoint"));
}
