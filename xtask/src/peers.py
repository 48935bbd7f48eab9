"""One peer on one file: prints its seconds, without start-up and imports, and what it found, as JSON.

usage: peers.py PEER FILE [FOLDER OF HIERARCHIES]
"""

import json
import sys
import time

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SENSITIVE = "salary-class"
K = 5
SUPPRESSION_PERCENT = 2


def frame(path):
    import pandas

    with open(path) as file:
        separator = ";" if ";" in file.readline() else ","
    return pandas.read_csv(path, sep=separator)


def classes(data, quasi):
    sizes = data.groupby(quasi, observed=True).size()
    return f"{len(sizes)} classes, k = {sizes.min()}, {len(data)} rows"


def anonypy(path, _):
    import anonypy as library
    import pandas

    start = time.perf_counter()
    data = frame(path)[QUASI + [SENSITIVE]]
    for name in data.columns:
        if name != "age":
            data[name] = data[name].astype("category")
    rows = library.Preserver(data, QUASI, SENSITIVE).anonymize_k_anonymity(k=K)
    seconds = time.perf_counter() - start
    made = pandas.DataFrame(rows)
    made[QUASI] = made[QUASI].map(str)
    sizes = made.groupby(QUASI, observed=True)["count"].sum()
    return seconds, f"{len(sizes)} classes, k = {sizes.min()}, {sizes.sum()} rows"


def anjana(path, hierarchies):
    import pandas
    from anjana.anonymity import k_anonymity

    start = time.perf_counter()
    data = frame(path)[QUASI + [SENSITIVE]]
    trees = {}
    for name in QUASI:
        levels = pandas.read_csv(f"{hierarchies}/{name}.csv", sep=";", header=None)
        trees[name] = {level: levels[level].values for level in levels}
    made = k_anonymity(data, [], QUASI, K, SUPPRESSION_PERCENT, trees)
    seconds = time.perf_counter() - start
    return seconds, classes(made, QUASI)


def pycanon(path, _):
    from pycanon import anonymity

    start = time.perf_counter()
    data = frame(path)
    quasi = [name for name in data.columns if name != SENSITIVE]
    k = anonymity.k_anonymity(data, quasi)
    seconds = time.perf_counter() - start
    return seconds, f"k = {k}"


def pycanon_measures(path, _):
    from pycanon import anonymity

    names = [
        "k_anonymity",
        "l_diversity",
        "entropy_l_diversity",
        "recursive_c_l_diversity",
        "alpha_k_anonymity",
        "t_closeness",
        "delta_disclosure",
        "basic_beta_likeness",
        "enhanced_beta_likeness",
    ]
    return measured(frame(path), [getattr(anonymity, name) for name in names], [SENSITIVE])


def hedgerow_measures(path, _):
    import hedgerow

    names = [
        "k_anonymity",
        "l_diversity",
        "entropy_l_diversity",
        "recursive_cl",
        "alpha_k",
        "t_closeness",
        "delta_disclosure",
        "basic_beta",
        "enhanced_beta",
    ]
    return measured(frame(path), [getattr(hedgerow, name) for name in names], SENSITIVE)


def measured(data, measures, sensitive):
    """Nine calls on one frame, as a user makes them."""
    first, *others = measures
    start = time.perf_counter()
    found = [first(data, QUASI), *(measure(data, QUASI, sensitive) for measure in others)]
    seconds = time.perf_counter() - start
    t, delta, beta = found[5:8]
    return seconds, f"k = {found[0]}, l = {found[1]}, t = {t:.4f}, delta = {delta:.4f}, basic beta = {beta:.4f}"


def best(run):
    found = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def read_bytes(path, _):
    size = len(open(path, "rb").read())
    return best(lambda: open(path, "rb").read()), f"{size} bytes"


def duckdb_sort(path, _):
    database = in_memory(path)
    columns = ", ".join(f'"{name}"' for name in QUASI)
    seconds = best(lambda: database.execute(f"select * from t order by {columns}").fetchnumpy())
    return seconds, f"{database.execute('select count(*) from t').fetchone()[0]} rows"


def duckdb_group(path, _):
    database = in_memory(path)
    columns = ", ".join(f'"{name}"' for name in QUASI)
    query = f"select count(*), min(n) from (select count(*) n from t group by {columns})"
    count, least = database.execute(query).fetchone()
    return best(lambda: database.execute(query).fetchall()), f"{count} classes, k = {least}"


def in_memory(path):
    import duckdb

    database = duckdb.connect()
    database.execute(f"create table t as select * from read_csv('{path}')")
    return database


PEERS = {
    "anonypy": anonypy,
    "anjana": anjana,
    "pycanon": pycanon,
    "pycanon-measures": pycanon_measures,
    "hedgerow-measures": hedgerow_measures,
    "read": read_bytes,
    "sort": duckdb_sort,
    "group": duckdb_group,
}

seconds, found = PEERS[sys.argv[1]](sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
print(json.dumps({"seconds": seconds, "found": found}))
