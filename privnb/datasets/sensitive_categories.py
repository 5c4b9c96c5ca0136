"""Recognition of columns that law or custom treats as confidential, which a draft proposes as sensitive.

A proposal is a question to the owner of the table, who alone decides. Names of columns are recognized in English,
German and French. Some kinds of values, such as codes of diseases and of medicines, are recognized under any name.

Source: Regulation (EU) 2016/679 (GDPR), Articles 4, 9 and 10.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privnb.datasets.column_types import ICD, SICK, name_pattern
from privnb.datasets.column_values import Values
from privnb.microdata.schema import Role

SPECIAL = "a special category of personal data (GDPR Art. 9)"
ATC = r"[A-Z]\d\d[A-Z]{2}\d\d"  # the classification of medicines
ASKABLE = Role.QUASI_IDENTIFIER, Role.NEUTRAL  # the roles of columns about which a draft asks
MOST_VALUES = 2_000  # the maximum number of distinct values that are compared with words
EVIDENCE = 2  # the minimum number of words of a category among the values of a column


@dataclass(frozen=True)
class SensitiveCategory:
    """A kind of confidential data.

    Parameters
    ----------
    kind : str
        The kind, such as "health data".
    law : str
        The legal reason, as a part of a sentence.
    names : str
        The names of columns, separated by commas. A name may be a part of a longer name, such as `diagnosis` in
        `main_diagnosis`. A star stands for any letters, and a space for an underscore, a hyphen, a space or nothing.
    values : str
        Values, separated by commas. A column with any other name is of this kind if at least two of these values occur
        and at least half of the records have one of them.
    companions : str
        Names that count only if another column of the table is of the same kind. For example, a cost is a cost of care
        if the table also has a diagnosis.
    """

    kind: str
    law: str
    names: str
    values: str = ""
    companions: str = ""

    @property
    def question(self) -> str:
        """The question to the owner, with the legal reason."""
        return f"Sensitive? It looks like {self.kind}, {self.law}"


def _pattern(names: str) -> re.Pattern[str]:
    """Return the pattern of a list of names; see `SensitiveCategory`."""
    words = [re.escape(each.strip()).replace(r"\*", r"\w*").replace(r"\ ", "[_ .-]?") for each in names.split(",")]
    return name_pattern("|".join(words))


CATEGORIES = (
    SensitiveCategory(
        "health data",
        SPECIAL,
        "diagnos*, icd, dx, disease, diseases, *krankheit*, *erkrankung*, maladie, maladies, pathologie, illness, "
        "illnesses, symptom*, comorbidit*, komorbiditat*, medication, medications, medicine, medicines, "
        "medikament*, medicament, medicaments, arznei*, prescription, prescriptions, atc, *therapy, *therapies, "
        "*therapie, *therapien, hiv, diabet*, cancer, tumor, tumour, krebs*, hypertension, bluthochdruck, "
        "depression, depressed, anxiety, mental health, disability, disabilities, *behinderung*, handicape, bmi, "
        "body mass index, blood pressure, blood type, blood group, blood sugar, blutdruck*, blutgruppe, tension "
        "arterielle, cholesterol, glucose, insulin, smoker, smoking, *raucher*, fumeur, fumeuse, pregnant, "
        "pregnancy, schwanger*, grossesse, enceinte, health, health status, gesundheit*, sante, etat de sante, "
        "allergy, allergies, allergie, allergien, vaccin*, impfung*, impfstatus",
        companions="cost, costs, charge, charges, expenses, *kosten, cout, couts, treatment, behandlung*, traitement, "
        "drug, drugs, procedure, procedures, stroke, severity",
    ),
    SensitiveCategory(
        "racial or ethnic origin",
        SPECIAL,
        "race, racial, ethnic, ethnicity, ethnie, ethnicite, ethnizitat, ethnizitaet, national origin, country of "
        "origin, nationality, nationalitat, nationalitaet, nationalite, native country, country of birth, birth "
        "country, place of birth, birthplace, citizenship, geburtsland, geburtsort, herkunft, herkunftsland, "
        "staatsangehorigkeit, staatsangehoerigkeit, staatsburgerschaft, migrationshintergrund, migrationsstatus, "
        "immigrant, immigration status, pays de naissance, lieu de naissance, origine, origine ethnique, mother "
        "tongue, muttersprache, langue maternelle",
        "asian, hispanic, latino, caucasian, african american, african-american, native american, asian-pac-islander",
    ),
    SensitiveCategory(
        "religious belief",
        SPECIAL,
        "religion, religions, religious*, religios*, religieu*, konfession*, confession, faith, kirchensteuer*, "
        "church member*, church attendance, culte, croyance, glaube",
        "christian, catholic, roman catholic, protestant, evangelical, orthodox, muslim, islam, jewish, judaism, "
        "hindu, buddhist, sikh, atheist, katholisch, evangelisch, protestantisch, muslimisch, jüdisch, "
        "konfessionslos, catholique, protestante, musulman, musulmane, juif, juive, bouddhiste, athée",
    ),
    SensitiveCategory(
        "data on criminal convictions or offenses",
        "which only official authority or a law may allow to process (GDPR Art. 10)",
        "criminal*, crime, crimes, convicted, conviction, convictions, offense, offenses, offence, offences, "
        "felony, felonies, misdemeanor*, arrest, arrests, arrested, prison, prisoner, incarcerat*, recid, is "
        "recid, recidivism, recidive, priors, priors count, charge degree, vorstrafe*, straftat*, vorbestraft, "
        "verurteil*, strafregister, delit, delits, condamnation, condamnations, casier judiciaire, infraction, "
        "infractions",
    ),
    SensitiveCategory(
        "data on sex life or sexual orientation",
        SPECIAL,
        "sexual, sexual orientation, sexuality, sexualitat, sexualitaet, sexuelle orientierung, sexualite, "
        "orientation sexuelle, transgender, gender identity, lgbt*",
        "heterosexual, homosexual, bisexual, gay, lesbian, heterosexuell, homosexuell, bisexuell, lesbisch",
    ),
    SensitiveCategory(
        "trade-union membership",
        SPECIAL,
        "trade union, union member*, union status, labor union, unionized, unionised, *gewerkschaft*, syndicat, "
        "syndique",
    ),
    SensitiveCategory(
        "political opinion",
        SPECIAL,
        "politics, political*, politik, politisch*, politique, party id, party affiliation, party membership, "
        "partei, parteimitglied*, ideology, ideologie, voted, voted for, vote choice, vote intention, voting "
        "intention, wahlabsicht, wahlentscheidung, intention de vote",
        "democrat, republican, labour, conservative, liberal, socialist, libertarian, cdu, spd, fdp, afd",
    ),
    SensitiveCategory(
        "genetic or biometric data",
        SPECIAL,
        "gene, genes, genetic*, genetisch*, genetique*, genotype*, genome, dna, snp, snps, allele*, brca, "
        "biometr*, fingerprint*, fingerabdruck, empreinte digitale, empreintes digitales, voiceprint, face "
        "template, iris scan, retina scan",
    ),
    SensitiveCategory(
        "income or wealth",
        "not a special category of the GDPR, but confidential",
        "salary, salaries, *income, wage, wages, earnings, net worth, wealth, debt, debts, credit score, "
        "*einkommen, gehalt, bruttogehalt, nettogehalt, jahresgehalt, monatsgehalt, *lohn, vermogen, vermoegen, "
        "schulden, salaire, salaires, revenu, revenus, patrimoine, dettes, capital gain, capital loss, account "
        "balance, loan amount",
    ),
)
HEALTH = CATEGORIES[0]
PATTERNS = {each: (_pattern(each.names), each.companions and _pattern(each.companions)) for each in CATEGORIES}
WORDS = {each: {word.strip() for word in each.values.split(",")} for each in CATEGORIES if each.values}
# Names of the same words with another meaning: numbers of a place, and a contest.
OTHERS = _pattern(
    "median, mean, average, avg, per capita, rate, rates, race time, race number, race date, race distance"
)


def find_sensitive(values: Mapping[str, Values], roles: Mapping[str, Role]) -> dict[str, SensitiveCategory]:
    """Return the columns that look confidential, and the kind of each of these columns.

    Parameters
    ----------
    values : dict of str to Values
        The values of each column of a table.
    roles : dict of str to Role
        The role of each column. Only quasi-identifiers and neutral columns are returned, because all other columns are
        already sensitive or are not published.

    Returns
    -------
    dict of str to SensitiveCategory
        In the order of `values`.
    """
    found = {name: category for name, each in values.items() if (category := _recognize(name, each))}
    for category in {*found.values()}:
        _, companions = PATTERNS[category]
        found |= {
            name: category for name in values if companions and name not in found and companions.search(_plain(name))
        }
    return {name: found[name] for name in values if name in found and roles[name] in ASKABLE}


def _recognize(name: str, values: Values) -> SensitiveCategory | None:
    """Return the kind of a column by its name or its values; None for a column that does not look confidential."""
    if not values.records:
        return None
    plain = _plain(name)
    if not OTHERS.search(plain):
        for category, (names, _) in PATTERNS.items():
            if names.search(plain):
                return category
    diseases = values.match(ICD) and (SICK.search(name) or values.texts.str.contains(".", regex=False).mean() > 0.5)
    if values.different > 2 and (diseases or values.match(ATC)):
        return HEALTH
    if values.different <= MOST_VALUES:
        texts = values.texts.str.strip().str.lower()
        for category, words in WORDS.items():
            known = texts.isin(words).to_numpy(dtype=bool)
            if texts[known].nunique() >= EVIDENCE and 2 * int(np.sum(values.counts[known])) >= values.records:
                return category
    return None


def _plain(name: str) -> str:
    """Return a name without accents: Nationalität becomes Nationalitat."""
    return "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
