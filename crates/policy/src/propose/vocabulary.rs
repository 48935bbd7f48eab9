//! The meaning of a column's name: words of official statistics, medicine and administration in
//! several languages.
//!
//! A name is cut into words at case changes, digits and anything that is not a letter, and only
//! whole words count: `wage` does not contain `age`, and `essex` does not contain `sex`. Words
//! written together are listed as such.

use super::spelling::words;
use crate::Role;

/// The subject of a column, as far as it decides how to generalize it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concept {
    Age,
    /// Postal codes, codes of municipalities and industries: what begins alike belongs together.
    Code,
    Country,
    /// Numbers in it are codes of categories, not quantities.
    Nominal,
    /// Numbers in it measure something: money, scores, height.
    Quantity,
    /// Whatever the values say.
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    /// `None`: not to be released without a second thought.
    pub(super) role: Option<Role>,
    pub(super) concept: Concept,
    /// A weak word decides only when the values do not speak against it.
    pub(super) weak: bool,
    /// Completes the sentence that the policy's comment is.
    pub(super) because: &'static str,
}

const fn identifier(because: &'static str) -> Meaning {
    Meaning { role: Some(Role::Identifier), concept: Concept::Open, weak: false, because }
}

const fn quasi(concept: Concept, because: &'static str) -> Meaning {
    Meaning { role: Some(Role::Quasi), concept, weak: false, because }
}

const fn sensitive(because: &'static str) -> Meaning {
    Meaning { role: Some(Role::Sensitive), concept: Concept::Open, weak: false, because }
}

/// Private, and its numbers measure something.
const fn measured(because: &'static str) -> Meaning {
    Meaning { concept: Concept::Quantity, ..sensitive(because) }
}

/// Of a household and its members.
pub(super) const NEIGHBORS_KNOW: &str = "neighbors know it";
const KNOWN_TO_MANY: &str = "others know it";
const OPINION: &str = "an opinion is private";

