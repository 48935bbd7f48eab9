//! Comparisons of single numbers: printed values, and several outcomes as one.

use hedgerow_report::pictures::short;

use crate::claim::ClaimOutcome;

/// A printed value, to the given number of decimal places.
pub(crate) fn prints(what: &str, found: f64, printed: f64, places: i32) -> ClaimOutcome {
    let unit = 10f64.powi(places);
    let same = (found * unit).round() == (printed * unit).round();
    if same { Ok(()) } else { Err(format!("{what} is {}, printed {}", short(found), short(printed))) }
}

/// A printed whole number.
pub(crate) fn counts(what: &str, found: u64, printed: u64) -> ClaimOutcome {
    if found == printed { Ok(()) } else { Err(format!("{what}: {found}, printed {printed}")) }
}

/// All of them, and the first contradiction; no outcomes say nothing.
pub(crate) fn all(outcomes: impl IntoIterator<Item = ClaimOutcome>) -> ClaimOutcome {
    let mut held = Err("nothing was compared".to_owned());
    for outcome in outcomes {
        outcome?;
        held = Ok(());
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_are_compared_to_their_digits() {
        assert!(prints("x", 0.3749, 0.37, 2).is_ok());
        assert_eq!(prints("x", 0.38, 0.37, 2).unwrap_err(), "x is 0.38, printed 0.37");
        assert!(prints("x", f64::NAN, 0.37, 2).is_err());
        assert!(counts("x", 3, 3).is_ok());
        assert_eq!(counts("x", 2, 3).unwrap_err(), "x: 2, printed 3");
    }

    #[test]
    fn all_need_one_and_name_the_first_that_fails() {
        assert!(all([]).is_err());
        assert!(all([Ok(()), Ok(())]).is_ok());
        assert_eq!(all([Ok(()), Err("b".into()), Err("c".into())]).unwrap_err(), "b");
    }
}
