//! Pairing the members of two views one to one: which pairs are in some pairing, and what that
//! leaves possible.
//!
//! Members whose values are certain on both sides can only pair with equal ones, so the views fall
//! apart into groups that are paired by themselves. In a group, a maximum flow of people along the
//! pairs that agree decides whether there is a pairing at all; a pair is in some pairing when it
//! carries people, or lies on a cycle of the residual network (Régin 1994).

use hashbrown::HashMap;

use super::views::{Possible, SubTableView, ViewMember};

/// Groups with more candidate pairs than this are only joined.
const PAIRS_MAX: usize = 40_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairingOutcome {
    Paired,
    OnlyJoined,
    Impossible,
}

/// Narrows the members of `first` to what their partners in `second` leave possible.
pub(super) fn narrow(views: &mut [SubTableView], first: usize, second: usize) -> PairingOutcome {
    let certain = certain(&views[first], &views[second]);
    let groups = groups(&views[first], &views[second], &certain);
    let mut outcome = PairingOutcome::Paired;
    for (ours, theirs) in groups {
        if ours.is_empty() != theirs.is_empty() {
            return PairingOutcome::Impossible;
        }
        let left: Vec<Vec<Option<Possible>>> = match partners(&views[first], &views[second], &ours, &theirs) {
            Some(Ok(partners)) => partners.iter().map(|partners| union(&views[second], partners)).collect(),
            Some(Err(())) => return PairingOutcome::Impossible,
            None => {
                outcome = PairingOutcome::OnlyJoined;
                vec![union(&views[second], &theirs)]
            }
        };
        for (&member, left) in ours.iter().zip(left.iter().cycle()) {
            if !keep(&mut views[first].members[member], left) {
                return PairingOutcome::Impossible;
            }
        }
    }
    outcome
}

/// Attributes of which every member of both views has one value only.
fn certain(first: &SubTableView, second: &SubTableView) -> Vec<usize> {
    let width = first.members.first().map_or(0, |member| member.possible.len());
    let known = |view: &SubTableView, attribute: usize| {
        let only = |member: &ViewMember| member.possible[attribute].as_ref().is_some_and(|set| set.only().is_some());
        view.members.iter().all(only)
    };
    (0..width).filter(|&attribute| known(first, attribute) && known(second, attribute)).collect()
}

type PairedGroup = (Vec<usize>, Vec<usize>);

fn groups(first: &SubTableView, second: &SubTableView, certain: &[usize]) -> Vec<PairedGroup> {
    let key = |member: &ViewMember| -> Vec<usize> {
        let only = |&attribute: &usize| member.possible[attribute].as_ref().and_then(Possible::only);
        certain.iter().map(|attribute| only(attribute).unwrap_or_default()).collect()
    };
    let mut groups: HashMap<Vec<usize>, PairedGroup> = HashMap::new();
    for (index, member) in first.members.iter().enumerate() {
        groups.entry(key(member)).or_default().0.push(index);
    }
    for (index, member) in second.members.iter().enumerate() {
        groups.entry(key(member)).or_default().1.push(index);
    }
    let mut groups: Vec<PairedGroup> = groups.into_values().collect();
    groups.sort_unstable();
    groups
}

fn agree(a: &ViewMember, b: &ViewMember) -> bool {
    a.possible.iter().zip(&b.possible).all(|pair| match pair {
        (Some(a), Some(b)) => a.meets(b),
        _ => true,
    })
}

/// For each of `ours` its possible partners; `None` when the group is too large, an error when
/// no pairing exists.
fn partners(
    first: &SubTableView,
    second: &SubTableView,
    ours: &[usize],
    theirs: &[usize],
) -> Option<Result<Vec<Vec<usize>>, ()>> {
    if ours.len().checked_mul(theirs.len()).is_none_or(|pairs| pairs > PAIRS_MAX) {
        return None;
    }
    let agreeing: Vec<Vec<usize>> = ours
        .iter()
        .map(|&our| {
            let agrees = |their: &usize| agree(&first.members[our], &second.members[theirs[*their]]);
            (0..theirs.len()).filter(agrees).collect()
        })
        .collect();
    let people =
        |view: &SubTableView, members: &[usize]| members.iter().map(|&member| view.members[member].people).collect();
    let mut flow = Flow::new(people(first, ours), people(second, theirs), agreeing);
    if !flow.pair_all() {
        return Some(Err(()));
    }
    let possible = flow.possible_pairs();
    Some(Ok(possible.into_iter().map(|theirs_of| theirs_of.into_iter().map(|their| theirs[their]).collect()).collect()))
}

/// For every attribute what some partner has; `None` where a partner can have anything.
fn union(view: &SubTableView, partners: &[usize]) -> Vec<Option<Possible>> {
    let mut union = view.members[partners[0]].possible.clone();
    for &partner in &partners[1..] {
        for (all, possible) in union.iter_mut().zip(&view.members[partner].possible) {
            match (all.as_mut(), possible) {
                (Some(all), Some(possible)) => all.join(possible),
                _ => *all = None,
            }
        }
    }
    union
}

/// False when an attribute has no value left.
fn keep(member: &mut ViewMember, possible: &[Option<Possible>]) -> bool {
    for (own, possible) in member.possible.iter_mut().zip(possible) {
        match (own.as_mut(), possible) {
            (Some(own), Some(possible)) => {
                own.keep(possible);
                if own.count() == 0 {
                    return false;
                }
            }
            (None, Some(possible)) => *own = Some(possible.clone()),
            (_, None) => {}
        }
    }
    true
}

