//! A policy whose rows are on a cluster is refused by programs that cannot reach one.

use hedgerow::{ErrorKind, Policy, Publish};

const POLICY: &str = "[source]\nengine = \"sc://host:15002/;token=s3cret\"\ntable = \"people\"\n\
                      [attributes]\nage = { role = \"quasi\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";

#[test]
fn rows_on_a_cluster_are_left_to_the_command_that_reaches_it() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy::parse(POLICY, folder.path().join("policy.toml")).unwrap();
    let release = folder.path().join("release");
    for error in [
        Publish::new(&policy, &release).run().unwrap_err(),
        Publish::new(&policy, &release).memory(Some(64 << 20)).run().unwrap_err(),
        hedgerow::read_source(&policy).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
        assert!(error.place().ends_with("policy.toml:2:1: source.engine"), "{error}");
        assert!(error.problem().contains("Spark cluster sc://host:15002, which"), "{error}");
        assert!(error.hint().contains("hedgerow-spark publish"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_parquet_table_may_be_a_folder_of_parts_and_of_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy::load("../../examples/hospital/policy.toml").unwrap();
    let release = folder.path().join("release");
    let publish = |seed| Publish::new(&policy, &release).format(hedgerow::TableFormat::Parquet).danger_seed(Some(seed));
    publish(1).run().unwrap();
    let whole = hedgerow::Release::open(&release).unwrap();
    // Before its files move: a digest is computed when it is first requested.
    let (rows, digest) = (whole.rows(), whole.digest().unwrap().to_owned());
    // The same rows in a folder of one part.
    let (table, part) = (release.join("data.parquet"), release.join("data.parquet/part-00001.parquet"));
    std::fs::rename(&table, release.join("part")).unwrap();
    std::fs::create_dir(&table).unwrap();
    std::fs::rename(release.join("part"), &part).unwrap();
    let parts = hedgerow::Release::open(&release).unwrap();
    let digest_of_parts = parts.digest().unwrap().to_owned();
    assert_eq!(parts.rows(), rows);
    assert!(parts.check().unwrap().holds());
    assert_ne!(digest_of_parts, digest, "the names are part of the digest");
    // A second copy of the rows is read too, and contradicts the manifest.
    std::fs::copy(&part, table.join("part-00002.parquet")).unwrap();
    let twice = hedgerow::Release::open(&release).unwrap();
    assert_eq!(twice.rows(), 2 * rows);
    assert_ne!(twice.digest().unwrap(), digest_of_parts);
    assert!(!twice.check().unwrap().holds());
    std::fs::remove_file(table.join("part-00002.parquet")).unwrap();
    // Whatever is not read is refused, and not deleted with the release.
    for name in ["_SUCCESS", "notes.txt", ".hidden.parquet"] {
        std::fs::write(table.join(name), "x").unwrap();
        let error = hedgerow::Release::open(&release).unwrap_err().to_string();
        assert!(error.contains("no part of a table"), "{error}");
        if !name.ends_with("parquet") {
            let error = publish(2).overwrite(true).run().unwrap_err().to_string();
            assert!(error.contains("which is not a file of the release"), "{error}");
        }
        std::fs::remove_file(table.join(name)).unwrap();
    }
    std::fs::create_dir(table.join("x.parquet")).unwrap();
    assert!(hedgerow::Release::open(&release).is_err(), "a folder within");
    std::fs::remove_dir(table.join("x.parquet")).unwrap();
    publish(2).overwrite(true).run().unwrap();
    assert!(table.is_file());
}
