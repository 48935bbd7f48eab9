//! The statements of cursors, as clients write them: DECLARE, FETCH and MOVE.

use sqlparser::tokenizer::Token;

use super::refusal::{FORWARD_ONLY, SYNTAX, StatementRefusal};
use super::tokens;

/// How many rows FETCH and MOVE take; nothing for all.
pub(super) type Count = Option<usize>;

/// The clause after FETCH or MOVE: the number of rows, and the cursor.
pub(super) fn read_fetch(tokens: &[Token]) -> Result<(String, Count), StatementRefusal> {
    let words: Vec<String> = tokens.iter().map(|token| tokens::word(Some(token))).collect();
    let word = |place: usize| words.get(place).map_or("", String::as_str);
    let number = |place: usize| match tokens.get(place) {
        Some(Token::Number(digits, _)) => digits.parse::<usize>().ok(),
        _ => None,
    };
    let direction = match word(0) {
        "PRIOR" | "BACKWARD" | "FIRST" | "LAST" | "ABSOLUTE" | "RELATIVE" => {
            return Err(StatementRefusal::new(FORWARD_ONLY, "a cursor moves forward only", "FETCH FORWARD 100 FROM …"));
        }
        "NEXT" => (Some(1), 1),
        "ALL" => (None, 1),
        "FORWARD" if word(1) == "ALL" => (None, 2),
        "FORWARD" if number(1).is_some() => (number(1), 2),
        "FORWARD" => (Some(1), 1),
        _ if number(0).is_some() => (number(0), 1),
        _ => (Some(1), 0),
    };
    let (count, at) = direction;
    let at = at + usize::from(matches!(word(at), "FROM" | "IN"));
    match (tokens::name(tokens.get(at)), tokens.len() - at.min(tokens.len())) {
        (Some(name), 1) => Ok((name, count)),
        _ => Err(StatementRefusal::new(SYNTAX, "no cursor is named", "FETCH FORWARD 100 FROM name")),
    }
}

/// The clause after DECLARE: the name, whether the cursor outlives its transaction, and the
/// SELECT.
pub(super) fn read_declare(tokens: &[Token]) -> Result<(String, bool, Vec<Token>), StatementRefusal> {
    let wrong = || StatementRefusal::new(SYNTAX, "this is not a cursor", "DECLARE name CURSOR FOR SELECT …");
    let name = tokens::name(tokens.first()).ok_or_else(wrong)?;
    let start = tokens.iter().position(|token| tokens::word(Some(token)) == "FOR").ok_or_else(wrong)?;
    let words: Vec<String> = tokens[1..start.max(1)].iter().map(|token| tokens::word(Some(token))).collect();
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    if has("BINARY") || has("SCROLL") && !has("NO") {
        return Err(StatementRefusal::unsupported("this kind of cursor", "DECLARE name NO SCROLL CURSOR FOR SELECT …"));
    }
    let known = ["ASENSITIVE", "INSENSITIVE", "NO", "SCROLL", "CURSOR", "WITH", "WITHOUT", "HOLD"];
    if !has("CURSOR") || words.iter().any(|word| !known.contains(&word.as_str())) {
        return Err(wrong());
    }
    Ok((name, has("HOLD") && has("WITH"), tokens[start + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::statements;
    use super::*;

    fn tokens(sql: &str) -> Vec<Token> {
        statements(sql).unwrap().swap_remove(0)[1..].to_vec()
    }

    #[test]
    fn the_forms_of_fetch_that_clients_send_are_read() {
        let fetch = |sql: &str| read_fetch(&tokens(sql)).unwrap();
        for (sql, count) in [
            ("FETCH FORWARD 100 FROM \"c 1\"", Some(100)),
            ("FETCH FORWARD ALL FROM \"c 1\"", None),
            ("fetch all in \"c 1\"", None),
            ("FETCH NEXT FROM \"c 1\"", Some(1)),
            ("FETCH 7 \"c 1\"", Some(7)),
            ("FETCH \"c 1\"", Some(1)),
            ("MOVE FORWARD 0 FROM \"c 1\"", Some(0)),
        ] {
            assert_eq!(fetch(sql), ("c 1".to_owned(), count), "{sql}");
        }
        for sql in ["FETCH PRIOR FROM c", "FETCH BACKWARD 5 FROM c", "FETCH FROM", "FETCH 5 FROM c d"] {
            assert!(read_fetch(&tokens(sql)).is_err(), "{sql}");
        }
    }

    #[test]
    fn the_forms_of_declare_that_clients_send_are_read() {
        let declare = |sql: &str| read_declare(&tokens(sql)).map(|(name, holds, select)| (name, holds, select.len()));
        assert_eq!(declare("DECLARE \"c\" CURSOR FOR SELECT 1").unwrap(), ("c".to_owned(), false, 2));
        assert_eq!(declare("DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1").unwrap(), ("c".to_owned(), true, 2));
        assert_eq!(declare("declare c cursor without hold for select 1").unwrap(), ("c".to_owned(), false, 2));
        for sql in ["DECLARE c SCROLL CURSOR FOR SELECT 1", "DECLARE CURSOR FOR", "DECLARE c FOR SELECT 1", "DECLARE c"]
        {
            assert!(declare(sql).is_err(), "{sql}");
        }
    }
}