/// People flowing from our members to theirs.
struct Flow {
    ours: Vec<u64>,
    theirs: Vec<u64>,
    agreeing: Vec<Vec<usize>>,
    /// Beside `agreeing`: people who go along each pair.
    along: Vec<Vec<u64>>,
    /// For each of theirs, who of ours could come, and where in `agreeing` that pair stands.
    coming: Vec<Vec<(usize, usize)>>,
}

impl Flow {
    fn new(ours: Vec<u64>, theirs: Vec<u64>, agreeing: Vec<Vec<usize>>) -> Flow {
        let along = agreeing.iter().map(|pairs| vec![0; pairs.len()]).collect();
        let mut coming = vec![Vec::new(); theirs.len()];
        for (our, pairs) in agreeing.iter().enumerate() {
            for (place, &their) in pairs.iter().enumerate() {
                coming[their].push((our, place));
            }
        }
        Flow { ours, theirs, agreeing, along, coming }
    }

    /// Whether every member finds a partner: augmenting paths, shortest first.
    fn pair_all(&mut self) -> bool {
        if self.ours.iter().sum::<u64>() != self.theirs.iter().sum::<u64>() {
            return false;
        }
        let mut open = self.theirs.clone();
        for our in 0..self.ours.len() {
            let mut waiting = self.ours[our];
            while waiting > 0 {
                let Some(sent) = self.augment(our, waiting, &mut open) else { return false };
                waiting -= sent;
            }
        }
        true
    }

    /// Sends some people from one member, moving others aside where needed.
    fn augment(&mut self, from: usize, waiting: u64, open: &mut [u64]) -> Option<u64> {
        let mut reached_by: Vec<Option<(usize, usize)>> = vec![None; self.theirs.len()];
        // How our members were reached: from whom of theirs, along which pair of ours.
        let mut back: Vec<Option<(usize, usize)>> = vec![None; self.ours.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        let mut end = None;
        'search: while let Some(our) = queue.pop_front() {
            for (place, &their) in self.agreeing[our].iter().enumerate() {
                if reached_by[their].is_some() {
                    continue;
                }
                reached_by[their] = Some((our, place));
                if open[their] > 0 {
                    end = Some(their);
                    break 'search;
                }
                for &(other, place) in &self.coming[their] {
                    if other != from && back[other].is_none() && self.along[other][place] > 0 {
                        back[other] = Some((their, place));
                        queue.push_back(other);
                    }
                }
            }
        }
        let end = end?;
        let mut path = Vec::new();
        let mut their = end;
        let mut most = waiting.min(open[end]);
        loop {
            let (our, place) = reached_by[their].expect("the path was followed here");
            path.push((our, place, true));
            if our == from {
                break;
            }
            let (before, place) = back[our].expect("the path was followed here");
            most = most.min(self.along[our][place]);
            path.push((our, place, false));
            their = before;
        }
        for (our, place, forward) in path {
            let along = &mut self.along[our][place];
            *along = if forward { *along + most } else { *along - most };
        }
        open[end] -= most;
        Some(most)
    }

    /// The pairs that carry people in some pairing: those that do now, and those within a cycle of
    /// the residual network.
    fn possible_pairs(&self) -> Vec<Vec<usize>> {
        let component = self.components();
        let ours = self.ours.len();
        let possible = |our: usize, place: usize, their: usize| {
            self.along[our][place] > 0 || component[our] == component[ours + their]
        };
        let pairs = self.agreeing.iter().enumerate();
        pairs
            .map(|(our, theirs)| {
                let kept = theirs.iter().enumerate().filter(|&(place, &their)| possible(our, place, their));
                kept.map(|(_, &their)| their).collect()
            })
            .collect()
    }

    /// Strongly connected components (Kosaraju): ours to theirs along every pair, back along those
    /// that carry people.
    fn components(&self) -> Vec<usize> {
        let (ours, nodes) = (self.ours.len(), self.ours.len() + self.theirs.len());
        let forward = |node: usize| -> Vec<usize> {
            if node < ours {
                self.agreeing[node].iter().map(|&their| ours + their).collect()
            } else {
                let carrying = self.coming[node - ours].iter().filter(|&&(our, place)| self.along[our][place] > 0);
                carrying.map(|&(our, _)| our).collect()
            }
        };
        let mut against: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for node in 0..nodes {
            forward(node).into_iter().for_each(|next| against[next].push(node));
        }
        let mut order = Vec::with_capacity(nodes);
        let mut seen = vec![false; nodes];
        for start in 0..nodes {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let mut stack = vec![(start, forward(start), 0)];
            while let Some((node, next, place)) = stack.last_mut() {
                match next.get(*place) {
                    Some(&next) => {
                        *place += 1;
                        if !std::mem::replace(&mut seen[next], true) {
                            stack.push((next, forward(next), 0));
                        }
                    }
                    None => {
                        order.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        let mut component = vec![usize::MAX; nodes];
        for &start in order.iter().rev() {
            if component[start] != usize::MAX {
                continue;
            }
            let mut stack = vec![start];
            component[start] = start;
            while let Some(node) = stack.pop() {
                for &next in &against[node] {
                    if component[next] == usize::MAX {
                        component[next] = start;
                        stack.push(next);
                    }
                }
            }
        }
        component
    }
}
