//! Countries, grouped into the regions and continents of the United Nations' standard M49.

use std::collections::HashMap;

use super::groups::Tree;
use super::profile::{Facts, texts_of};
use super::spelling::words;
use super::way::Way;

/// Continent, region, and its countries: two-letter code and names, first the common one.
const REGIONS: &[(&str, &str, &str)] = &[
    ("Africa", "Northern Africa", "DZ algeria;EG egypt;LY libya;MA morocco;SD sudan;TN tunisia;EH westernsahara"),
    (
        "Africa",
        "Eastern Africa",
        "BI burundi;KM comoros;DJ djibouti;ER eritrea;ET ethiopia;KE kenya;MG madagascar;MW malawi;\
         MU mauritius;MZ mozambique;RW rwanda;SC seychelles;SO somalia;SS southsudan;\
         TZ tanzania unitedrepublicoftanzania;UG uganda;ZM zambia;ZW zimbabwe",
    ),
    (
        "Africa",
        "Middle Africa",
        "AO angola;CM cameroon;CF centralafricanrepublic;TD chad;CG congo republicofthecongo;\
         CD democraticrepublicofthecongo drcongo drc zaire;GQ equatorialguinea;GA gabon;ST saotomeandprincipe",
    ),
    ("Africa", "Southern Africa", "BW botswana;SZ eswatini swaziland;LS lesotho;NA namibia;ZA southafrica"),
    (
        "Africa",
        "Western Africa",
        "BJ benin;BF burkinafaso;CV capeverde caboverde;CI ivorycoast cotedivoire;GM gambia thegambia;\
         GH ghana;GN guinea;GW guineabissau;LR liberia;ML mali;MR mauritania;NE niger;NG nigeria;SN senegal;\
         SL sierraleone;TG togo",
    ),
    (
        "Americas",
        "Northern America",
        "US unitedstates unitedstatesofamerica usa us america;CA canada;BM bermuda;GL greenland",
    ),
    (
        "Americas",
        "Central America",
        "MX mexico;BZ belize;CR costarica;SV elsalvador;GT guatemala;HN honduras;NI nicaragua;PA panama",
    ),
    (
        "Americas",
        "Caribbean",
        "AG antiguaandbarbuda;BS bahamas thebahamas;BB barbados;CU cuba;DM dominica;DO dominicanrepublic;\
         GD grenada;HT haiti;JM jamaica;PR puertorico;KN saintkittsandnevis stkittsandnevis;\
         LC saintlucia stlucia;VC saintvincentandthegrenadines;\
         TT trinidadandtobago trinadadtobago trinidad trinidadtobago;VI virginislands",
    ),
    (
        "Americas",
        "South America",
        "AR argentina;BO bolivia;BR brazil brasil;CL chile;CO colombia columbia;EC ecuador;GY guyana;\
         PY paraguay;PE peru;SR suriname;UY uruguay;VE venezuela;GF frenchguiana",
    ),
    ("Asia", "Central Asia", "KZ kazakhstan;KG kyrgyzstan;TJ tajikistan;TM turkmenistan;UZ uzbekistan"),
    (
        "Asia",
        "Eastern Asia",
        "CN china prchina;HK hongkong hong;MO macao macau;JP japan;MN mongolia;KP northkorea;\
         KR southkorea korea republicofkorea;TW taiwan",
    ),
    (
        "Asia",
        "South-eastern Asia",
        "BN brunei;KH cambodia;ID indonesia;LA laos;MY malaysia;MM myanmar burma;\
         PH philippines thephilippines;SG singapore;TH thailand;TL timorleste easttimor;VN vietnam",
    ),
    (
        "Asia",
        "Southern Asia",
        "AF afghanistan;BD bangladesh;BT bhutan;IN india;IR iran;MV maldives;NP nepal;PK pakistan;LK srilanka",
    ),
    (
        "Asia",
        "Western Asia",
        "AM armenia;AZ azerbaijan;BH bahrain;CY cyprus;GE georgia;IQ iraq;IL israel;JO jordan;KW kuwait;\
         LB lebanon;OM oman;QA qatar;SA saudiarabia;PS palestine palestinianterritories;SY syria;\
         TR turkey turkiye;AE unitedarabemirates uae;YE yemen",
    ),
    (
        "Europe",
        "Eastern Europe",
        "BY belarus;BG bulgaria bulgarien;CZ czechia czechrepublic tschechien;HU hungary ungarn;\
         PL poland polen;MD moldova;RO romania rumanien;\
         RU russia russianfederation russland sovietunion ussr;SK slovakia slowakei;UA ukraine",
    ),
    (
        "Europe",
        "Northern Europe",
        "DK denmark danemark;EE estonia;FI finland;IS iceland;IE ireland irland;LV latvia;LT lithuania;\
         NO norway norwegen;SE sweden schweden;\
         GB unitedkingdom uk greatbritain england scotland wales northernireland",
    ),
    (
        "Europe",
        "Southern Europe",
        "AL albania albanien;AD andorra;BA bosnia bosniaandherzegovina bosnien;HR croatia kroatien;\
         GR greece griechenland;VA vatican holysee;IT italy italien;XK kosovo;MT malta;ME montenegro;\
         MK northmacedonia macedonia;PT portugal;SM sanmarino;RS serbia serbien;SI slovenia slowenien;\
         ES spain spanien;YU yugoslavia",
    ),
    (
        "Europe",
        "Western Europe",
        "AT austria osterreich oesterreich;BE belgium belgien;FR france frankreich;DE germany deutschland;\
         LI liechtenstein;LU luxembourg;MC monaco;\
         NL netherlands thenetherlands holland holandnetherlands niederlande;CH switzerland schweiz suisse",
    ),
    (
        "Oceania",
        "Oceania",
        "AU australia;NZ newzealand;FJ fiji;PG papuanewguinea;SB solomonislands;VU vanuatu;WS samoa;TO tonga;\
         KI kiribati;FM micronesia;MH marshallislands;NR nauru;PW palau;TV tuvalu;\
         GU guam outlyingusguamusvietc outlyingus;AS americansamoa",
    ),
];

