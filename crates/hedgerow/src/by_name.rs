//! Values by name, in a stated order.

use serde::{Serialize, Serializer};

/// A value for each name, such as the level of every quasi-identifier or the value of every loss
/// measure. The order is that of the policy or of the measures. Serialized, it is an object.
#[derive(Debug, Clone, PartialEq)]
pub struct ByName<T>(Vec<(String, T)>);

impl<T: Copy> ByName<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<T> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
    }

    /// Every name with its value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The values without their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = T> {
        self.0.iter().map(|&(_, value)| value)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(values: I) -> ByName<T> {
        ByName(values.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::ByName;

    #[test]
    fn names_stay_in_order_and_become_the_keys_of_an_object() {
        let levels: ByName<usize> = [("zip".to_owned(), 2), ("age".to_owned(), 1)].into_iter().collect();
        assert_eq!((levels.get("age"), levels.get("sex")), (Some(1), None));
        assert_eq!(serde_json::to_string(&levels).unwrap(), r#"{"zip":2,"age":1}"#);
    }
}
