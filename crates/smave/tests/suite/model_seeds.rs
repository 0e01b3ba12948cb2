//! What the fuzz target of model files starts from, and what it once failed at.

#[path = "../../../../fuzz/checks/model.rs"]
mod model;
#[path = "../../../../fuzz/checks/seeds.rs"]
mod seeds;

#[test]
fn files_are_models_or_refused() {
    seeds::pass("model", model::check);
}

fn load(seed: &str) -> smave::Result<smave::Model> {
    smave::Model::load(format!("{}/../../fuzz/seeds/model/{seed}", env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn some_are_models_and_some_say_why_not() {
    for seed in ["version_1", "version_2", "version_3", "two_directions", "nearest_neighbors", "weights"] {
        load(&format!("{seed}.json")).unwrap();
    }
    assert_eq!(load("categories.json").unwrap().sources().len(), 2);
    assert_eq!(load("several_responses.json").unwrap().predictors.len(), 2);
    for (seed, expected) in [
        ("weights_of_zero.json", "weights do not count rows"),
        ("negative_weights.json", "weights do not count rows"),
        ("huge_weights.json", "weights do not count rows"),
        ("errors_out_of_order.json", "held-out errors"),
        ("no_levels.json", "covariates are not those"),
        ("coordinates_missing.json", "do not have 1 coordinates"),
        ("no_rows.json", "among 0 rows"),
        ("deep.json", "not a model"),
        ("version_4.json", "update smave"),
        ("altered.json", "altered"),
    ] {
        let message = load(seed).unwrap_err().to_string();
        assert!(message.contains(expected), "{seed}: {message}");
    }
}
