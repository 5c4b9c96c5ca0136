"""The faults that `mutants.py` plants, by room: what must not go wrong, and the tests that would notice it."""

from mutants import Fault

CLAIMS = ("sanitizers/test_claims.py",)
BARE = ("sanitizers/test_bare_tables.py",)
OWN = ("miners/test_own_estimators.py", "workbench/test_own_methods.py")
WITHHOLDING = tuple(
    f"microdata/test_withholding.py::test_{name}"
    for name in (
        "few_people_are_one_to_nine_and_a_count_tells_of_those_whom_it_misses",
        "a_withheld_count_can_have_other_whole_values_within_its_bounds",
        "a_withheld_count_of_nobody_is_known_to_be_none",
        "all_but_four_of_four_hundred_are_not_told",
        "of_sets_all_nested_pairs_are_margins",
        "no_count_of_few_people_follows_from_the_cells_that_are_shown",
        "no_more_is_withheld_than_must_be",
    )
)
REFUSED = tuple(
    f"publishing/test_from_files.py::test_{name}"
    for name in (
        "what_stands_beside_a_release_names_nobody",
        "every_column_of_identifiers_is_looked_through",
        "a_file_that_changes_meanwhile_is_no_release",
        "their_order_is_another_one_each_time",
    )
)
DOUBLED = ("publishing/test_missing_from_files.py::test_what_is_lost_or_doubled_on_the_way_is_no_release",)
GAPS = ("publishing/test_missing_from_files.py::test_one_record_with_a_gap_is_enough_to_refuse",)
GATE = ("publishing/test_gate.py",)
RECOUNTED = ("cli/test_grammar.py",)
TREATMENT = ("sanitizers/test_treatment.py",)
CERTAIN = ("measures/test_certainty.py",)
DIFFERENCING = ("evaluation/test_versions.py",)
CERTAINTY = ("evaluation/risks/test_disclosed_with_certainty.py", "evaluation/risks/test_identity_and_attribute.py")
INFORMED = ("evaluation/risks/test_informed.py",)
INFORMED_POLICY = ("decision/test_informed_policy.py",)
RISKS = ("evaluation/risks/test_identity_and_attribute.py",)
CRITERIA = ("evaluation/risks/test_criteria.py",)
STAR = ("privacy_models/test_star.py",)
LINKABILITY = ("evaluation/risks/test_linkability_and_anti_utility.py",)
MEMBERSHIP = ("evaluation/risks/test_membership.py",)
BY_POLICY = ("decision/test_by_policy.py",)
BY_CAPS = ("decision/test_two_losses.py", "decision/test_points.py")
FILE = tuple(
    f"publishing/test_chosen_release.py::test_{name}"
    for name in (
        "a_file_in_which_a_secret_is_surer_than_the_policy_allows_is_refused",
        "a_neutral_column_that_may_be_known_makes_a_value_surer_in_a_file",
        "words_that_name_a_person_are_not_printed",
        "a_leaking_card_is_refused_and_leaves_nothing",
    )
)
SAVING = ("explorer/test_saving.py",)
WORST = ("explorer/test_worst_class.py::test_no_count_of_few_people_follows_from_merged_bars",)
CODEBOOK = ("publishing/test_codebook.py",)
REPLACING = ("publishing/test_replacing.py",)
REPAIRS = ("datasets/test_repairs.py",)
OUTSIDE = ("datasets/test_outside.py",)
LEAKS = ("publishing/test_leaks.py",)
SCAN = ("publishing/test_leak_scan.py",)
COUNTS = ("microdata/test_counts.py",)
RELEASE = ("microdata/test_release.py",)
ORDER = ("sanitizers/test_undoing.py::test_rows_and_buckets_say_nothing_of_the_tables_order",)
ENDS = ("sanitizers/test_public_ends.py::test_exact_ends_are_kept_where_a_study_asks_for_them_and_not_shown",)
ENGINE = ("tables/test_engine.py",)
MECHANISMS = ("sanitizers/test_mechanisms.py",)
NOISE = ("sanitizers/test_noise.py",)
RECORDS = ("tables/test_every_record_is_read.py",)
READING = ("tables/test_reading.py",)
DATASET = ("datasets/test_dataset.py",)
ANONYMITY = ("privacy_models/test_anonymity.py",)
DIVERSITY = ("privacy_models/test_diversity.py",)
CLOSENESS = ("privacy_models/test_closeness.py",)
PRESENCE = ("privacy_models/test_presence.py",)
PEOPLE = ("privacy_models/test_grading_people.py",)
COLUMNS = ("evaluation/test_column_distributions.py",)