/// Each line of words shares a meaning. Accents are folded away, so `âge` is `age`.
const VOCABULARY: &[(Meaning, &str)] = &[
    (
        identifier("names a person"),
        "surname lastname firstname forename givenname familyname fullname middlename maidenname username nickname \
         displayname patientname customername employeename personname studentname initials nachname vorname \
         familienname prenom nomdefamille nomcomplet apellido apellidos nombre nombres cognome nome sobrenome \
         achternaam voornaam efternamn fornamn etunimi sukunimi imie nazwisko jmeno prijmeni 姓名 名前 氏名 фамилия имя",
    ),
    (
        identifier("reaches a person"),
        "email mail emailaddress mailaddress phone phonenumber phoneno telephone telefon telefono telephonenumber \
         tel mobile mobilenumber mobil cell cellphone handy fax twitter skype facebook instagram website homepage \
         url ip ipaddress ipaddr macaddress imei deviceid cookie cookieid courriel correo",
    ),
    (
        identifier("the number of a person or an account"),
        "ssn socialsecurity socialsecuritynumber socialsecurityno sozialversicherungsnummer svnr ahv ahvnr nhs \
         nhsnumber nino nationalid nationalidnumber passport passportnumber passportno passnummer personalid \
         personalnumber personid personnummer personnr cpr dni curp rfc cpf codicefiscale nir pesel bsn aadhaar pan \
         taxid tin steuernummer steuerid iban bic accountnumber accountno account accountid kontonummer kontonr \
         creditcard cardnumber ccnumber patientid patientnr patientno patientnumber patientnbr patientennummer \
         patkey mrn medicalrecordnumber caseid casenumber fallnummer encounterid visitid recordid rowid \
         recordnumber respondentid respid participantid subjectid subjid memberid customerid customernumber \
         kundennummer clientid userid employeeid employeenumber personalnummer studentid matrikelnummer \
         policynumber contractnumber licenseplate licenceplate plate numberplate kennzeichen vin driverslicense \
         driverlicense drivinglicence uuid guid hash token serial serialnumber seqn serialno pid insurancenumber \
         versichertennummer healthcardnumber fingerprint filer filerid taxpayer taxpayerid firmid",
    ),
    (
        identifier("where exactly a person lives"),
        "address addressline streetaddress homeaddress postaladdress street streetname housenumber houseno adresse \
         anschrift strasse hausnummer rue direccion calle indirizzo endereco adres",
    ),
    (
        identifier("free text can name a person"),
        "comment comments note notes remark remarks freetext description narrative bemerkung kommentar anmerkung \
         commentaire observaciones",
    ),
    (
        quasi(Concept::Code, "where a person lives"),
        "zip zipcode zip3 zip5 postcode postalcode postal plz postleitzahl codepostal codigopostal cap postnr \
         postnummer postnumero postort kodpocztowy psc pincode puma censustract tract blockgroup fips fipscode nuts \
         lsoa msoa bfsnr gemeindenr gemeindenummer ags inseecode codeinsee commune municipalitycode gemeindecode",
    ),
    (
        quasi(Concept::Age, KNOWN_TO_MANY),
        "age ages agep agey agegroup agegrp ageyears agehead ageofhead agespouse spouseage ageofspouse alter alterjahre \
         edad eta idade leeftijd alder ika wiek vek 年龄 年齢 возраст",
    ),
    (
        quasi(Concept::Open, "singles out most people"),
        "birth birthdate birthday dateofbirth dob yob mob birthyear yearofbirth birthmonth born geburt geburtsdatum \
         geburtsjahr naissance datenaissance datedenaissance annaisance nacimiento fechanacimiento nascita \
         datanascita nascimento geboortedatum geboortejaar fodelsedatum fodelsear fodselsdato syntymaaika gebdat \
         gebjahr",
    ),
    (
        quasi(Concept::Nominal, KNOWN_TO_MANY),
        "sex gender geschlecht sexe sexo sesso genero genre geslacht kon kjonn sukupuoli plec pohlavi 性别 性別 пол",
    ),
    (
        quasi(Concept::Nominal, "others know it"),
        "race rac1p ethnicity ethnic ethnie hisp hispanic hautfarbe skin skincolor etnia raza herkunft ancestry \
         tribe caste",
    ),
    (
        quasi(Concept::Country, KNOWN_TO_MANY),
        "nationality country nativecountry countryofbirth birthcountry birthplace placeofbirth pob pobp citizenship \
         citizen cit nation nativity land staat staatsangehoerigkeit staatsangehorigkeit nationalitaet nationalitat \
         geburtsland geburtsort pays nationalite paysdenaissance pais nacionalidad paese nazionalita cittadinanza \
         nacionalidade nationaliteit origin immigrant migrant migration",
    ),
    (
        quasi(Concept::Nominal, KNOWN_TO_MANY),
        "marital maritalstatus married marriage mar msp civilstatus civilstate familienstand zivilstand \
         familystatus etatcivil estadocivil statocivile relationship burgerlijkestaat divorced widowed spouse \
         partner",
    ),
    (
        quasi(Concept::Open, KNOWN_TO_MANY),
        "education edu educ educationlevel schooling schl school degree qualification diploma bildung \
         schulabschluss abschluss ausbildung instruction niveaudetudes etudes educacion estudios istruzione \
         escolaridade opleiding literacy grade educationnum",
    ),
    (
        quasi(Concept::Open, KNOWN_TO_MANY),
        "occupation occ occp job jobtitle profession employment employmentstatus employer workclass classofworker \
         cow work industry indp naics isco nace sector beruf taetigkeit tatigkeit arbeitgeber branche erwerbsstatus \
         emploi metier ocupacion profesion trabajo empleo professione lavoro profissao beroep position rank \
         department esr military veteran dvet specialty",
    ),
    (
        quasi(Concept::Nominal, "where a person lives"),
        "municipality region county state province district city town village canton kanton gemeinde bezirk kreis \
         bundesland ort wohnort stadt departement ville ciudad municipio provincia comune regione cidade estado \
         prefecture neighborhood neighbourhood borough parish locality location residence area place st \
         division msa cbsa geo geography urban rural density",
    ),
    (
        // A ward is a part of a town or of a hospital.
        quasi(Concept::Nominal, "others may know where"),
        "ward site hospital clinic facility institution branch",
    ),
    (
        quasi(Concept::Nominal, KNOWN_TO_MANY),
        "language mothertongue lang lanp sprache muttersprache langue idioma lingua religion faith denomination \
         konfession confession religione religiao culte glaube",
    ),
    (
        quasi(Concept::Open, NEIGHBORS_KNOW),
        "household householdsize hhsize familysize family children kids child noc npf npers persons members \
         dependents dependants haushalt haushaltsgroesse haushaltsgrosse haushaltgroesse kinder menage taillemenage \
         relation relationtohead householdtype familytype foodstamps childbenefit housingbenefit siblings \
         enfants hijos hogar figli housing housingtype tenure ownrent dwelling rooms bedrooms vehicles cars car",
    ),
    (
        quasi(Concept::Quantity, "visible"),
        "height weight bodyweight bodyheight bmi eyecolor haircolor groesse grosse gewicht koerpergroesse taille \
         poids altura peso",
    ),
    (
        quasi(Concept::Open, "others may know when"),
        "date datum day month year jahr monat admission admissiondate admissiontype discharge dischargedate \
         admitted visit visitdate arrival appointment entry exit hired hiredate startdate enddate timestamp time \
         event deathdate dateofdeath dod fecha annee",
    ),
    (
        quasi(Concept::Quantity, "a place on the map is an address"),
        "lat latitude lon lng longitude coordinates easting northing gps geohash",
    ),
    (
        quasi(Concept::Nominal, "insurer and employer know it"),
        "insurance insurer payer payercode payor krankenkasse versicherung hicov insurancetype assurance",
    ),
    (
        Meaning {
            role: None,
            concept: Concept::Open,
            weak: false,
            because: "survey weights disclose the stratum: compute new ones",
        },
        "wgt wgtp pwgtp fnlwgt wt finalweight surveyweight sampleweight samplingweight personweight gewichtung \
         hochrechnung hochrechnungsfaktor ponderation weighting sampweight samplewt pweight fweight designweight \
         replicateweight personwgt householdweight hhwt perwt wtfinl repwt repwtp asecwt asecwth marsupwt hsupwgt \
         fsupwgt asupwgt aernlwt wtsupp s006",
    ),
    (
        sensitive("health is private"),
        "disease diseases diagnosis diagnoses diag diagnose dx icd icd9 icd10 icdcode drg condition comorbidity \
         comorbidities illness sickness symptom symptoms cancer tumor tumour hiv aids std hepatitis covid diabetes \
         diabetesmed depression anxiety psychiatric mental pregnancy pregnant abortion krankheit diagnosen \
         erkrankung krank maladie diagnostic enfermedad diagnostico malattia diagnosi doenca ziekte causeofdeath \
         todesursache death mortality died deceased prognosis stage biopsy genotype mutation allele bloodtype \
         health gesundheit disability handicap dphy deye dear drem 疾病 болезнь",
    ),
    (
        sensitive("treatment discloses health"),
        "medication medications medicine drug drugs prescription treatment therapy procedure procedures surgery \
         operation dose dosage insulin metformin medikament therapie behandlung traitement medicament tratamiento \
         medicamento farmaco vaccination vaccine vaccinated readmitted readmission",
    ),
    (
        measured("a test result is private"),
        "test testresult labresult result results lab a1cresult hba1c glucose cholesterol bloodpressure score \
         scores iq gpa mark marks ergebnis befund note1 resultat resultado risultato",
    ),
    (
        measured("money is private"),
        "income incomes inctot incwage ftotinc hhincome famincome salary salaries wage wages wagp pincp hincp hincome \
         earnings earning pay payment payments \
         revenue gehalt lohn einkommen revenu salaire ingreso ingresos salario sueldo reddito stipendio renda \
         inkomen inkomst debt debts loan loans mortgage credit creditscore balance wealth assets savings benefit \
         benefits pension welfare tax taxes schulden vermogen vermoegen kredit dette poverty povpip charges cost \
         costs expenses spending price amount bonus capitalgain capitalloss dividend dividends",
    ),
    (
        sensitive("a conviction or a belief is private"),
        "crime crimes offense offence offences conviction convicted arrest arrested sentence prison verdict \
         recidivism recid straftat delikt urteil crimen delito party vote voted voting politics political partei \
         union unionmember sexual sexualorientation orientation alcohol drinking smoke smokes smoking smoker tabac \
         drug druguse addiction abuse suicide violence",
    ),
    (
        sensitive(OPINION),
        "question answer response item q satisfaction opinion rating likert attitude frage antwort reponse pregunta",
    ),
    (
        Meaning { weak: true, ..identifier("a key that leads back to a person") },
        "id key identifier kennung schluessel nr no nbr number num nummer numero ref reference index idx row code",
    ),
    (Meaning { weak: true, ..identifier("may name a person") }, "name names nom navn namn naam"),
];

