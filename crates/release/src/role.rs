//! The role of a column: what an attacker can do with it, and what becomes of it in a release.

use hedgerow_config::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Names a person; never released.
    Identifier,
    /// A quasi-identifier: an attacker may know it; generalized.
    Quasi,
    /// What an attacker must not learn.
    Sensitive,
    /// Released as it is.
    Plain,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Identifier, Role::Quasi, Role::Sensitive, Role::Plain];

    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::Quasi => "quasi",
            Role::Sensitive => "sensitive",
            Role::Plain => "plain",
        }
    }

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
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_those_of_the_table_of_words() {
        assert!(ROLES.iter().map(|word| word.name).eq(Role::ALL.map(Role::name)));
    }
}