FAULTS = [
    # What a sanitizer claims is graded in the published labels.
    Fault(
        "claims",
        "_nothing_to_grade",
        "yield f\"{claimed}, but '{name}' of {lost}",
        "if lost > 1:\n                yield f\"{claimed}, but '{name}' of {lost}",
        CLAIMS,
    ),
    Fault("repairs", "_describe_changes", "if not is_few(each.counts[old])", "if True", REPAIRS),
    Fault("claims", "explain_mismatch", "(*checks, _claims)", "checks", CLAIMS),
    Fault("claims", "_claims", "in release.provenance.claims:", "in release.provenance.claims[:1]:", CLAIMS),
    Fault("claims", "_covered", "(codes <= last[number])", "(codes <= last[number] + 1)", CLAIMS),
    Fault("claims", "_covered", "(first[number] <= codes)", "(first[number] <= codes + 1)", CLAIMS),
    Fault("claims", "_altered", "(here != SUPPRESSED)", "(here == before)", CLAIMS),
    Fault("claims", "describe_failure", 'f"{type(error).__name__}{place}"', "str(error)", OWN),
    Fault("claims", "Guarded._said", "type(again) is type(error)", "True", ("miners/test_own_estimators.py",)),
    Fault("claims", "find_untrue_rows", "if untrue.any() and", "if False and", BARE),
    Fault("claims", "Sanitizer._checked", 'made, {"perturbed": [*gaps.missing] if gaps else []}', "made, {}", BARE),
    Fault("claims", "Sanitizer._infer_facts", "if not table.index.equals(index):", "if False:", BARE),
    Fault(
        "claims", "_values", "if changed.any():\n            yield (", "if changed.all():\n            yield (", CLAIMS
    ),
    Fault("claims", "_columns", "if len(found) > len(expected):", "if len(found) > len(expected) + 1:", CLAIMS),
    Fault("claims", "_promise", "if facts.promise and facts.simulation:", "if False:", CLAIMS),
    Fault("claims", "_miscounted", "(published > true)", "(published > true + 1)", CLAIMS),
    Fault(
        "claims", "_ways", "zip(number[places].tolist(), map(str, cells[places])", "zip(number[:1], cells[:1]", CLAIMS
    ),
    # How each column was treated is read in the table.
    Fault("treatments", "_kind", "(now == then).all()", "(now == then).any()", TREATMENT),
    Fault("treatments", "_differ", "& (now[known] != SUPPRESSED)", "", TREATMENT),
    Fault("treatments", "check_positions", "len(np.unique(found)) < len(found)", "len(np.unique(found)) < 1", CLAIMS),
    # Counts of few people are withheld, and do not follow from others.
    Fault("withholding", "is_few", "limit - ROUNDING", "limit - 1 - ROUNDING", WITHHOLDING),
    Fault("withholding", "reveals_few", " | is_few(of - people, limit)", "", WITHHOLDING),
    Fault("withholding", "withhold_group_share", "if is_few(of - groups, limit):", "if False:", WITHHOLDING),
    Fault("withholding", "_follows.bounds", "(1, limit - 1)", "(0, limit - 1)", WITHHOLDING),
    Fault("withholding", "_follows.bounds", "(1, limit - 1)", "(1, limit)", WITHHOLDING),
    Fault("withholding", "_follows.bounds", "(limit if people >= limit else 0, np.inf)", "(0, np.inf)", WITHHOLDING),
    Fault("withholding", "_follows", "if cells[cell] else (0, 0)", "", WITHHOLDING),
    Fault("withholding", "_varies.differs", "> 1 - 1e-6", "> 1e-6", WITHHOLDING),
    Fault("withholding", "_varies.differs", "> 1 - 1e-6", "> 1 + 1e-6", WITHHOLDING),
    Fault("withholding", "_varies", "for sign in (1, -1):", "for sign in (1,):", WITHHOLDING),
    Fault("withholding", "suppress", "if not _follows(known, cells, linked[name], limit):", "if True:", WITHHOLDING),
    Fault(
        "columns", "_reveals", "any(withholding.reveals_few(each, n, min_count) for each in people)", "False", COLUMNS
    ),
    Fault("columns", "_reveals", "withholding.is_few(each - number, min_count)", "False", COLUMNS),
    Fault("columns", "_show_commonest", "groups.people[group] - people, groups.min_count", "0, 10", COLUMNS),
    Fault("columns", "_changes", "changed is not None and withholding.is_few(changed, limit)", "False", COLUMNS),
    Fault("columns", "_hidden", "if groups.people[each] >= order[each]", "if False", COLUMNS),
    Fault("withholding", "suppress_sets", "*(Margin(of, (names,)) for names in people)", "", WITHHOLDING),
    # Who is found, and of whom a value is guessed.
    Fault("risks", "ReidentificationRisk.scores", "case = case.known", "", ("evaluation/test_known_columns.py",)),
    Fault("risks", "score_singled_out", "alone & published[own]", "alone & ~published[own]", RISKS),
    Fault("risks", "score_groups", "sure = share[1][classes]", "sure = share[1][classes] / 2", RISKS),
    Fault(
        "risks",
        "score_groups",
        "most / count_people_by_group(classes, release.people)",
        "most / counts.sum(axis=1)",
        RISKS,
    ),
    Fault("risks", "Certainty._row", "round(found.right), self._tells", "people, self._tells", RISKS),
    Fault("risks", "_build_certain_row", "withholding.is_few(people - others, limit)", "False", INFORMED),
    Fault("risks", "Certainty._row", "self._tells(case), case.min_count", "False, case.min_count", CERTAINTY),
    Fault("risks", "_count_others", "own = times[pair] - 1", "own = times[pair]", RISKS),
    Fault("risks", "Scores.rows", "chosen.sum() < min_count or ", "", RISKS),
    Fault("risks", "Scores._tells", "if n < min_count:", "if n < 1:", RISKS),
    Fault("risks", "Scores._groups", "if any(unseen) and not hidden:", "if False:", RISKS),
    Fault("risks", "Scores._hide_complements", " and not self._tells(together, min_count)", "", RISKS),
    Fault(
        "risks",
        "LinkabilityRisk.scores",
        "[np.maximum(sum_weights(fit,",
        "[10 * np.maximum(sum_weights(fit,",
        LINKABILITY,
    ),
    Fault(
        "risks", "residual_risk", "(attack - by_chance) / (1 - by_chance), -1.0", "attack - by_chance, -1.0", CRITERIA
    ),
    Fault("risks", "_Criterion._is_withheld", "min(found.n, found.m) < case.min_count", "False", CRITERIA),
    Fault("models", "Labels.confuse", "self._matching(rows, full, hidden, counts)[row]", "counts[rows][row]", STAR),
    Fault("risks", "split_attributes", "order[::2]), tuple(order[1::2])", "order[:1]), tuple(order[1:])", LINKABILITY),
    Fault("risks", "score_members", "(fold, ~fold)", "(fold, fold)", MEMBERSHIP),
    Fault("risks", "score_members", "ratios[best][used] >=", "ratios[best][used] >", MEMBERSHIP),
    Fault("risks", "MembershipGame.of", "_select_members(dataset, case.seed)", "dataset", MEMBERSHIP),
    Fault("risks", "GroupDifference._tells", ".sum()) < min_count", ".sum()) < 1", MEMBERSHIP),
    Fault("risks", "certain_groups", "public < near", "public < near / 2", CERTAIN),
    Fault("risks", "certain_groups", "disclosed &= ~np.asarray(harmless)", "pass", CERTAIN),
    Fault("risks", "are_harmless", " or value == SUPPRESSED", "", CERTAIN),
    Fault("risks", "find_common_values", "of_old[old] & of_new[new]", "of_old[old] | of_new[new]", DIFFERENCING),
    Fault("risks", "subtract_classes", "change = of_new - of_old", "change = of_old - of_new", DIFFERENCING),
    Fault(
        "risks", "join_versions", "join_classes(classes[0][records]", "join_classes(classes[-1][records]", DIFFERENCING
    ),
    Fault("risks", "_upper", 'if row["group"] else np.inf', 'if row["group"] else -np.inf', DIFFERENCING),
    Fault("risks", "reveals_small_rest", "withholding.is_few(right - people, limit)", "False", CERTAIN),
    Fault("risks", "public_shares", "if declared := attribute.public_distribution:", "if declared := {}:", CERTAIN),
    Fault("risks", "conclude_from_nearest_rows", "& (shares[named] < public)", "", GATE),
    Fault("risks", "certain_groups", "(counts == sizes[:, None])", "(counts >= sizes[:, None] - 1)", CERTAIN),
    # What is recommended.
    Fault("decision", "keeps_cap", "row.high <= row.cap", "row.value <= row.cap", BY_POLICY),
    Fault("decision", "_losses", 'each["high"] > need.most_lost', 'each["value"] > need.most_lost', BY_POLICY),
    Fault("decision", "read_at_policy_cap", "if rows.empty:", "if False:", INFORMED_POLICY),
    Fault("decision", "read_at_cap", "if known.empty or lacking:", "if known.empty:", BY_POLICY),
    Fault(
        "decision", "find_refusals", "rows.low.min() >= min_class_size", "rows.low.max() >= min_class_size", BY_POLICY
    ),
    Fault("decision", "find_refusals", "rows is None or rows.low.isna().any()", "rows is None", BY_POLICY),
    Fault("decision", "find_refusals", "if setting[0] == ORIGINAL:", "if False:", BY_POLICY),
    Fault("decision", "average_numbers", "np.fmax(ends[1], spread[1])", "ends[1]", BY_POLICY),
    Fault("decision", "_above", '{axis: row[f"{axis}_high"]', '{axis: row[f"{axis}"]', BY_CAPS),
    Fault("decision", "_known", " & are_bounded(releases)", "", BY_CAPS),
    Fault(
        "decision",
        "check_min_class_size",
        "if releases.refused.isna().any():",
        "if releases.refused.isna().all():",
        BY_CAPS,
    ),
    Fault("decision", "_in_order", "ascending=[False, True,", "ascending=[False, False,", BY_POLICY),
    Fault("decision", "_in_order", "+ policy.tolerance", "", BY_POLICY),
    # What leaves.
    Fault("gates", "_small_groups", "groups) < least", "groups) < least - 1", GATE),
    Fault("gates", "_small_groups", "if rule is None else rule.min_class_size", "", GATE),
    Fault("gates", "find_promised_k", "max([NOBODY_ALONE", "min([NOBODY_ALONE", GATE),
    Fault(
        "gates",
        "_sizes",
        "count_people_by_group(groups, release.people, times=release.times)",
        "np.bincount(groups)",
        GATE,
    ),
    Fault("gates", "list_known_columns", "schema[name].knowable or name in known", "name in known", GATE),
    Fault("gates", "list_known_columns", " or name in known", "", SAVING),
    Fault("gates", "count_certain_in_altered", "or release.groups is not None or not altered", "or not nobody", GATE),
    Fault("gates", "_is_withheld", "bool(withholding.reveals_few(people, of)) or ", "", GATE),
    Fault("gates", "_is_true", ", *release.provenance.recoded", "", GATE),
    Fault("gates", "_most", "each.people * before.of > before.people * each.of", "False", GATE),
    Fault("gates", "CertainValue.data", "if self.withheld", "if False", GATE),
    Fault("gates", "_people", "if withholding.is_few(people, withholding.LIMIT):", "if False:", GATE),
    Fault("gates", "Finding.data", 'few(found.get("people") or 0, withholding.LIMIT)', "few(0, 1)", GATE),
    Fault("gates", "Verdict.may_leave", "self.allowed or bool(self.override)", "True", GATE),
    Fault("gates", "check_allow", "if not allow.strip():", "if False:", GATE),
    Fault("gates", "judge_file", "(*findings, NotCounted(tuple(names), memory.combinations))", "findings", GATE),
    Fault("gates", "sanitize", "verdict.check()", "pass", GATE),
    Fault("gates", "sanitize", "_refuse_names(job,", "(lambda *given: None)(job,", REFUSED),
    Fault("gates", "sanitize", "if [_fingerprint(file.path) for file in files] != before:", "if False:", REFUSED),
    Fault("gates", "_refuse_names", "for name in naming if tried else ():", "for name in naming[:1]:", REFUSED),
    Fault("gates", "_yield_single_columns", "(given != times).any()", "(given < times).any()", DOUBLED),
    Fault("gates", "_yield_single_columns", "(given != times).any()", "(given > times).any()", DOUBLED),
    Fault("gates", "_yield_single_columns", "secrets.token_hex(16)", "'0'", REFUSED),
    Fault("gates", "_broken", "if not allowed:", "if False:", FILE),
    Fault("gates", "_scan", "leaks.check_outputs(", "(lambda *given, **more: None)(", FILE),
    Fault("gates", "explain_exceeded", "each.surest > cap.most", "each.surest > 1", FILE),
    Fault("gates", "explain_exceeded", "share > cap.most", "share > 1", FILE),
    Fault("gates", "count_sensitive", "[*schema.quasi_identifiers, *known]", "[*schema.quasi_identifiers]", FILE),
    Fault("gates", "_counted_in_file", "except TooManyCombinationsError:", "except Exception:", GATE),
    Fault("gates", "_verdict", "_Gate(is_refused and not", "_Gate(is_refused and bool(done) and not", GATE),
    # What a release claims, counted again in its rows.
    Fault("recheck", "_recount", "bool(model.holds(counts, whole).all())", "True", RECOUNTED),
    Fault("recheck", "_unreadable", "if release.provenance.rows is Rows.SYNTHETIC:", "if False:", RECOUNTED),
    Fault("recheck", "_recounts", "if subject.lost:", "if False:", RECOUNTED),
    Fault("recheck", "run", "if not subject.source and k < 2 and not args.model:", "if False:", RECOUNTED),
    Fault("recheck", "run", "if as_written is False", "if False", RECOUNTED),
    Fault("recheck", "_is_as_written", "file_digest(Path(subject.name)) == recorded", "True", RECOUNTED),
    Fault("gates", "save_release", "found.verdict.check()", "pass", SAVING),
    Fault(
        "gates",
        "save_release",
        "apply_roles(dataset, setting), rng=None)",
        "apply_roles(dataset, setting), rng=1)",
        SAVING,
    ),
    Fault("gates", "save_release", "by_content(published.table)", "published.table", SAVING),
    Fault("gates", "save_release", "path.chmod(0o600)", "path.chmod(0o644)", SAVING),
    # What stands beside a release, and where it comes to stand.
    Fault("codebook", "_nameable", 'getattr(attribute.domain, "of_records", False)', "False", CODEBOOK),
    Fault("codebook", "_suppressed", 'if getattr(domain, "of_records", False):', "if False:", CODEBOOK),
    Fault("codebook", "_refuse_names", ".union(*map(leaks.list_word_spans, words))", "", CODEBOOK),
    Fault("codebook", "_keep_inputs", "if path in there or out.resolve() in path.parents:", "if False:", REPLACING),
    Fault("codebook", "move_files", "undone.callback(os.rename, before / there.name, there)", "pass", REPLACING),
    Fault("codebook", "_place", "os.link(own, there)", "os.replace(own, there)", REPLACING),
    Fault("codebook", "check_domains", "and _is_widened(each.domain)", "and False", OUTSIDE),
    Fault("codebook", "OutsideValues.data", "few = withholding.is_few(self.records)", "few = False", OUTSIDE),
    # What must not stand in an output.
    Fault("leaks", "KnownRecords._is_raw", "0 < self.original.count(shown)", "1 < self.original.count(shown)", LEAKS),
    Fault("leaks", "RecordColumns.count", "len(np.unique(self.people[alike]))", "int(alike.sum())", LEAKS),
    Fault("leaks", "scan_files", '[("file name", name)]', "[]", LEAKS),
    Fault("leaks", "scan_files", "if not seen:", "if False:", LEAKS),
    Fault("leaks", "Names._in", "if [each[0] for each in after] == rest:", "if not rest:", SCAN),
    Fault("leaks", "Names.found", "for text in list_unescaped(node)", "for text in [node]", LEAKS),
    # Whose rows are counted, and what the engine is asked.
    Fault("counting", "select_person_rows", "every = [*columns, people]", "every = [people]", COUNTS),
    Fault("counting", "count_people_by_group", "groups[select_person_rows(people, groups)]", "groups", COUNTS),
    Fault("counting", "count_people_among", "len(np.unique(people[rows]))", "int(np.sum(rows))", COUNTS),
    Fault("counting", "max_per_person", "np.maximum.at", "np.add.at", COUNTS),
    Fault("counting", "quote_name", """text.replace('"', '""')""", "text", ENGINE),
    Fault("counting", "quote_text", """text.replace("'", "''")""", "text", ENGINE),
    # What an attacker gets.
    Fault(
        "release",
        "Release.publish",
        "key, buckets = _drawn(len(self)),",
        "key, buckets = np.arange(len(self)),",
        ORDER,
    ),
    Fault("release", "Release.publish", "numbers = _drawn(", "numbers = np.arange(", ORDER),
    Fault("release", "Release.publish", "buckets = sort_by_content(buckets)", "pass", RELEASE),
    Fault("release", "_cells", "decode_column(column).array", "column.array", RELEASE),
    Fault("release", "_drawn", "os.urandom(8 * size)", "bytes(8 * size)", ORDER),
    Fault(
        "release",
        "Release.has_unprotected_rows",
        "self.people_per_class.min() < 2",
        "self.people_per_class.min() < 1",
        RELEASE,
    ),
    Fault("release", "Release.show", ">= min_count]", ">= 2]", RELEASE),
    Fault("release", "Release.show", "public = self.widened(self.labelled)", "public = self", ENDS),
    Fault("release", "Release._hidden", "np.logical_and.reduce(hidden)", "np.logical_or.reduce(hidden)", RELEASE),
    # What is promised of noise.
    Fault("noise", "NumericNoise.scale", "/ self.epsilon", "/ self.epsilon / 2", NOISE),
    Fault("noise", "NumericNoise._proven", ">= attribute.numbers.width", "> 0", NOISE),
    Fault("noise", "CellNoise._sanitize", "if choose_source(rng) is None and (", "if (", NOISE),
    Fault(
        "noise", "CellNoise._sanitize", "attribute, rng)", "attribute, type(rng)(type(rng.bit_generator)(1)))", NOISE
    ),
    Fault("noise", "keep_probability", "(size - 1) * math.exp(-epsilon)", "size * math.exp(-epsilon)", MECHANISMS),
    Fault("noise", "_truth", "exact * size <= most * (1 - exact)", "True", MECHANISMS),
    Fault("noise", "_bernoulli", "answers if likely == chance else ~answers", "answers", MECHANISMS),
    Fault("noise", "add_geometric_noise", "-np.expm1(-1 / scale)", "-np.expm1(-2 / scale)", MECHANISMS),
    Fault("noise", "_numbers", "if unfit.any():", "if unfit.all():", MECHANISMS),
    # What is read.
    Fault("reading", "_table", "np.logical_and.reduce([table[name]", "np.logical_or.reduce([table[name]", READING),
    Fault("reading", "check_record_count", "counted != found", "counted < found", RECORDS),
    Fault("reading", "check_record_count", "counted != found", "counted > found", RECORDS),
    Fault("reading", "check_header", "if numbers and not (", "if False and not (", READING),
    Fault("reading", "check_names", "names.count(name) > 1", "names.count(name) > 2", READING),
    Fault("reading", "check_same", "set(names) != set(columns[0])", "set(names) - set(columns[0])", READING),
    Fault(
        "reading",
        "check_gaps",
        "if lacking := records - complete:",
        "if 1 < (lacking := records - complete):",
        GAPS,
    ),
    # What the classes of a release keep.
    Fault("models", "AlphaKAnonymity.holds", "(counts.sum(axis=1) >= self.k) & ", "", ANONYMITY),
    Fault("models", "PSensitiveKAnonymity.holds", "(counts.sum(axis=1) >= self.k) & ", "", ANONYMITY),
    Fault("models", "AlphaKAnonymity.level", "counts.max(axis=1)", "counts.min(axis=1)", ANONYMITY),
    Fault("models", "DistinctDiversity.level", "counts > 0", "counts >= 0", DIVERSITY),
    Fault("models", "EntropyDiversity.level", "np.exp(-(shares", "np.exp2(-(shares", DIVERSITY),
    Fault("models", "RecursiveDiversity.level", "self.l - 1 :", "self.l - 2 :", DIVERSITY),
    Fault("models", "RecursiveDiversity.holds", "< self.c * (1 - EXACT)", "<= self.c", DIVERSITY),
    Fault("models", "ConfidenceBound.columns", "if value != self.value", "", DIVERSITY),
    Fault("models", "TCloseness.level", "sum(axis=1) / 2", "sum(axis=1) / 4", CLOSENESS),
    Fault("models", "TCloseness.level", "max(counts.shape[1] - 1, 1)", "counts.shape[1]", CLOSENESS),
    Fault("models", "DeltaDisclosure.level", ", np.inf).max(axis=1)", ", 0).max(axis=1)", CLOSENESS),
    Fault("models", "DeltaDisclosure.holds", "< self.delta - EXACT", "<= self.delta", CLOSENESS),
    Fault("models", "EnhancedBetaLikeness.level", "<= -np.log(q) + EXACT", "<= np.inf", CLOSENESS),
    Fault("models", "DeltaPresence.holds", "(level >= self.low - EXACT)", "(level >= 0)", PRESENCE),
    Fault(
        "models", "DeltaPresence.level", "np.maximum(counts.max(axis=1), 1)", "np.maximum(counts[:, 0], 1)", PRESENCE
    ),
    Fault("models", "_Against.parts", "fits @ people", "fits.sum(axis=1)", PRESENCE),
    Fault("models", "PrivacyModel.worst", 'self.better == "higher"', 'self.better == "lower"', ANONYMITY),
    Fault("models", "Tally.counted", "-np.ones(len(once))", "np.zeros(len(once))", PEOPLE),
    # The class that discloses most is drawn without counts of few people.
    Fault("worst", "_merge", "varies[few].all() and ", "", WORST),
    Fault("worst", "_merge", "(row[merged].sum(), least)", "(row[merged].sum(), 2)", WORST),
    Fault("worst", "_merge", "(row, least) for row in rows]", "(row, least) for row in rows[:1]]", WORST),
    Fault("worst", "merge_values", "np.maximum(low, whole_joined - most_rest)", "low", WORST),
    Fault("worst", "_count", "people[most] >= min_count", "people[most] >= 1", ("explorer/test_boxes.py",)),
]