/// Words before these carry the meaning: the age in `age at diagnosis`.
const HINGES: &[&str] =
    &["of", "at", "in", "on", "since", "de", "du", "des", "von", "bei", "der", "des", "di", "del", "da"];

/// Words that say that the numbers of a column are codes of something.
const CODED: &[&str] =
    &["id", "code", "cd", "type", "kind", "cat", "category", "class", "status", "source", "typ", "art", "schluessel"];

/// How many words at most make up one entry of the vocabulary.
const RUN_MAX: usize = 3;

/// The meaning of a name, if it is known.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let hinge = words.iter().skip(1).position(|word| HINGES.contains(&word.as_str())).map(|index| index + 1);
    // The whole name first, since `date of birth` is in the vocabulary as one; then what comes
    // before the hinge.
    let several = best(&words, RUN_MAX, false).filter(|(length, _)| *length > 1);
    let found = asked(name)
        .or(several)
        .or_else(|| hinge.and_then(|index| best(&words[..index], 1, false)))
        .or_else(|| best(&words, 1, false))
        .or_else(|| best(&words, 1, true));
    let coded = numbers_are_codes(name);
    found.map(|(_, meaning)| match meaning.concept {
        Concept::Open | Concept::Quantity if coded => Meaning { concept: Concept::Nominal, ..meaning },
        _ => meaning,
    })
}

