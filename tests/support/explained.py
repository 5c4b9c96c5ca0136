"""A decision as data, made by hand: what `explanation.explain_decision` returns of a small search."""

from typing import Any


def number(value, low=None, high=None, baseline=0.0, **row):
    """Return a number of a release as `release_risks.numbers_of` returns one."""
    ends = {"low": value if low is None else low, "high": value if high is None else high}
    stated = {"seeds": 1, "unknown": "", "row": {"measure": "x", **row}, "ids": []}
    return {"value": value, **ends, "baseline": baseline, **stated}


def risk(name, mean, largest=None, cap=None, verdict="no cap", **changed):
    """Return a risk of a release as `release_risks.risk_of` returns one."""
    caps = []
    if cap is not None:
        own = largest if largest is not None else mean
        ends = {key: own[key] for key in ("value", "low", "high")}
        about = {"subject": name, "target": "", "statistic": "mean" if largest is None else "largest", "group": ""}
        kept = verdict.startswith("kept")
        caps = [{**about, **ends, "cap": cap, "written": cap, "kept": kept, "lenient": False, "exceeded_in": [],
                 "unknown": ""}]  # fmt: skip
    found = {
        "risk": name, "people": 60, "unknown": "", "mean": mean, "worst_person": largest,
        "no_person": "" if largest else "of nobody alone",
        "worst_group": None, "groups": 0, "groups_withheld": 0, "ceiling": None, "others": None, "guessed": None,
        "certain": [], "nearly_certain": [], "targets": [], "withheld": [], "unit": "",
        "baseline_is": "a row at random", "source": "",
        "caps": caps, "verdict": {"is": verdict, "groups_over": 0},
    }  # fmt: skip
    return found | changed


def release(setting, loss, used, **changed):
    """Return a release of a decision."""
    found = {
        "setting": setting, "loss": {"value": loss, "low": loss, "high": loss}, "used": used,
        "tightest": "membership", "is_chance": False, "is_beyond": False, "kept": True,
        "lenient": False, "certain": "no", "drawn": False, "draws": 0, "reasons": [],
    }  # fmt: skip
    return found | changed


def explained(**changed: Any) -> dict[str, Any]:
    """Return the data of a decision for Mondrian with k = 10, with some of it changed."""
    chosen, least = release("Mondrian, k = 10", 0.15, 0.4), release("Mondrian, k = 5", 0.14, 0.9)
    found = {
        "policy": {
            "name": "ours", "title": "Our <own>", "source": "the board", "recipient": "a hospital", "knows": "age",
            "convention": "", "choice": "", "verified": True, "min_class_size": 5, "near_certainty": 0.9,
            "tolerance": 0.02, "order": "tightest cap", "sha256": "0" * 64, "caps": [], "needs": [],
            "about_large_groups": True,
        },
        "table": {"name": "town", "records": 60, "sample": 0, "people": 60, "rows_are_people": True,
                  "quasi_identifiers": ["age", "sex"], "sensitive": ["illness"]},
        "unprotected": [],
        "chosen": chosen,
        "why": {"rule": "lower risk", "kept": 2, "releases": 4, "near_least": 2, "bare_used": 0.3, "least": least},
        "smallest_class": 10.0,
        "misled": None,
        "certain": {"is": "no", "of": [], "people": 60, "alternative": None},
        "risks": [
            {
                "risk": "identity",
                "release": risk("identity", number(0.02, 0.01, 0.03, 1 / 60), number(0.1), cap=0.2, verdict="kept"),
                "original": risk("identity", number(0.52, 0.5, 0.54, 1 / 60), number(1.0), cap=0.2, verdict="not kept"),
            },
        ],
        "uses": [{"measure": "certainty_penalty", "format": "{:%}", "is_share": False,
                  "release": number(0.15, baseline=None), "original": number(0.0, baseline=None),
                  "without": number(1.0, baseline=None), "changed": []}],
        "next": [release("Mondrian, k = 5", 0.14, 0.9)], "equal": [],
        "alternatives": [least | {"kind": "lower loss"}],
        "stricter": [{"subject": "identity", "cap": 0.2, "value": 0.1,
                      "steps": [{"caps": [0.15, 0.1], "is_kept": True, "other": None},
                                {"caps": [0.05], "is_kept": False, "other": None}]}],
        "near": [], "nearest": [], "unattainable": [], "refused": [],
        "has_rows_at_risk": False, "columns_of_rows": ["age"],
        "counts": [
            {"kind": "tried", "subject": "", "number": 4, "records": 60},
            {"kind": "measured", "subject": "", "number": 4},
            {"kind": "kept", "subject": "", "number": 2},
        ],
        "columns": {"generalized": [], "left_out": [], "tried_in_vain": [], "without_them": [],
                    "published_unchanged": [], "stated_unknowable": []},
        "help": {},
    }  # fmt: skip
    return found | changed


def nothing_kept() -> dict[str, Any]:
    """Return the data of a decision for which no release keeps the policy."""
    nearest = release("Suppression", 1.0, None, kept=False, reasons=[{"kind": "below", "minimum": 5}])
    original = [{**row, "release": None} for row in explained()["risks"]]
    return explained(
        chosen=None, why={"rule": "none", "kept": 0, "releases": 4}, nearest=[nearest], next=[], alternatives=[],
        stricter=[], risks=original, smallest_class=None,
    )  # fmt: skip
