"""What a classifier loses when it learns from a release: UCI Adult under k = 5, by each method.

A model predicts whether somebody earns more than 50,000 dollars a year. It is fitted on the cells of a release and sees
test rows in the same cells, in five folds. Run it from the root of the repository:

    python python/examples/adult_classifier.py
"""

import argparse
import gzip
import warnings
from pathlib import Path

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hedgerow as hr
from hedgerow.sklearn import Anonymizer

ADULT = Path(__file__).resolve().parents[2] / "examples" / "adult"
TARGET = "salary-class"
METHODS = {
    "full-domain": hr.FullDomain(suppression=0.02, loss="granularity"),
    "mondrian": hr.Mondrian(),
    "best-cut": hr.BestCut(),
    "cluster": hr.Cluster(),
}


def adult(rows: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """The quasi-identifiers, and what is to be predicted."""
    with gzip.open(ADULT / "adult.csv.gz", "rt") as file:
        people = pd.read_csv(file, sep=";")
    people = people if rows is None else people.sample(rows, random_state=1)
    return people.drop(columns=TARGET), people[TARGET] == ">50K"


def policy(method: hr.Method, k: int = 5) -> hr.Policy:
    """Eight quasi-identifiers. Full-domain recoding climbs hierarchies, the other methods need none."""
    files = method.name == "full-domain"
    names = [path.stem for path in sorted((ADULT / "hierarchies").glob("*.csv")) if path.stem != TARGET]
    attributes = {name: hr.Quasi(file=ADULT / "hierarchies" / f"{name}.csv" if files else None) for name in names}
    return hr.Policy(attributes, rules=[hr.KAnonymity(k)], method=method)


def compare(rows: int | None = None, folds: int = 5) -> pd.DataFrame:
    """Accuracy and area under the curve of each method, by cross-validation."""
    people, earns_more = adult(rows)
    splits = StratifiedKFold(folds, shuffle=True, random_state=1)
    found = {}
    for name, method in {"nothing": None, **METHODS}.items():
        first = [Anonymizer(policy(method))] if method else []
        model = make_pipeline(*first, OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
        scores = cross_validate(model, people, earns_more, cv=splits, scoring=["accuracy", "roc_auc"])
        found[name] = {
            "accuracy": scores["test_accuracy"].mean(),
            "±": scores["test_accuracy"].std(),
            "area under the curve": scores["test_roc_auc"].mean(),
            "seconds": scores["fit_time"].mean(),
        }
    found["the more frequent class"] = {"accuracy": max(earns_more.mean(), 1 - earns_more.mean()), "area under the curve": 0.5}
    return pd.DataFrame(found).T


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, help="a sample of so many rows")
    warnings.simplefilter("ignore")
    print(compare(arguments.parse_args().rows).round(3).to_string())