/// The file, when nearly all values are names or all are two-letter codes of countries. What is
/// unknown stays alone.
pub(super) fn regions(facts: &Facts<'_>) -> Option<Way> {
    let leaves = texts_of(facts.domain());
    let codes = leaves.iter().all(|leaf| leaf.len() == 2 && leaf.bytes().all(|byte| byte.is_ascii_uppercase()));
    let known = index(codes);
    let found: Vec<Option<(&str, &str)>> = leaves
        .iter()
        .map(|leaf| known.get(if codes { leaf.clone() } else { words(leaf).concat() }.as_str()).copied())
        .collect();
    let recognized = found.iter().flatten().count();
    if recognized * 5 < leaves.len() * 4 {
        return None;
    }
    let mut tree = Tree::new(leaves.clone());
    let level = |name: &dyn Fn((&'static str, &'static str)) -> &'static str| -> Vec<String> {
        let pairs = leaves.iter().zip(&found);
        pairs.map(|(leaf, found)| found.map_or_else(|| leaf.clone(), |pair| name(pair).to_owned())).collect()
    };
    tree.add(level(&|(_, region)| region));
    tree.add(level(&|(continent, _)| continent));
    tree.file()
}

/// Whether the values are the two-letter codes of ISO 3166, at least five of them, whatever the
/// column is called.
pub(super) fn are_codes(facts: &Facts<'_>) -> bool {
    const CODES_MIN: usize = 5;
    let leaves = texts_of(facts.domain());
    let known = index(true);
    (CODES_MIN..=300).contains(&leaves.len()) && leaves.iter().all(|leaf| known.contains_key(leaf.as_str()))
}

/// From a code, or from every name, to continent and region.
fn index(codes: bool) -> HashMap<&'static str, (&'static str, &'static str)> {
    let mut index = HashMap::new();
    for (continent, region, countries) in REGIONS {
        for country in countries.split(';') {
            let mut names = country.split(' ');
            let code = names.next();
            let names: Vec<&str> = if codes { code.into_iter().collect() } else { names.collect() };
            index.extend(names.into_iter().map(|name| (name, (*continent, *region))));
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    fn regions_of(texts: &[&str]) -> Option<String> {
        let rows: Vec<Vec<&str>> = texts.iter().map(|text| vec![*text]).collect();
        match regions(&Facts::of(&Table::from_texts(&["country"], &rows).columns[0])) {
            Some(Way::File { text, .. }) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn names_and_codes_find_their_region() {
        let text = regions_of(&["France", "Deutschland", "Côte d'Ivoire", "Trinadad&Tobago", "USA"]).unwrap();
        for line in
            ["Deutschland;Western Europe;Europe;*", "Côte d'Ivoire;Côte d'Ivoire;Côte d'Ivoire;*", "USA;USA;Americas;*"]
        {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        let text = regions_of(&["FR", "DE", "IT", "NA", "ZA"]).unwrap();
        assert!(text.contains("NA;Southern Africa;Africa;*"), "{text}");
        assert_eq!(regions_of(&["red", "green", "France"]), None);
    }

    #[test]
    fn no_name_stands_for_two_countries() {
        for codes in [true, false] {
            let mut names: Vec<&str> = Vec::new();
            for (_, _, countries) in REGIONS {
                for country in countries.split(';') {
                    let parts = country.split(' ');
                    names.extend(parts.enumerate().filter(|(place, _)| (*place == 0) == codes).map(|(_, name)| name));
                }
            }
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
            assert!(count > 150);
        }
    }
}
