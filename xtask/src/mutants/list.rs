//! The mistakes: each was made once, or could be, and every other test passed.

use super::Mutant;

const SMC: &[&str] = &["-p", "hedgerow-smc", "--lib"];
const NODE: &[&str] = &["-p", "hedgerow-node", "--test", "it", "--", "trust::", "byzantine::"];
const NODE_UNIT: &[&str] = &["-p", "hedgerow-node", "--lib"];
const QUESTIONS: &[&str] = &["-p", "hedgerow-node", "--test", "it", "--", "contradictions::"];
const PINNING: &[&str] = &["-p", "hedgerow-node", "--test", "it", "--", "pinning::"];
const RESTORED: &[&str] = &["-p", "hedgerow-node", "--test", "it", "--", "restored::"];
const AGREEMENT: &[&str] = &["-p", "hedgerow-joint", "--test", "it", "--", "agreement::"];

pub(super) const MUTANTS: &[Mutant] = &[
    // What custodians learn of each other.
    Mutant {
        name: "flags plain",
        file: "crates/smc/src/masked/run.rs",
        find: "keyring.mask(self.round, &self.transcript.digest())?.cover(&mut words);",
        replace: "let counts = words.len() - layout.flags.len();\n        \
                  keyring.mask(self.round, &self.transcript.digest())?.cover(&mut words[..counts]);",
        tests: SMC,
    },
    Mutant {
        name: "no masks after round 1",
        file: "crates/smc/src/masked/run.rs",
        find: "keyring.mask(self.round, &self.transcript.digest())?.cover(&mut words);",
        replace: "let mask = keyring.mask(self.round, &self.transcript.digest())?;\n        \
                  if self.round <= 1 {\n            mask.cover(&mut words);\n        }",
        tests: SMC,
    },
    Mutant {
        name: "shuffle rotates",
        file: "crates/smc/src/masked/shuffle.rs",
        find: "        self.coins.shuffle(&mut stripped);",
        replace: "        let by = self.coins.below(stripped.len().max(1) as u64) as usize;\n        \
                  stripped.rotate_left(by);",
        tests: SMC,
    },
    Mutant {
        name: "own rows not looked for in lists",
        file: "crates/smc/src/masked/shuffle.rs",
        find: "if own.iter().any(|hash| list.binary_search(hash).is_err()) {",
        replace: "if own.is_empty() && !list.is_empty() && self.batch > 0 {",
        tests: SMC,
    },
    // What is approved.
    Mutant {
        name: "digest without rows limit",
        file: "crates/joint/src/digest.rs",
        find: "self.numbers([rounds_max, words_max, rows_max, parts_max,",
        replace: "self.numbers([rounds_max, words_max, rows_max & 0, parts_max,",
        tests: AGREEMENT,
    },
    Mutant {
        name: "digest without rule levels",
        file: "crates/joint/src/digest.rs",
        find: "levels.iter().for_each(|level| self.numbers(",
        replace: "levels.iter().take(0).for_each(|level| self.numbers(",
        tests: AGREEMENT,
    },
    Mutant {
        name: "digest without apart",
        file: "crates/joint/src/digest.rs",
        find: "[carries, strict, tight, apart].map(",
        replace: "[carries, strict, tight, tight].map(|flag| { let _ = apart; flag }).map(",
        tests: AGREEMENT,
    },
    Mutant {
        name: "missing value always counts",
        file: "crates/joint/src/part.rs",
        find: "axis.extent_without(*people, *absent) * weight",
        replace: "axis.extent_without(*people, absent.filter(|_| false)) * weight",
        tests: &["-p", "hedgerow-joint", "--test", "it", "--", "equality::"],
    },
    Mutant {
        name: "approval without proposal",
        file: "crates/node/src/message.rs",
        find: "        hash.update(self.digest());\n",
        replace: "",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "any later epoch",
        file: "crates/node/src/hearing.rs",
        find: "Some(epoch) == last.checked_add(1)",
        replace: "epoch > last",
        tests: NODE,
    },
    // Who is believed.
    Mutant {
        name: "signatures not verified",
        file: "crates/node/src/node.rs",
        find: "(peer.role, signed.verifies(&peer.member.signing_key))",
        replace: "(peer.role, true)",
        tests: NODE,
    },
    Mutant {
        name: "certificate not verified",
        file: "crates/node/src/hearing.rs",
        find: "\n            && certificate.holds()\n    }",
        replace: "\n    }",
        tests: NODE,
    },
    Mutant {
        name: "certificate needs one signature",
        file: "crates/node/src/certificate.rs",
        find: "roster.iter().zip(&self.signatures).all(signed)",
        replace: "roster.iter().zip(&self.signatures).any(signed)",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "certificate of a roster of one",
        file: "crates/node/src/certificate.rs",
        find: "self.proposal.roster().is_ok()",
        replace: "self.proposal.roster().is_ok() | true",
        tests: NODE,
    },
    Mutant {
        name: "another's reason is taken over",
        file: "crates/node/src/message.rs",
        find: "if inner.statement.gives_up().is_some() => (**because).clone(),",
        replace: "if !inner.signature.0.is_empty() => (**because).clone(),",
        tests: NODE,
    },
    Mutant {
        name: "an operator who gives up is blamed",
        file: "crates/node/src/statement.rs",
        find: "*prepared || matches!(own, Note::Staged { .. })",
        replace: "*prepared && matches!(own, Note::Staged { .. })",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "one far ahead hides the others",
        file: "crates/node/src/evidence.rs",
        find: "rounds.get(1).or(rounds.first())",
        replace: "rounds.first()",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "a question is taken up again after a restart",
        file: "crates/node/src/answering.rs",
        find: "_ if self.questions.before.contains(&id) =>",
        replace: "_ if self.questions.before.len() > 1 << 40 =>",
        tests: QUESTIONS,
    },
    Mutant {
        name: "contradictions in answers are not looked for",
        file: "crates/node/src/question_blame.rs",
        find: "find_map(|(place, signed)| evidence.add(place, signed));",
        replace: "find_map(|(place, signed)| evidence.add(place, signed).filter(|_| false));",
        tests: QUESTIONS,
    },
    Mutant {
        name: "aborted is believed when prepared",
        file: "crates/node/src/hearing.rs",
        find: "                open.in_doubt = true;\n                self.leave_doubt()",
        replace: "                self.abort(&why)",
        tests: NODE,
    },
    Mutant {
        name: "another release is prepared",
        file: "crates/node/src/proceeding.rs",
        find: "if let Some(other) = open.stages_otherwise() {",
        replace: "if let Some(other) = open.stages_otherwise().filter(|_| false) {",
        tests: NODE,
    },
    Mutant {
        name: "proof with one signature",
        file: "crates/node/src/statement.rs",
        find: "            && self.one.verifies(key)\n",
        replace: "",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "accusation is believed",
        file: "crates/node/src/blame.rs",
        find: "if known && proof.run == run && proof.holds()",
        replace: "if known && proof.run == run",
        tests: NODE,
    },
    // The journal.
    Mutant {
        name: "head not verified",
        file: "crates/node/src/disk.rs",
        find: "same && hedgerow_smc::verifies(key, &head_bytes(number, &hash), &signature)",
        replace: "same || hedgerow_smc::verifies(key, &head_bytes(number, &hash), &signature) || number > 0",
        tests: NODE,
    },
    Mutant {
        name: "peers' heads ignored",
        file: "crates/node/src/heads.rs",
        find: "        self.replaced = Some(why);",
        replace: "        drop(why);",
        tests: NODE,
    },
    Mutant {
        name: "one peer confirms a journal",
        file: "crates/node/src/heads.rs",
        find: "let settled = custodians.all(",
        replace: "let settled = custodians.any(",
        tests: RESTORED,
    },
    Mutant {
        name: "an older copy denies a run",
        file: "crates/node/src/heads.rs",
        find: "self.may_answer() && self.heads_heard.contains(to)",
        replace: "self.may_answer() || !to.is_empty()",
        tests: RESTORED,
    },
    Mutant {
        name: "a peer that was away is denied a run",
        file: "crates/node/src/heads.rs",
        find: "self.may_answer() && self.heads_heard.contains(to)",
        replace: "self.may_answer() && !to.is_empty()",
        tests: RESTORED,
    },
    Mutant {
        name: "the run that a node joined is not looked up",
        file: "crates/node/src/heads.rs",
        find: ".filter(|run| !self.ended.contains_key(run) && !is_open(run));",
        replace: ".filter(|run| !self.ended.contains_key(run) && is_open(run));",
        tests: RESTORED,
    },
    Mutant {
        name: "heads after a run are forgotten by a restart",
        file: "crates/node/src/heads.rs",
        find: "            self.note(What::Kept, None, from, json!({ \"signed\": signed }));\n",
        replace: "",
        tests: RESTORED,
    },
    Mutant {
        name: "a step begins before peers have confirmed the journal",
        file: "crates/node/src/proceeding.rs",
        find: "Ok(true) if !open.others().all(",
        replace: "Ok(true) if open.others().count() == 0 && !open.others().all(",
        tests: RESTORED,
    },
    Mutant {
        name: "a restart tells an older copy's end of a run",
        file: "crates/node/src/node.rs",
        find: "            self.held = std::mem::take(&mut self.outbox);\n",
        replace: "",
        tests: RESTORED,
    },
    // Answers.
    Mutant {
        name: "answers while in doubt",
        file: "crates/node/src/node.rs",
        find: "let doubt = self.open.as_ref().is_some_and(|open| open.phase == Phase::Prepared);",
        replace: "let doubt = false;",
        tests: NODE,
    },
    Mutant {
        name: "asker outside the roster",
        file: "crates/node/src/answering.rs",
        find: "if !part.common.roster.iter().any(|named| named.name == from) {",
        replace: "if part.common.roster.is_empty() {",
        tests: NODE,
    },
    Mutant {
        name: "about without needs",
        file: "crates/node/src/question.rs",
        find: "        hash.update(needs.bytes());\n",
        replace: "",
        tests: NODE_UNIT,
    },
    Mutant {
        name: "client ignores the pinned key",
        file: "crates/node/src/net.rs",
        find: "if shown != Some(peer.member.key) {",
        replace: "if shown.is_none() {",
        tests: PINNING,
    },
    Mutant {
        name: "analyst's certificate under the auditor's name",
        file: "crates/node/src/endpoint/entry.rs",
        find: "&& self.stream.shown_key() == Some(peer.member.key)",
        replace: "&& self.stream.shown_key().is_some()",
        tests: PINNING,
    },
    Mutant {
        name: "no pinning of epochs",
        file: "crates/node/src/endpoint/execute.rs",
        find: "Err(_) => Ok(self.pinned.unwrap_or(last)),",
        replace: "Err(_) => Ok(last),",
        tests: PINNING,
    },
    Mutant {
        name: "answer from another epoch",
        file: "crates/node/src/endpoint/execute.rs",
        find: "Ok(epoch) if (1..=last).contains(&epoch) => Ok(epoch),",
        replace: "Ok(epoch) if (1..=last).contains(&epoch) => Ok(last),",
        tests: PINNING,
    },
    Mutant {
        name: "plain text off the machine",
        file: "crates/node/src/endpoint/stream.rs",
        find: "if must_encrypt && matches!(stream.0, Bytes::Plain(_)) {",
        replace: "if must_encrypt && !matches!(stream.0, Bytes::Plain(_)) {",
        tests: PINNING,
    },
];
