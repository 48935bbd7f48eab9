//! DCAT-AP 3 with terms of HealthDCAT-AP, as JSON-LD: what a catalog of datasets, such as that of
//! the European Health Data Space, asks of a dataset. What a custodian alone knows (publisher,
//! contact, legal basis, access rights) is not invented: a catalog adds it.

use serde_json::{Value, json};

use crate::manifest::{Claim, Manifest, Resource};

pub(super) fn describe(manifest: &Manifest) -> Value {
    let promise = &manifest.hedgerow;
    let quasi_and_others = manifest.resources.iter().filter(|resource| resource.name != crate::shape::CODEBOOK);
    let mut columns: Vec<&str> =
        quasi_and_others.flat_map(|resource| &resource.schema.fields).map(|field| field.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    columns.retain(|name| seen.insert(*name));
    let statement = format!(
        "Released by the method {} of Hedgerow {}. Guarantees, recomputed from the released tables: {}.",
        promise.method,
        promise.version,
        promise.guarantees.iter().map(guarantee).collect::<Vec<_>>().join("; ")
    );
    json!({
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dct": "http://purl.org/dc/terms/",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
            "healthdcatap": "http://healthdataportal.eu/ns/health#"
        },
        "@type": "dcat:Dataset",
        "dct:title": manifest.name,
        "dct:description": format!("De-identified microdata with the columns {}.", columns.join(", ")),
        "dct:provenance": { "@type": "dct:ProvenanceStatement", "dct:description": statement },
        "dcat:keyword": columns,
        "healthdcatap:numberOfRecords": { "@type": "xsd:nonNegativeInteger", "@value": promise.rows.out.to_string() },
        "dcat:distribution": manifest.resources.iter().map(distribution).collect::<Vec<_>>(),
    })
}

fn guarantee(claim: &Claim) -> String {
    let required =
        claim.required.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
    let protect = claim.protect.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    format!("{}{protect} with {required}", claim.model)
}

fn distribution(resource: &Resource) -> Value {
    json!({
        "@type": "dcat:Distribution",
        "dct:title": resource.path,
        "dcat:downloadURL": { "@id": resource.path },
        "dcat:mediaType": { "@id": format!("https://www.iana.org/assignments/media-types/{}", resource.mediatype) },
    })
}
