//! Occupation and work class: first whether a person works at all, by age and sex; then what they
//! do, by schooling and sex, with a few large occupations and many small ones; then for whom.

use crate::chance::LoadedDie;

use Employer::{Army, Companies, Mixed, OwnBusiness, Public, Unpaid};

/// Major groups of occupations and the broad group each belongs to.
pub(crate) const GROUPS: [(&str, &str); 12] = [
    ("Not yet at work", "Not working"),
    ("No longer or not at work", "Not working"),
    ("Leading", "Desk work"),
    ("Office and finance", "Desk work"),
    ("Science and technology", "Desk work"),
    ("Teaching and culture", "Work with people"),
    ("Health and social care", "Work with people"),
    ("Sales and service", "Work with people"),
    ("Protection", "Work with people"),
    ("Building and repair", "Manual work"),
    ("Making and moving", "Manual work"),
    ("Land", "Manual work"),
];

pub(crate) struct Occupation {
    pub(crate) name: &'static str,
    /// Index into [`GROUPS`].
    pub(crate) group: usize,
    /// How common it is before schooling and sex are known.
    common: u64,
    /// How it takes people without a diploma, with high school, some college, a bachelor degree,
    /// and more.
    takes: [u64; 5],
    /// Women per 100 at work there.
    women: u64,
    /// Its contribution to the income score.
    pub(crate) pay: i32,
    employer: Employer,
}

/// The employers of an occupation.
#[derive(Debug, Clone, Copy)]
enum Employer {
    Unpaid,
    Companies,
    Public,
    Mixed,
    OwnBusiness,
    Army,
}

