//! The words that custodians in the ring pass on while they compute over values that they hold, for
//! programs that count claims about them. The machines are those that nodes run, and their messages
//! go through the encoding that nodes send; a [`Carrier`] brings them to their receivers.

use std::sync::Arc;

use super::values::{By, listen, values_probed};
use crate::baseline::{self, Chances, UnionInput};
use crate::burn::BurnBook;
use crate::coins::Coins;
use crate::extremes::Extremes;
use crate::fault::Fault;
use crate::median::Medians;
use crate::message::{Body, Item};
use crate::roster::{Question, Roster};
use crate::simulate::{Carrier, Delivery};
use crate::sum::Sums;

/// A custodian's own word for a greatest value, 0 where it has no value, and the word that it
/// passed on in each pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardExtreme {
    pub own: u64,
    pub passed_on: Vec<u64>,
}

/// A custodian's own term of a sum, and the word that it passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardTerm {
    pub own: u64,
    pub passed_on: u64,
}

/// Items on their way from one custodian to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardItems {
    pub from: usize,
    pub to: usize,
    pub items: Vec<Item>,
}

/// By custodian, for least values, which are greatest ones turned round, and for greatest ones.
/// `ends` are the least and the greatest value of each custodian, below `domain`.
pub fn hear_extremes(
    ends: &[Option<(u64, u64)>],
    domain: u64,
    chances: Chances,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<[Vec<HeardExtreme>; 2], Fault> {
    let inquiries = ends.iter().map(|own| Extremes::new(vec![*own], domain)).collect();
    let (_, heard) = listen(inquiries, By::Ring(chances), carrier, coins)?;
    let lane = |lane: usize| {
        let of = |(custodian, own): (usize, &Option<(u64, u64)>)| {
            let own = own.map_or(0, |(low, high)| [domain - low, high + 1][lane]);
            let passes = 0..heard.passes(custodian);
            HeardExtreme { own, passed_on: passes.filter_map(|pass| heard.word(custodian, pass, lane)).collect() }
        };
        ends.iter().enumerate().map(of).collect()
    };
    Ok([lane(0), lane(1)])
}

/// Two sums at once, as of the sizes of both sides of a cut: the totals, and terms by custodian and
/// sum.
pub fn hear_sums(
    own: &[[u64; 2]],
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<(Vec<u64>, Vec<HeardTerm>), Fault> {
    let inquiries = own.iter().map(|own| Sums::new(own.to_vec())).collect();
    let (concluded, heard) = listen(inquiries, By::Ring(Chances::default()), carrier, coins)?;
    let mut terms = Vec::with_capacity(2 * own.len());
    for (custodian, own) in own.iter().enumerate() {
        for (lane, &own) in own.iter().enumerate() {
            terms.extend(heard.word(custodian, 0, lane).map(|passed_on| HeardTerm { own, passed_on }));
        }
    }
    Ok((concluded.output, terms))
}

/// The sums by which a median is found, one after the other: how many values there are, and how
/// many lie at or below each probe. The median, and the terms by custodian.
pub fn hear_median(
    own: &[Vec<u64>],
    domain: u64,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<(Option<u64>, Vec<HeardTerm>), Fault> {
    let inquiries = own.iter().map(|own| Medians::new(vec![(own.clone(), domain)])).collect();
    let (concluded, heard) = listen(inquiries, By::Ring(Chances::default()), carrier, coins)?;
    let probes = values_probed(domain, &concluded);
    let mut terms = Vec::with_capacity(own.len() * (probes.len() + 1));
    for (custodian, values) in own.iter().enumerate() {
        let below = probes.iter().map(|&probe| values.iter().filter(|&&value| value <= probe).count() as u64);
        for (ask, own) in std::iter::once(values.len() as u64).chain(below).enumerate() {
            terms.extend(heard.word(custodian, ask, 0).map(|passed_on| HeardTerm { own, passed_on }));
        }
    }
    Ok((concluded.output.first().copied().flatten(), terms))
}

/// The union of items, repetitions kept: the leader's first, what comes back to it last.
pub fn hear_union(
    owned: &[Vec<Item>],
    domain: &Arc<[Item]>,
    dummy_items: usize,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<Vec<HeardItems>, Fault> {
    let roster = Roster::numbered(owned.len())?;
    let mut session = [0; 16];
    coins.fill(&mut session);
    let mut starts = Vec::with_capacity(owned.len());
    for (me, items) in owned.iter().enumerate() {
        let permit = BurnBook::default().permit(session, Question::new("lop", &session), &roster)?;
        let input = UnionInput { items: items.clone(), domain: Arc::clone(domain), dummy_items };
        let own = Coins::danger_from_seed(coins.word());
        starts.push(baseline::start_union(permit, me as u16, input, Chances::default(), own)?);
    }
    let mut heard = Vec::with_capacity(owned.len());
    let mut watcher = |delivery: &Delivery| {
        if let Body::UnionItems(items) = &delivery.message.body {
            let (from, to) = (usize::from(delivery.message.sender), usize::from(delivery.to));
            heard.push(HeardItems { from, to, items: items.clone() });
        }
    };
    carrier.carry(starts, coins.word(), &mut watcher)?;
    Ok(heard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::InOneProcess;

    #[test]
    fn everyone_passes_on_a_word_in_each_pass_and_the_last_is_the_greatest() {
        let mut coins = Coins::danger_from_seed(1);
        let ends = [Some((3, 5)), None, Some((1, 8)), Some((4, 4))];
        let [least, greatest] = hear_extremes(&ends, 10, Chances::default(), &mut InOneProcess, &mut coins).unwrap();
        let own = |heard: &[HeardExtreme]| heard.iter().map(|one| one.own).collect::<Vec<_>>();
        assert_eq!((own(&least), own(&greatest)), (vec![7, 0, 9, 6], vec![6, 0, 9, 5]));
        for heard in [least, greatest] {
            assert!(heard.iter().all(|one| one.passed_on.len() == 6), "{heard:?}");
            assert!(heard.iter().all(|one| one.passed_on[5] >= one.own && one.passed_on.is_sorted()), "{heard:?}");
            assert!(heard.iter().any(|one| one.passed_on[5] == 9), "{heard:?}");
        }
    }

    #[test]
    fn both_sums_of_all_custodians_are_heard_and_hidden() {
        let mut coins = Coins::danger_from_seed(5);
        let (totals, terms) = hear_sums(&[[3, 4], [0, 7], [5, 0]], &mut InOneProcess, &mut coins).unwrap();
        assert_eq!(totals, [8, 11]);
        assert_eq!(terms.iter().map(|term| term.own).collect::<Vec<_>>(), [3, 4, 0, 7, 5, 0]);
        assert!(terms.iter().all(|term| term.passed_on != term.own), "{terms:?}");
        // From one custodian to the next, the words grow by what the next one has; between the last
        // and the first lies the mask.
        let words = |lane: usize| terms.iter().skip(lane).step_by(2).map(|term| (term.own, term.passed_on));
        for lane in [0, 1] {
            let follows = |&(_, before): &(u64, u64)| words(lane).any(|(own, after)| after == before.wrapping_add(own));
            assert!(words(lane).collect::<Vec<_>>().iter().filter(|one| follows(one)).count() >= 2, "{terms:?}");
        }
    }

    #[test]
    fn terms_of_sums_are_hidden_and_those_that_are_passed_on_are_counts() {
        let mut coins = Coins::danger_from_seed(2);
        let (median, terms) =
            hear_median(&[vec![0, 1, 1], vec![], vec![3, 3]], 4, &mut InOneProcess, &mut coins).unwrap();
        assert_eq!(median, Some(1));
        // Five values; at or below 1 there are three, so the median is at most 1; below it one.
        let own: Vec<u64> = terms.iter().map(|term| term.own).collect();
        assert_eq!(own, [3, 3, 1, 0, 0, 0, 2, 0, 0]);
        assert!(terms.iter().all(|term| term.passed_on != term.own), "{terms:?}");
    }

    #[test]
    fn items_grow_around_the_ring_and_keep_repetitions() {
        let mut coins = Coins::danger_from_seed(3);
        let item = |value: u8| vec![value];
        let owned = [vec![item(1), item(1)], vec![item(2)], vec![]];
        let domain: Arc<[Item]> = (0..9).map(item).collect();
        for dummy_items in [0, 2] {
            let heard = hear_union(&owned, &domain, dummy_items, &mut InOneProcess, &mut coins).unwrap();
            assert_eq!(heard.len(), 3);
            let mut sent = dummy_items;
            for passed in &heard {
                sent += owned[passed.from].len();
                assert_eq!(passed.items.len(), sent, "{heard:?}");
            }
            assert_eq!(heard[2].to, heard[0].from, "what comes back");
            assert!(heard[2].items.iter().filter(|one| **one == item(1)).count() >= 2);
        }
    }
}
