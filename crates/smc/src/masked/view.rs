//! The view of a coalition: the vectors of a masked run, minus every mask that its members
//! share with those outside. For tests of what a run discloses.

use super::keys::{KeyPair, Keyring};
use super::transcript::Transcript;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::RunPlace;
use crate::limits::RunLimits;
use crate::message::{Body, Digest, Message};
use crate::roster::Roster;

/// The rest of one vector from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residual {
    pub round: u32,
    pub sender: u16,
    pub words: Vec<u64>,
}

/// A guess of a coalition, besides its own keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    Nothing,
    /// That the secret of two others is all zeros.
    NoSecret,
}

/// `messages` are those of a whole run, one copy of each; `members` are the coalition's places with
/// the coins that they started with.
pub fn residuals(
    messages: &[Message],
    roster: &Roster,
    members: Vec<(u16, Coins)>,
    guess: Guess,
) -> Result<Vec<Residual>, Fault> {
    let count = roster.count() as u16;
    let Some(first) = messages.first() else { return Ok(Vec::new()) };
    let place =
        |me| RunPlace { session: first.session, question: first.question, me, count, limits: RunLimits::default() };
    let roster = roster.digest();
    let mut publics = vec![[0; 32]; usize::from(count)];
    for message in messages {
        if let Body::Key(public) = &message.body {
            publics[usize::from(message.sender)] = *public;
        }
    }
    let mut keyrings = Vec::new();
    for (member, mut coins) in members {
        let keys = KeyPair::draw(&mut coins);
        keyrings.push((member, Keyring::agree(&keys, &publics, place(member), &roster)?));
    }
    let inside = |one: u16| keyrings.iter().any(|(member, _)| *member == one);
    let mut transcript = Transcript::new(count);
    let mut residuals = Vec::new();
    let last = messages.iter().map(|message| message.round).max().unwrap_or(0);
    for round in 0..=last {
        let before = transcript.digest();
        let of_round = |sender: u16| messages.iter().find(|one| one.round == round && one.sender == sender);
        let all: Vec<&Message> = (0..count).filter_map(of_round).collect();
        for message in &all {
            let sender = message.sender;
            let Body::Masked { words, .. } = &message.body else { continue };
            if inside(sender) {
                continue;
            }
            let mut words = words.clone();
            let mut less = |mask: Vec<u64>| {
                words.iter_mut().zip(mask).for_each(|(word, mask)| *word = word.wrapping_sub(mask));
            };
            for (member, keyring) in &keyrings {
                let position = usize::from(sender) - usize::from(sender > *member);
                less(keyring.as_applied_by(position, round, &before, message_words(message))?);
            }
            if guess == Guess::NoSecret {
                for other in (0..count).filter(|other| *other != sender && !inside(*other)) {
                    let keyring = Keyring::guess(&publics, place(other), sender, &roster, [0; 32]);
                    less(keyring.as_applied_by(0, round, &before, message_words(message))?);
                }
            }
            residuals.push(Residual { round, sender, words });
        }
        let digests: Vec<Digest> = all.iter().map(|message| message.digest()).collect();
        transcript.extend(&digests);
    }
    Ok(residuals)
}

fn message_words(message: &Message) -> usize {
    match &message.body {
        Body::Masked { words, .. } => words.len(),
        _ => 0,
    }
}
