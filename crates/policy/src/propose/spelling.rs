//! The words that a name is made of, whatever the habit of writing: `dateOfBirth`, `DATE_OF_BIRTH`,
//! `date of birth`.

/// The words of a name, in small letters without accents: `dateOfBirth`, `ZIP_Code`, `Q10A` → `q`,
/// `10`, `a`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    let characters: Vec<char> = name.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let next_is_small = characters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let continues = before.is_some_and(|before| {
            let same_class = before.is_alphabetic() == character.is_alphabetic();
            let new_word =
                character.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
            same_class && !new_word
        });
        if !character.is_alphanumeric() {
            before = None;
            continue;
        }
        if !continues {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            fold(character, word);
        }
        before = Some(character);
    }
    words
}

fn fold(character: char, word: &mut String) {
    for small in character.to_lowercase() {
        match small {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => word.push('a'),
            'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => word.push('e'),
            'ì' | 'í' | 'î' | 'ï' => word.push('i'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => word.push('o'),
            'ù' | 'ú' | 'û' | 'ü' | 'ů' => word.push('u'),
            'ý' => word.push('y'),
            'ç' | 'č' | 'ć' => word.push('c'),
            'ñ' | 'ń' => word.push('n'),
            'ł' => word.push('l'),
            'ř' => word.push('r'),
            'š' | 'ś' => word.push('s'),
            'ž' | 'ź' | 'ż' => word.push('z'),
            'ß' => word.push_str("ss"),
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_case_digits_and_signs() {
        assert_eq!(words("dateOfBirth"), ["date", "of", "birth"]);
        assert_eq!(words("ZIPCode_2"), ["zip", "code", "2"]);
        assert_eq!(words("Größe (cm)"), ["grosse", "cm"]);
        assert_eq!(words("--"), [""; 0]);
    }
}
