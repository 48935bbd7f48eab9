//! The role of a column: what the attribute is to an attacker, and what becomes of it in a release.

use hedgerow_config::Word;

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Names a person; never released.
    Identifier,
    /// A quasi-identifier: an attacker may know it; generalized.
    Quasi,
    /// An attribute that an attacker must not learn.
    Sensitive,
    /// Released as it is.
    Plain,
    /// Says which rows are about one individual, household or firm; never released as it is.
    Unit,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 5] = [Role::Identifier, Role::Quasi, Role::Sensitive, Role::Plain, Role::Unit];

    /// The name in a policy and a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::Quasi => "quasi",
            Role::Sensitive => "sensitive",
            Role::Plain => "plain",
            Role::Unit => "unit",
        }
    }

    /// Whether its values, or labels for them, are part of a release.
    pub fn is_released(self) -> bool {
        !matches!(self, Role::Identifier | Role::Unit)
    }

    /// The role with a name.
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// As files name them.
pub const ROLES: &[Word] = &[
    Word::value("identifier", "names a person; never released").also(&["id", "key", "direct-identifier"]),
    Word::value("quasi", "a quasi-identifier: an attacker may know it; generalized")
        .accepts(&["quasi-identifier", "qi"])
        .also(&["qid", "quasi-identifying"]),
    Word::value("sensitive", "what an attacker must not learn").also(&["confidential", "private", "secret"]),
    Word::value("plain", "released as it is").also(&["insensitive", "non-sensitive", "public", "other"]),
    Word::value(
        "unit",
        "says which rows are about one individual, household or firm: guarantees count units, not rows",
    )
    .also(&["individual", "person", "subject", "household", "cluster-id"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_those_of_the_table_of_words() {
        assert!(ROLES.iter().map(|word| word.name).eq(Role::ALL.map(Role::name)));
    }
}
