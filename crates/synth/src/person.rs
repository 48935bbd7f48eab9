//! One person: the order in which the attributes are drawn, each given the ones before, and the
//! line they become.

use crate::chance::{LoadedDie, Random};
use crate::{income, people, places, schooling, work};

pub(crate) const HEADER: &str = "age,sex,education,birthplace,occupation,race,workclass,marital-status,income\n";

/// An upper bound on the length of a line, so that a block's buffer is allocated once.
pub(crate) const LINE_BYTES_MAX: usize = 128;

/// Every attribute as an index into its table of names; age is the age itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) age: u8,
    pub(crate) sex: u8,
    pub(crate) education: u8,
    pub(crate) birthplace: u8,
    pub(crate) occupation: u8,
    pub(crate) race: u8,
    pub(crate) work_class: u8,
    pub(crate) marital_status: u8,
    pub(crate) income: u8,
}

impl Person {
    pub(crate) fn write_line(&self, line: &mut Vec<u8>) {
        push_number(line, u16::from(self.age));
        for name in [
            people::SEXES[usize::from(self.sex)],
            schooling::LEVELS[usize::from(self.education)].name,
            places::COUNTRIES[usize::from(self.birthplace)].name,
            work::OCCUPATIONS[usize::from(self.occupation)].name,
            people::RACES[usize::from(self.race)],
            work::WORK_CLASSES[usize::from(self.work_class)].0,
            people::MARITAL_STATUSES[usize::from(self.marital_status)].0,
        ] {
            line.push(b',');
            line.extend_from_slice(name.as_bytes());
        }
        line.push(b',');
        push_number(line, income::BANDS[usize::from(self.income)]);
        line.push(b'\n');
    }
}

fn push_number(line: &mut Vec<u8>, value: u16) {
    if value >= 100 {
        line.push(b'0' + (value / 100) as u8);
    }
    if value >= 10 {
        line.push(b'0' + (value / 10 % 10) as u8);
    }
    line.push(b'0' + (value % 10) as u8);
}

/// All dice of the model, ready to throw.
#[derive(Debug)]
pub(crate) struct Model {
    age: LoadedDie,
    race: Vec<LoadedDie>,
    abroad: Vec<LoadedDie>,
    schooling: Vec<[LoadedDie; 2]>,
    status: Vec<[LoadedDie; 2]>,
    occupation: Vec<[LoadedDie; 2]>,
    work_class: Vec<LoadedDie>,
    marital: Vec<[LoadedDie; 2]>,
}

impl Model {
    pub(crate) fn new() -> Model {
        Model {
            age: LoadedDie::new(&people::age_weights()),
            race: people::race_dice(),
            abroad: places::abroad_dice(),
            schooling: schooling::dice(),
            status: work::status_dice(),
            occupation: work::occupation_dice(),
            work_class: work::work_class_dice(),
            marital: people::marital_dice(),
        }
    }

    pub(crate) fn person(&self, random: &mut Random) -> Person {
        let age = self.age.throw(random);
        let sex = u8::from(!random.happens(people::FEMALE_SHARE[usize::from(age / 10)]));
        let race = self.race[people::race_band(age)].throw(random);
        let birthplace = self.birthplace(age, race, random);
        let born_abroad = usize::from(birthplace != places::HOME);
        let education = self.schooling[schooling::band(age)][born_abroad].throw(random);
        let occupation = self.occupation(age, sex, education, random);
        let work_class = self.work_class[usize::from(occupation)].throw(random);
        let marital_status = self.marital[people::marital_band(age)][usize::from(sex)].throw(random);
        let income = income::band(age, sex, education, occupation, random.bell());
        Person { age, sex, education, birthplace, occupation, race, work_class, marital_status, income }
    }

    fn birthplace(&self, age: u8, race: u8, random: &mut Random) -> u8 {
        let adults = places::BORN_ABROAD[usize::from(race)];
        let share = if age < work::FIRST_WORKING_AGE { adults * places::CHILD_BORN_ABROAD_TENTHS / 10 } else { adults };
        if random.happens(share) { self.abroad[usize::from(race)].throw(random) } else { places::HOME }
    }

    fn occupation(&self, age: u8, sex: u8, education: u8, random: &mut Random) -> u8 {
        if age < work::FIRST_WORKING_AGE {
            return work::CHILD;
        }
        let status = self.status[work::status_band(age)][usize::from(sex)].throw(random) + 1;
        if status < work::STATUSES {
            return status;
        }
        self.occupation[schooling::requirement(education)][usize::from(sex)].throw(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Model {
        /// The income scores of synthetic people, for setting the bands.
        pub(crate) fn scores_for_test(&self, rows: u64, score: fn(u8, u8, u8, u8, i32) -> i32) -> Vec<i32> {
            let mut random = Random::for_block(20, 26);
            (0..rows)
                .map(|_| {
                    let person = self.person(&mut random);
                    score(person.age, person.sex, person.education, person.occupation, random.bell())
                })
                .collect()
        }
    }

    #[test]
    fn a_person_becomes_one_plain_line() {
        let person = Person {
            age: 7,
            sex: 0,
            education: 3,
            birthplace: 0,
            occupation: work::CHILD,
            race: 2,
            work_class: 0,
            marital_status: 0,
            income: 49,
        };
        let mut line = Vec::new();
        person.write_line(&mut line);
        assert_eq!(
            std::str::from_utf8(&line).unwrap(),
            "7,Female,Grades 1 to 4,United States,Child,Asian,Not working,Never married,750\n"
        );
    }

    #[test]
    fn numbers_are_written_without_leading_zeros() {
        let mut line = Vec::new();
        for value in [0, 9, 10, 99, 100, 105, 750] {
            push_number(&mut line, value);
            line.push(b' ');
        }
        assert_eq!(line, b"0 9 10 99 100 105 750 ");
    }

    #[test]
    fn no_name_needs_quoting_or_outgrows_the_line() {
        let longest = |names: Vec<&str>| {
            assert!(names.iter().all(|name| !name.is_empty() && !name.contains([',', ';', '"', '\n'])));
            let mut distinct = names.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), names.len(), "a name occurs twice");
            names.iter().map(|name| name.len() + 1).max().unwrap()
        };
        let names = longest(people::SEXES.to_vec())
            + longest(people::RACES.to_vec())
            + longest(schooling::LEVELS.iter().map(|level| level.name).collect())
            + longest(places::COUNTRIES.iter().map(|country| country.name).collect())
            + longest(work::OCCUPATIONS.iter().map(|job| job.name).collect())
            + longest(work::WORK_CLASSES.iter().map(|class| class.0).collect())
            + longest(people::MARITAL_STATUSES.iter().map(|status| status.0).collect());
        assert!("99,".len() + names + "750\n".len() <= LINE_BYTES_MAX, "{names}");
    }
}