const fn job(
    (name, group): (&'static str, usize),
    common: u64,
    takes: [u64; 5],
    women: u64,
    pay: i32,
    employer: Employer,
) -> Occupation {
    Occupation { name, group, common, takes, women, pay, employer }
}

const fn without(name: &'static str, group: usize, pay: i32) -> Occupation {
    job((name, group), 0, [0; 5], 50, pay, Unpaid)
}

/// The first [`STATUSES`] are ways of not working; the others fall roughly as Zipf has it.
pub(crate) const OCCUPATIONS: [Occupation; 50] = [
    without("Child", 0, 0),
    without("Student", 0, -250),
    without("Homemaker", 1, -200),
    without("Retired", 1, -150),
    without("Unable to work", 1, -500),
    without("Seeking work", 1, -450),
    job(("Shop assistant", 7), 100, [9, 10, 8, 3, 1], 54, -220, Companies),
    job(("Office clerk", 3), 78, [2, 8, 10, 5, 1], 78, -60, Mixed),
    job(("Driver", 10), 66, [9, 10, 5, 1, 0], 10, -40, Companies),
    job(("Manager", 2), 60, [1, 4, 7, 12, 12], 42, 420, Companies),
    job(("Cook", 7), 55, [10, 8, 4, 1, 0], 42, -280, Companies),
    job(("Cleaner", 7), 51, [12, 7, 3, 1, 0], 58, -300, Companies),
    job(("Nurse", 6), 48, [0, 1, 12, 12, 6], 88, 260, Mixed),
    job(("Teacher", 5), 46, [0, 0, 1, 11, 14], 75, 120, Public),
    job(("Labourer", 9), 44, [12, 8, 3, 1, 0], 5, -120, Companies),
    job(("Customer adviser", 3), 40, [3, 9, 10, 5, 1], 66, -140, Companies),
    job(("Waiter", 7), 37, [9, 9, 7, 2, 0], 69, -320, Companies),
    job(("Production worker", 10), 34, [11, 9, 4, 1, 0], 36, -90, Companies),
    job(("Care assistant", 6), 33, [8, 9, 7, 1, 0], 86, -260, Mixed),
    job(("Secretary", 3), 31, [1, 8, 10, 4, 1], 93, -40, Mixed),
    job(("Warehouse worker", 10), 30, [11, 9, 4, 1, 0], 24, -170, Companies),
    job(("Accountant", 3), 28, [0, 1, 4, 13, 10], 60, 260, Companies),
    job(("Software developer", 4), 27, [0, 1, 4, 13, 11], 20, 520, Companies),
    job(("Mechanic", 9), 26, [8, 10, 6, 1, 0], 3, 20, Companies),
    job(("Sales representative", 7), 25, [1, 6, 8, 9, 2], 32, 210, Companies),
    job(("Carpenter", 9), 22, [10, 8, 4, 1, 0], 3, -20, OwnBusiness),
    job(("Machine operator", 10), 20, [10, 9, 3, 1, 0], 28, -40, Companies),
    job(("Security guard", 8), 19, [5, 9, 7, 2, 0], 24, -180, Companies),
    job(("Engineer", 4), 18, [0, 0, 3, 13, 12], 15, 470, Companies),
    job(("Teaching assistant", 5), 17, [2, 7, 9, 5, 2], 88, -290, Public),
    job(("Childcare worker", 6), 16, [6, 8, 8, 4, 1], 95, -340, OwnBusiness),
    job(("Electrician", 9), 15, [3, 9, 9, 1, 0], 2, 160, Companies),
    job(("Farm worker", 11), 14, [14, 5, 2, 1, 0], 22, -300, Companies),
    job(("Technician", 4), 13, [1, 5, 11, 6, 2], 35, 150, Companies),
    job(("Site supervisor", 9), 12, [5, 9, 6, 3, 1], 4, 260, Companies),
    job(("Hairdresser", 7), 11, [4, 9, 7, 1, 0], 91, -230, OwnBusiness),
    job(("Consultant", 3), 10, [0, 1, 2, 11, 14], 44, 480, OwnBusiness),
    job(("Executive", 2), 10, [0, 2, 4, 11, 14], 28, 820, Companies),
    job(("Social worker", 6), 9, [0, 1, 4, 11, 13], 80, 0, Public),
    job(("Farmer", 11), 9, [6, 9, 6, 3, 1], 26, 30, OwnBusiness),
    job(("Police officer", 8), 8, [0, 5, 10, 7, 2], 16, 260, Public),
    job(("Lawyer", 3), 8, [0, 0, 0, 1, 24], 38, 740, OwnBusiness),
    job(("Physician", 6), 8, [0, 0, 0, 1, 26], 38, 950, Mixed),
    job(("Plumber", 9), 8, [6, 10, 6, 0, 0], 2, 140, OwnBusiness),
    job(("Designer", 5), 7, [0, 2, 6, 11, 5], 52, 90, OwnBusiness),
    job(("Scientist", 4), 6, [0, 0, 1, 7, 18], 45, 330, Mixed),
    job(("Professor", 5), 6, [0, 0, 0, 3, 24], 48, 300, Public),
    job(("Soldier", 8), 5, [0, 9, 10, 4, 1], 15, 110, Army),
    job(("Artist", 5), 5, [1, 4, 7, 9, 5], 47, -120, OwnBusiness),
    job(("Pharmacist", 6), 4, [0, 0, 1, 6, 18], 56, 620, Companies),
];

/// How many of [`OCCUPATIONS`] are ways of not working, [`CHILD`] among them.
pub(crate) const STATUSES: u8 = 6;
pub(crate) const CHILD: u8 = 0;
pub(crate) const FIRST_WORKING_AGE: u8 = 15;

/// The first age of each row of the two tables below.
const STATUS_FROM_AGE: [u8; 8] = [15, 18, 22, 30, 50, 62, 67, 75];

/// Weights for student, homemaker, retired, unable to work, seeking work, and at work.
const STATUS_OF_WOMEN: [[u64; 6]; 8] = [
    [835, 10, 0, 5, 40, 110],
    [430, 55, 0, 12, 63, 440],
    [110, 120, 0, 20, 50, 700],
    [20, 185, 1, 45, 34, 715],
    [6, 140, 45, 100, 29, 680],
    [2, 115, 370, 90, 15, 408],
    [0, 75, 700, 50, 5, 170],
    [0, 60, 850, 55, 1, 34],
];
const STATUS_OF_MEN: [[u64; 6]; 8] = [
    [850, 2, 0, 6, 44, 98],
    [385, 6, 0, 14, 85, 510],
    [90, 9, 0, 24, 62, 815],
    [13, 17, 1, 45, 39, 885],
    [3, 17, 45, 105, 35, 795],
    [1, 15, 340, 95, 19, 530],
    [0, 10, 695, 45, 8, 242],
    [0, 8, 885, 42, 1, 64],
];

pub(crate) fn status_band(age: u8) -> usize {
    STATUS_FROM_AGE.partition_point(|&from| from <= age).saturating_sub(1)
}

/// Indexed by [`status_band`], then by sex. Sides 0 to 4 are the occupations 1 to 5; side 5 is
/// work.
pub(crate) fn status_dice() -> Vec<[LoadedDie; 2]> {
    STATUS_OF_WOMEN
        .iter()
        .zip(&STATUS_OF_MEN)
        .map(|(women, men)| [LoadedDie::new(women), LoadedDie::new(men)])
        .collect()
}

/// For those who work: indexed by what their schooling opens to them, then by sex; sides are
/// [`OCCUPATIONS`].
pub(crate) fn occupation_dice() -> Vec<[LoadedDie; 2]> {
    (0..5)
        .map(|requirement| {
            let weights = |share: fn(u64) -> u64| -> Vec<u64> {
                OCCUPATIONS.iter().map(|job| job.common * job.takes[requirement] * share(job.women)).collect()
            };
            [LoadedDie::new(&weights(|women| women)), LoadedDie::new(&weights(|women| 100 - women))]
        })
        .collect()
}

/// Name, and the group it falls under in the hierarchy.
pub(crate) const WORK_CLASSES: [(&str, &str); 8] = [
    ("Not working", "No employer"),
    ("Private company", "Private"),
    ("Non-profit", "Private"),
    ("Self-employed", "Private"),
    ("Family work unpaid", "No employer"),
    ("Local government", "Government"),
    ("State government", "Government"),
    ("Federal government", "Government"),
];

/// Indexed by occupation: weights in the order of [`WORK_CLASSES`].
pub(crate) fn work_class_dice() -> Vec<LoadedDie> {
    OCCUPATIONS
        .iter()
        .map(|job| {
            LoadedDie::new(&match job.employer {
                Unpaid => [1, 0, 0, 0, 0, 0, 0, 0],
                Companies => [0, 860, 40, 70, 2, 13, 9, 6],
                Public => [0, 160, 80, 10, 0, 520, 190, 40],
                Mixed => [0, 590, 180, 40, 1, 90, 65, 34],
                OwnBusiness => [0, 420, 30, 500, 22, 14, 8, 6],
                Army => [0, 0, 0, 0, 0, 0, 60, 940],
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ways_of_not_working_have_no_employer() {
        for (index, job) in OCCUPATIONS.iter().enumerate() {
            assert_eq!(matches!(job.employer, Unpaid), index < usize::from(STATUSES), "{}", job.name);
            assert_eq!(job.common == 0, index < usize::from(STATUSES), "{}", job.name);
        }
    }

    #[test]
    fn every_group_has_an_occupation() {
        for (index, (name, _)) in GROUPS.iter().enumerate() {
            assert!(OCCUPATIONS.iter().any(|job| job.group == index), "{name} is empty");
        }
    }
}
