"""A second implementation of the masked profile, to hold the first against.

Reads masked-run.json: the secret keys and values of all custodians. Computes every message of a run
that finds medians, byte for byte, and opens the onions of a shuffle. Needs nothing but Python.
"""

import hashlib
import hmac
import json
import struct
import sys

P = 2**255 - 19


def x25519(secret, point):
    k = bytearray(secret)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb = d * a % P, c * b % P
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        aa, bb = a * a % P, b * b % P
        e = aa - bb
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def public(secret):
    return x25519(secret, (9).to_bytes(32, "little"))


def hkdf(salt, secret, info):
    prk = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\1", hashlib.sha256).digest()


def chacha20_block(key, counter, nonce):
    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    work = state[:]

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            work[x] = work[x] + work[y] & 0xFFFFFFFF
            v = work[z] ^ work[x]
            work[z] = (v << turn | v >> 32 - turn) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(work, state)))


def chacha20(key, length, counter=0):
    blocks = (length + 63) // 64
    return b"".join(chacha20_block(key, counter + i, bytes(12)) for i in range(blocks))[:length]


def poly1305(key, text):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for i in range(0, len(text), 16):
        total = (total + int.from_bytes(text[i : i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return (total + int.from_bytes(key[16:32], "little") & 2**128 - 1).to_bytes(16, "little")


def open_sealed(key, sealed, bound):
    text, tag = sealed[:-16], sealed[-16:]
    pad = lambda part: part + bytes(-len(part) % 16)
    covered = pad(bound) + pad(text) + struct.pack("<QQ", len(bound), len(text))
    assert poly1305(chacha20(key, 32), covered) == tag, "a tag does not fit"
    return bytes(a ^ b for a, b in zip(text, chacha20(key, len(text), 1)))


def words_bytes(words):
    return struct.pack("<I", len(words)) + b"".join(struct.pack("<Q", word) for word in words)


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def long(*parts):
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()


def number(value):
    return struct.pack("<Q", value)


class Run:
    def __init__(self, vector):
        self.session, self.question, self.roster = (bytes.fromhex(vector[k]) for k in ("session", "question", "roster"))
        self.secrets = [bytes.fromhex(one["secret"]) for one in vector["custodians"]]
        self.publics = [public(secret) for secret in self.secrets]
        self.count = len(self.secrets)
        self.chains = [bytes(32)] * self.count
        self.sent = []

    def message(self, kind, sender, round_, content):
        head = struct.pack("<BB", 4, kind) + self.session + self.question + struct.pack("<HI", sender, round_)
        return head + content

    def close(self, messages):
        self.sent.append(messages)
        self.chains = [sha(b"hedgerow chain 1", c, long(m)) for c, m in zip(self.chains, messages)]

    def seen(self):
        return [int.from_bytes(chain[:8], "little") for chain in self.chains]

    def mask(self, me, other, round_, words):
        first, second = min(me, other), max(me, other)
        context = b"hedgerow mask 1" + self.session + self.question + self.roster
        for end in (first, second):
            context += struct.pack("<H", end) + self.publics[end]
        shared = x25519(self.secrets[me], self.publics[other])
        transcript = sha(b"hedgerow transcript 1", *self.chains)
        key = hkdf(context, shared, b"round" + struct.pack("<I", round_) + transcript)
        stream = struct.unpack("<%dQ" % words, chacha20(key, 8 * words))
        return stream if me < other else [-word for word in stream]

    def total(self, round_, plain, bits):
        per_word = 64 // bits
        messages, totals = [], [0] * -(-len(plain[0]) // per_word)
        for me, words in enumerate(plain):
            packed = [
                sum(word << bits * place for place, word in enumerate(words[at : at + per_word]))
                for at in range(0, len(words), per_word)
            ]
            for other in range(self.count):
                if other != me:
                    packed = [a + b & 2**64 - 1 for a, b in zip(packed, self.mask(me, other, round_, len(packed)))]
            totals = [a + b & 2**64 - 1 for a, b in zip(totals, packed)]
            messages.append(self.message(2, me, round_, words_bytes(packed) + words_bytes(self.seen())))
        self.close(messages)
        apart = [word >> bits * place & 2**bits - 1 for word in totals for place in range(per_word)]
        return apart[: len(plain[0])]

    def medians(self, custodians):
        """`groups` of each custodian: values and the size of their domain."""
        ledger = hashlib.blake2b(b"hedgerow ledger 2", digest_size=32)

        def record(kind, what, values):
            ledger.update(bytes([kind]) + number(len(what)) + what + number(0) * 3)
            ledger.update(number(len(values)) + b"".join(map(number, values)))

        self.close([self.message(1, me, 0, key) for me, key in enumerate(self.publics)])
        groups = [one["groups"] for one in custodians]
        sizes = self.total(1, [[len(values) for values, _ in own] for own in groups], 64)
        record(4, b"groups", sizes)
        bounds = [[0, max(domain, 1) - 1, -(-size // 2)] for (_, domain), size in zip(groups[0], sizes)]
        bits = max(sizes).bit_length()
        round_ = 1
        while True:
            open_ = [g for g, (low, high, rank) in enumerate(bounds) if rank > 0 and low < high]
            if not open_:
                break
            round_ += 1
            probes = {g: bounds[g][0] + (bounds[g][1] - bounds[g][0]) // 2 for g in open_}
            plain = [[sum(v <= probes[g] for v in own[g][0]) for g in open_] for own in groups]
            counts = self.total(round_, plain, bits)
            record(3, b"rows at or below the probe, for each group that is still open", counts)
            for g, found in zip(open_, counts):
                if found >= bounds[g][2]:
                    bounds[g][1] = probes[g]
                else:
                    bounds[g][0] = probes[g] + 1
        medians = [low if rank > 0 else None for low, _, rank in bounds]
        output = long(*(number(int(m is not None)) + number(m or 0) for m in medians))
        confirm = ledger.digest() + output + words_bytes(self.seen())
        self.close([self.message(12, me, round_ + 1, confirm) for me in range(self.count)])
        return medians

    def open_onion(self, onion):
        keys = sha(b"hedgerow shuffle keys 1", self.roster, *self.publics)
        for owner, secret in enumerate(self.secrets):
            once, sealed = onion[:32], onion[32:]
            bound = b"hedgerow layer 1" + self.session + self.question + keys + once
            bound += self.publics[owner] + struct.pack("<H", owner)
            onion = open_sealed(hkdf(self.session, x25519(secret, once), bound), sealed, bound)
        real, length = onion[0], struct.unpack("<H", onion[1:3])[0]
        return onion[3 : 3 + length].hex() if real else None


def main():
    with open(sys.argv[1]) as file:
        vectors = json.load(file)
    run = Run(vectors["medians"])
    medians = run.medians(vectors["medians"]["custodians"])
    assert medians == vectors["medians"]["output"], "other medians"
    found = [[message.hex() for message in messages] for messages in run.sent]
    expected = vectors["medians"]["messages"]
    assert len(found) == len(expected), "another number of rounds"
    for round_, (ours, theirs) in enumerate(zip(found, expected)):
        for sender, (one, other) in enumerate(zip(ours, theirs)):
            assert one == other, "round %d, custodian %d: other bytes" % (round_, sender)
    shuffle = Run(vectors["shuffle"])
    rows = [shuffle.open_onion(bytes.fromhex(onion)) for onion in vectors["shuffle"]["onions"]]
    assert rows == vectors["shuffle"]["rows"], "other rows"
    print("%d rounds and %d onions agree" % (len(found), len(rows)))


main()
