//! What a reader of the page can observe.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::select::DimensionError;
use smave::uncertainty::{Covariate, Interval};
use smave::{
    Dataset, Dense, DimensionChoice, Estimator, Explanation, InverseRegression, Model, Pca, Regression, Smave,
};
use smave_report::{Provenance, Report};

const SECTIONS: [&str; 7] =
    ["conclusions", "summary", "loadings", "choice", "convergence", "predictions", "provenance"];

const HOSTILE: [&str; 4] =
    ["</script><script>alert(1)</script>", "a \"quoted\" & 'odd'\nname", "größe 😀 漢字", "<!--"];

fn simulated(n: usize, p: usize) -> (Dense<'static, f64>, Vec<f64>) {
    let made = Simulation::new(Link::Interaction, Covariance::Ar1, n, p).seed(1).draw().unwrap();
    (made.x, made.y)
}

fn fitted(data: &Dataset<'_>, d: usize) -> Model {
    let reduction = Smave::new(d).seed(7).fit(data).unwrap();
    Model::with_predictor(reduction, data, Regression::LocalLinear).unwrap()
}

/// An explanation of the right shape, without the work.
fn explained(model: &Model) -> Explanation {
    let reduction = &model.reduction;
    let around = |estimate: f64| Interval { estimate, low: estimate - 0.1, high: estimate + 0.1 };
    let directions = reduction.directions();
    let covariate = |i: usize| Covariate {
        name: reduction.names()[i].clone(),
        relevance: around(1.0 / (1 + i) as f64),
        p_value: if i < 2 { 0.01 } else { 0.6 },
        loadings: (0..reduction.n_components()).map(|j| around(directions[(i, j)])).collect(),
    };
    Explanation {
        level: 0.9,
        replicates: 40,
        covariates: (0..reduction.n_features()).map(covariate).collect(),
        angles: vec![0.1; reduction.n_components()],
    }
}

fn chosen(errors: &[f64], chosen: usize) -> DimensionChoice {
    let at = |(dim, &error): (usize, &f64)| DimensionError { dim, error, standard_error: 0.1 * error };
    DimensionChoice {
        chosen,
        least: chosen,
        curve: errors.iter().enumerate().map(at).collect(),
        nested: None,
        ladle: None,
        augmentation: None,
    }
}

/// The scatter plots of a page: their names and how many points each has.
fn points(html: &str) -> Vec<usize> {
    html.split("<g class=\"points\"")
        .skip(1)
        .map(|rest| rest.split("</g>").next().unwrap().matches("h.01").count())
        .collect()
}

/// The data that the script reads.
fn embedded(html: &str) -> serde_json::Value {
    let rest = html.split("id=\"data\">").nth(1).unwrap();
    serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap()
}

/// Nothing is fetched, and markup holds no hole for what is in names.
fn check_page(html: &str) {
    assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("url("));
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script>").count(), 2);
    assert!(!html.contains("NaN") && !html.contains("inf\""), "a number was not finite");
    embedded(html);
}

fn check_figures(report: &Report<'_>) -> Vec<String> {
    let figures = report.figures().unwrap();
    for figure in &figures {
        let document = roxmltree::Document::parse(&figure.svg).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(!figure.svg.contains("var("), "a color is not written in");
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{}", figure.name);
        assert_eq!(figure.svg.matches("http").count(), 1);
    }
    figures.into_iter().map(|figure| figure.name).collect()
}

#[test]
fn a_page_has_every_section_and_a_point_for_each_row() {
    let (x, y) = simulated(300, 5);
    let data = Dataset::new(x, y).unwrap();
    let model = fitted(&data, 2).target("price");
    let (explanation, choice) = (explained(&model), chosen(&[3.0, 2.0, 1.0, 1.05], 2));
    let provenance = Provenance {
        data: Some("houses.csv".into()),
        command: Some("smave fit houses.csv --seed 7\nsmave report model.json houses.csv".into()),
        n_missing: Some(3),
        n_dropped: Some(2),
        dropped_columns: vec!["id".into()],
    };
    let make = || {
        let report = Report::new(&model, &data).explanation(&explanation).dimension(&choice);
        report.provenance(provenance.clone())
    };
    let report = make();
    let html = report.html().unwrap();
    check_page(&html);
    let mut from = 0;
    for section in SECTIONS {
        let found = html[from..].find(&format!("<section id=\"{section}\"")).expect(section);
        from += found;
    }
    assert_eq!(points(&html), [300; 4]);
    for text in [
        "leave-one-out",
        "2 covariates matter",
        "chooses 2 directions, as fitted",
        "houses.csv",
        "--seed 7</code>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    for (what, value) in [("Missing values", "3"), ("Rows left out", "2"), ("Columns left out", "id")] {
        let row = format!("<th scope=\"row\">{what}</th><td class=\"text\">{value}</td>");
        assert!(html.contains(&row), "{what}");
    }
    assert_eq!(html.matches("<code>").count(), 2, "a line for each command");
    assert_eq!(embedded(&html)["row"], "row, of those kept");
    assert_eq!(html.matches("<svg").count(), html.matches("role=\"img\"").count());
    assert_eq!(html.matches("<svg").count(), html.matches("<title id=").count());
    let names = check_figures(&report);
    let expected =
        ["summary", "directions", "loadings-1", "loadings-2", "dimension", "trace", "starts", "predicted"];
    assert_eq!(names[..8], expected);
    let png = report.figures().unwrap()[0].png().unwrap();
    assert_eq!(png[..4], *b"\x89PNG");
    assert!(png.len() > 10_000, "{} bytes are a blank picture", png.len());
    let again = make();
    assert_eq!(html, again.html().unwrap(), "a report made twice is the same");
}

