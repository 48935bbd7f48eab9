//! The check of a release by a cluster: the tables are counted there, and judged here.

use std::path::Path;

use hedgerow::{Check, Error, Monitor};
use hedgerow_config::ClusterAddress;
use hedgerow_release::manifest::Manifest;
use hedgerow_release::shape::Shape;
use hedgerow_release::{ReadBy, Release, Within};
use hedgerow_table::InputError;

use crate::session::Session;

/// Recomputes every guarantee of a release from its tables, which the cluster at `address` reads.
pub fn check(release: &Path, address: &str) -> Result<Check, Error> {
    let Some(address) = ClusterAddress::parse(address) else {
        let hint = "name the Spark Connect server, such as `sc://host:15002`";
        return Err(InputError::new("engine", "not the address of a Spark cluster", hint).into());
    };
    let manifest = Manifest::read(release)?;
    let shape = Shape::of_release(release, &manifest)?;
    if !matches!(shape, Shape::Generalized { .. } | Shape::Bucketized { .. }) {
        let hint = "check it without a cluster: `hedgerow check`";
        let place = release.display().to_string();
        return Err(InputError::new(place, "a cluster does not check releases of this kind", hint).into());
    }
    let claims = manifest.hedgerow.guarantees.clone();
    let judged: Vec<&str> =
        claims.iter().flat_map(|claim| claim.know.iter().chain(&claim.protect)).map(String::as_str).collect();
    let session = Session::open(&address)?;
    let within = Within { judged: &judged, by: ReadBy::Counter(&session) };
    let release = Release::with_manifest_within(release, manifest, Some(within), &Monitor::default())?;
    hedgerow::Release::from(release).check()
}