/// A question as a name: `Question 7: how satisfied are you with your work?` is not about work.
fn asked(name: &str) -> Option<(usize, Meaning)> {
    let (before, _) = name.split_once(':')?;
    best(&words(before), 1, false).filter(|(_, meaning)| meaning.because == OPINION)
}

/// Whether the name says that numbers in the column are codes, not quantities.
pub(super) fn numbers_are_codes(name: &str) -> bool {
    words(name).iter().any(|word| CODED.contains(&word.as_str()))
}

/// Whether the name ends as the names of keys do: `household_id` is not about the household.
pub(super) fn ends_as_key(name: &str) -> bool {
    const ENDS: &[&str] = &["id", "uid", "key", "identifier", "nr", "no", "nbr", "nummer"];
    words(name).last().is_some_and(|word| ENDS.contains(&word.as_str()))
}

/// The longest run of words that is an entry, the last one among equals: in most languages here the
/// last noun of a compound says what the thing is.
fn best(words: &[String], longest: usize, weak: bool) -> Option<(usize, Meaning)> {
    for length in (1..=longest.min(words.len())).rev() {
        for run in words.windows(length).rev() {
            if let Some(meaning) = look_up(&run.concat()).filter(|meaning| meaning.weak == weak) {
                return Some((length, meaning));
            }
        }
    }
    None
}

fn look_up(word: &str) -> Option<Meaning> {
    let entry = VOCABULARY.iter().find(|(_, list)| list.split_ascii_whitespace().any(|known| known == word));
    entry.map(|(meaning, _)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meanings of names; `-` for none, `?` for a word that is weak, `0` for omitted.
    const NAMES: &[(&str, &str)] = &[
        (
            "i",
            "surname, LastName, first_name, Vorname, patientName, e-mail, Email Address, phone, \
             telephone_number, SSN, IBAN, passport no, patient_id, PatientNbr, street, homeAddress, \
             ip_address, uuid, comments, user name, Prénom, 姓名, licence plate, MRN, Nachname, account-number",
        ),
        (
            "q",
            "zip, ZIP_CODE, zipcode, postcode, PLZ, age, AGEP, Alter, age_at_diagnosis, patient age, \
             age.group, âge, sex, Gender, Geschlecht, dateOfBirth, date of birth, DOB, birth_year, \
             Geburtsdatum, race, RAC1P, ethnicity, nationality, native-country, country_name, birthplace, \
             marital-status, maritalStatus, Zivilstand, education, occupation, job_title, workclass, \
             municipality, Region, county, state, canton, language, religion, household_size, familysize, \
             number of children, PUMA, height, weight, admission_date, latitude, hospital, street city, \
             Größe, payer_code, пол",
        ),
        (
            "s",
            "disease, Diagnosis, diag_1, ICD10, icd_code, income, salary-class, monthlyWage, HIV, \
             testResult, test result, Question 1: how satisfied are you with your work?, smokes, medication, crime, debt, \
             credit_score, PINCP, Einkommen, Q10A, q1, \
             num_medications, capital-gain, vote, smoker",
        ),
        ("?", "id, name, file_name, row no, code"),
        ("0", "fnlwgt, PWGTP, survey_weight"),
        (
            "-",
            "width, essex, page, message, x, tripod, valid, agenda, usage, sextant, unknownword, \
             homepageviews, identity theory, v12, barrage",
        ),
    ];

    #[test]
    fn names_are_understood_by_whole_words() {
        let mut count = 0;
        for (mark, names) in NAMES {
            for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let found = match meaning(name) {
                    None => "-",
                    Some(Meaning { weak: true, .. }) => "?",
                    Some(Meaning { role: None, .. }) => "0",
                    Some(Meaning { role: Some(Role::Identifier), .. }) => "i",
                    Some(Meaning { role: Some(Role::Quasi), .. }) => "q",
                    Some(Meaning { role: Some(Role::Sensitive), .. }) => "s",
                    Some(Meaning { role: Some(Role::Plain), .. }) => "p",
                    Some(Meaning { role: Some(Role::Unit), .. }) => "u",
                };
                assert_eq!(found, *mark, "{name}");
                count += 1;
            }
        }
        assert!(count > 120, "{count}");
    }

    #[test]
    fn no_word_is_listed_with_a_capital_or_an_accent() {
        for (_, list) in VOCABULARY {
            for word in list.split_ascii_whitespace() {
                assert_eq!(words(word).concat(), word);
            }
        }
    }
}