#[test]
fn what_is_not_known_of_the_data_is_not_said_and_commands_stand_in_one_place() {
    let (x, y) = simulated(100, 3);
    let data = Dataset::new(x, y).unwrap();
    let settings = serde_json::json!({"command": "smave fit a.csv", "seed": 7});
    let model = fitted(&data, 1).settings(settings);
    let bare = Report::new(&model, &data).html().unwrap();
    assert!(!bare.contains("Missing values") && !bare.contains("left out</th>"));
    assert!(bare.contains("Setting: command") && bare.contains("Setting: seed"));
    assert_eq!(embedded(&bare)["row"], "row");
    let provenance = Provenance {
        command: Some("smave fit a.csv".into()),
        n_missing: Some(0),
        n_dropped: Some(0),
        ..Provenance::default()
    };
    let html = Report::new(&model, &data).provenance(provenance).html().unwrap();
    assert!(html.contains("Missing values") && html.contains("Rows left out"));
    assert!(!html.contains("Setting: command") && html.contains("Setting: seed"));
    assert_eq!(embedded(&html)["row"], "row");
}

#[test]
fn names_from_the_data_cannot_leave_their_place() {
    let (x, y) = simulated(120, 4);
    let data = Dataset::with_names(x, y, HOSTILE.map(String::from).to_vec()).unwrap();
    let model = fitted(&data, 1).target("</script><img src=x onerror=alert(1)>");
    let explanation = explained(&model);
    let report = Report::new(&model, &data).explanation(&explanation).title("<b>bold</b>");
    let html = report.html().unwrap();
    check_page(&html);
    assert!(!html.contains("<img") && !html.contains("<b>") && !html.contains("alert(1)</script>"));
    assert!(html.contains("größe 😀 漢字"));
    let data = embedded(&html);
    let names: Vec<&str> =
        data["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert!(HOSTILE.iter().all(|name| names.contains(name)), "{names:?}");
    check_figures(&report);
}

#[test]
fn each_response_has_its_plots() {
    let (x, y) = simulated(150, 4);
    let other: Vec<f64> = y.iter().map(|v| v * v).collect();
    let data = Dataset::new(x, y).unwrap().with_response(&other).unwrap();
    let model = fitted(&data, 2).target("a").target("b");
    let report = Report::new(&model, &data);
    let html = report.html().unwrap();
    check_page(&html);
    assert_eq!(points(&html), [150; 8]);
    let names = check_figures(&report);
    for name in ["summary-1", "summary-2", "directions-2", "residuals-2"] {
        assert!(names.contains(&name.to_string()), "{names:?}");
    }
    // Both plots of both responses, in one file.
    let summary = report.summary().unwrap();
    let file = roxmltree::Document::parse(&summary.svg).unwrap();
    assert_eq!(file.root_element().children().filter(|part| part.has_tag_name("g")).count(), 4);
    let whole = |title: &str| {
        file.descendants().filter(|part| part.is_element() && part.text() == Some(title)).count()
    };
    assert_eq!((whole("a against the first direction"), whole("b against the first direction")), (1, 1));
    assert!(summary.png().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn one_direction_has_no_second_coordinate() {
    let (x, y) = simulated(100, 3);
    let weights: Vec<f64> = (0..100).map(|i| f64::from(i % 3)).collect();
    let data = Dataset::new(x, y).unwrap().with_weights(weights).unwrap();
    let model = fitted(&data, 1);
    let report = Report::new(&model, &data);
    let html = report.html().unwrap();
    check_page(&html);
    assert_eq!(points(&html), [100; 3]);
    assert!(html.contains("sign of the direction") && !html.contains("signs and rotations"));
    assert!(!html.contains("<section id=\"choice\""));
    check_figures(&report);
}

#[test]
fn very_many_rows_are_thinned_and_the_page_says_so() {
    let (x, mut y) = simulated(22_000, 3);
    y[12_345] = 1e3;
    let data = Dataset::new(x, y).unwrap();
    let model =
        Model::with_predictor(Pca::new(2).fit(&data).unwrap(), &data, Regression::LocalLinear).unwrap();
    let html = Report::new(&model, &data).html().unwrap();
    check_page(&html);
    assert_eq!(points(&html), [20_000; 4]);
    assert!(html.contains("20,000 of 22,000 rows are shown"));
    assert!(embedded(&html)["rows"].as_array().unwrap().iter().any(|row| row == 12_346));
    assert!(html.len() < 10_000_000, "{} bytes", html.len());
    assert!(html.contains("does not iterate"));
}

#[test]
fn tiny_and_degenerate_data_are_shown() {
    // Three rows of one covariate: nothing can be predicted.
    let data = Dataset::new(Dense::new(vec![1.0, 2.0, 4.0], 3, 1).unwrap(), vec![0.0, 1.0, 0.0]).unwrap();
    let model = Model::new(Pca::new(1).fit(&data).unwrap());
    let report = Report::new(&model, &data);
    let html = report.html().unwrap();
    check_page(&html);
    assert!(html.contains("too few rows"));
    assert_eq!(points(&html), [3]);
    check_figures(&report);
    // Duplicates, a constant column, and values of all sizes.
    for (scale, shift) in [(1.0, 0.0), (1e150, 0.0), (1e-150, 0.0), (1.0, 1e9)] {
        let x = (0..80).flat_map(|i| [f64::from(i % 4) * scale + shift, 5.0]).collect::<Vec<f64>>();
        let y = (0..40).map(|i| f64::from(i % 2) * scale + shift).collect::<Vec<f64>>();
        let data = Dataset::new(Dense::new(x[..80].to_vec(), 40, 2).unwrap(), y).unwrap();
        let model =
            Model::with_predictor(Pca::new(1).fit(&data).unwrap(), &data, Regression::NearestNeighbors);
        let Ok(model) = model else { continue };
        let report = Report::new(&model, &data);
        check_page(&report.html().unwrap());
        check_figures(&report);
    }
}

#[test]
fn rows_not_fitted_to_are_told_apart() {
    let (x, y) = simulated(400, 4);
    let data = Dataset::new(x, y).unwrap();
    let (old, new) = (
        data.subset(&(0..200).collect::<Vec<_>>()).unwrap(),
        data.subset(&(200..400).collect::<Vec<_>>()).unwrap(),
    );
    let model =
        Model::with_predictor(InverseRegression::sir(2).fit(&old).unwrap(), &old, Regression::LocalLinear)
            .unwrap();
    let text = "rows that it was not fitted to";
    assert!(Report::new(&model, &new).html().unwrap().contains(text));
    assert!(!Report::new(&model, &old).html().unwrap().contains(text));
    let part = old.subset(&(0..150).collect::<Vec<_>>()).unwrap();
    assert!(!Report::new(&model, &part).html().unwrap().contains(text));
}

#[test]
fn doubtful_results_carry_a_warning() {
    let (x, y) = simulated(200, 3);
    let data = Dataset::new(x, y).unwrap();
    let model = fitted(&data, 1);
    for (choice, text) in [
        (chosen(&[3.0, 2.0, 1.0], 2), "chooses 2 directions, while 1 was fitted"),
        (chosen(&[3.0, 2.0, 1.0], 2), "2 is the largest number of directions tried"),
        (chosen(&[1.0, 2.0, f64::INFINITY], 0), "finds no signal"),
    ] {
        let report = Report::new(&model, &data).dimension(&choice);
        assert!(report.html().unwrap().contains(text), "{text}");
        check_figures(&report);
    }
    let mut explanation = explained(&model);
    explanation.covariates.iter_mut().for_each(|covariate| covariate.p_value = 0.5);
    explanation.angles = vec![1.2];
    let html = Report::new(&model, &data).explanation(&explanation).html().unwrap();
    assert!(html.contains("do not say which ones matter") && html.contains("not well determined"));
}

#[test]
fn data_of_another_model_are_refused() {
    let (x, y) = simulated(100, 4);
    let data = Dataset::new(x, y.clone()).unwrap();
    let model = fitted(&data, 1);
    let (other, z) = simulated(100, 5);
    let wide = Dataset::new(other, z).unwrap();
    assert!(Report::new(&model, &wide).html().is_err());
    let renamed =
        Dataset::with_names(simulated(100, 4).0, y.clone(), HOSTILE.map(String::from).to_vec()).unwrap();
    assert!(Report::new(&model, &renamed).figures().is_err());
    let two = Dataset::new(simulated(100, 4).0, y.clone()).unwrap().with_response(&y).unwrap();
    assert!(Report::new(&model, &two).html().is_err());
    let mut explanation = explained(&model);
    explanation.covariates.pop();
    assert!(Report::new(&model, &data).explanation(&explanation).html().is_err());
}
