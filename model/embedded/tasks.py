"""Questions with answers, drawn at random: what one training step is made of.

Contract
--------
`Draw` turns the corpus and the public sets into `Example`s: a question in the project's own language, a state, and the
index of the right answer in model order (noul: 0 = true, 1 = false). All randomness comes from the `random.Random` that
the caller passes, so that a seed decides every example.

What the mix is meant to do (the reasons are measurements, see the model card):
* messages and concepts are drawn by weights under which each concept is as often true as false;
* most negatives come from the concept's own family, where the topic is the same and only the answer differs;
* phrasings, criteria and variants are drawn anew each time, so that no phrasing can be learnt by heart;
* several questions are asked of one message: the same words, different answers, so that the question must be read;
* options of choices and levels of scores are also asked as nouls, and nouls as choices: more concepts, same labels.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.embedded.corpus import Family, Message, OpenText
from model.embedded.pairs import words_of
from model.embedded.public import DEVELOPMENT, IntentSet, YesNoRow
from model.questions import Choice, Noul, Score

HELD_BACK_NOULS = (
    *("spoiler", "compares_competitor", "about_travel", "contacted_before"),
    *("conspiracy_claim", "automated_traffic", "privilege_change", "illegal_sale"),
)
HELD_BACK_CHOICES = ("genre", "data_kind")
HELD_BACK_SCORES = ("relevance", "completeness", "spam_likelihood")
"""Concepts of the corpus that are never trained: hyperparameters, early stop and temperatures are chosen on them."""

HELD_BACK_MESSAGES = 10
"""Every tenth message is never trained on: "new messages of trained concepts" while developing."""
FIRST = (
    *("urgent", "refund", "complaint", "positive", "phishing"),
    *("spam", "prompt_injection", "personal_data", "destructive_command", "insult"),
)
"""What people ask first: drawn more often than the other concepts, by `FIRST_WEIGHT`."""
FIRST_WEIGHT = 3.0
HELD_BACK_PHRASINGS = 2
"""The last two phrasings of each noul are never trained on."""

ANYWHERE = frozenset(
    (
        *("urgent", "polite", "positive", "negative", "technical_problem", "billing"),
        *("thanks", "needs_reply", "sarcastic", "confused", "asks_question", "deadline"),
        *("complaint", "angry", "mentions_money", "mentions_date", "mentions_person", "first_person"),
        *("past_event", "is_question", "is_opinion", "recommends", "humorous", "formal"),
        *("about_technology", "about_food", "about_money_markets", "personal_data", "read_only", "insult"),
        *("hate", "harassment", "profanity", "self_promotion", "off_topic", "spam"),
        *("needs_approval", "spends_money", "sends_message", "suspicious_link", "wrong_charge", "sales_interest"),
        *(
            "contract",
            "invoice",
            "receipt",
            "refund",
            "price_objection",
        ),
    )
)
"""Concepts that can be true in another family's messages, so that its unlabelled messages are no negatives."""

_INTENT_NOULS = (
    "Does the user want this: {}?",
    "Is this about {}?",
    "The message is about {}.",
    "{}",
    "The request concerns {}.",
    "Is {} what the person is asking for?",
    "True if the text is a request about {}.",
    "Would you file this under {}?",
)
_WANT_NOULS = (
    "Does the writer want to {}?",
    "The user wants to {}.",
    "Is the purpose of this message to {}?",
    "Somebody here would like to {}.",
    "True if the person is trying to {}.",
    "Is the user trying to {}?",
    "The goal is to {}.",
    "wants to {}",
    "Check whether the sender wishes to {}.",
    "Does this person ask to {}?",
)
_ANSWER_NOULS = (
    "{question} Answer: {answer}",
    "{question} - {answer}",
    "Is this the right answer? {question} {answer}",
    '{answer}: is this how one would answer "{question}"?',
)
_WHICH = (
    "Which of these is true of the text?",
    "Which statement fits?",
    "Pick what applies to the message.",
    "What best describes this?",
    "Label:",
)
_INTENT_CHOICES = (
    "What does the user want?",
    "Which intent is expressed?",
    "Choose the topic of the request.",
    "What is this about?",
    "Route the message.",
    "",
    "Which category fits best?",
    "Intent",
)


@dataclass(frozen=True)
class Example:
    """A question, a state, and the right answer's index in model order. `group` names the concept."""

    question: Noul | Choice | Score
    state: str
    answer: int
    group: str


def noul_of(body: Mapping[str, Any], rng: random.Random, *, phrasing: int | None = None) -> Noul:
    """A noul in one of its phrasings (drawn from the trained ones unless given), at times with criteria."""
    phrasings = body["phrasings"]
    if phrasing is None:
        phrasing = rng.randrange(len(phrasings) - HELD_BACK_PHRASINGS)
    criteria = rng.choice(body["criteria"]) if rng.random() < 0.5 else None
    return Noul(instructions=phrasings[phrasing], criteria=criteria)


SHARES = (0.44, 0.34, 0.14)
"""Of the sheets: the corpus, open texts, intents; the rest is NLU++."""
YES_WEIGHT = 2.0
"""A message has few concepts that are true, and each is asked at most once: without this, most answers would be no."""


def weight(concept: str) -> float:
    """How much more often than others a concept is drawn."""
    return FIRST_WEIGHT if concept in FIRST else 1.0


class _Side:
    """Rows with yes/no labels, and the weights that balance every concept's two sides."""

    def __init__(self, rows: Sequence[tuple[str, frozenset[str], frozenset[str]]]) -> None:
        yes: Counter[str] = Counter(c for _, true, _ in rows for c in true)
        no: Counter[str] = Counter(c for _, _, false in rows for c in false)
        both = set(yes) & set(no)
        self.labels = [
            {c: YES_WEIGHT * weight(c) / yes[c] for c in sorted(true & both)}
            | {c: weight(c) / no[c] for c in sorted(false & both)}
            for _, true, false in rows
        ]
        self.true = [true for _, true, _ in rows]
        self._totals = list(itertools.accumulate(sum(weights.values()) for weights in self.labels))

    def row(self, rng: random.Random) -> int:
        """A row, as likely as what it has to say."""
        return bisect.bisect(self._totals, rng.random() * self._totals[-1])

    def concepts(self, row: int, count: int, rng: random.Random) -> list[str]:
        """Up to `count` different concepts of a row, by weight."""
        keyed = [(rng.random() ** (1 / weight), concept) for concept, weight in self.labels[row].items()]
        return [concept for _, concept in heapq.nlargest(count, keyed)]


class Draw:
    """Draws sheets: one message and several questions about it. Never a held-back concept, message or phrasing."""

    def __init__(
        self,
        families: Sequence[Family],
        intents: Sequence[IntentSet],
        yes_no: Sequence[YesNoRow],
        open_texts: Sequence[OpenText],
    ) -> None:
        self._families = families
        self._messages = {f.name: [m for i, m in enumerate(f.messages) if i % HELD_BACK_MESSAGES] for f in families}
        self._nouls = {f.name: [n for n in f.nouls if n not in HELD_BACK_NOULS] for f in families}
        self._sides = {f.name: self._side(f) for f in families}
        self._elsewhere = [(f, n) for f in families for n in self._nouls[f.name] if n not in ANYWHERE]
        self._levels = {f.name: self._count("scores", f) for f in families}
        self._options = {f.name: self._count("choices", f) for f in families}
        self._intents = [(s, i) for s in intents for i in s.train if i not in DEVELOPMENT[s.name]]
        self._open = [text for i, text in enumerate(open_texts) if i % HELD_BACK_MESSAGES]
        self._near: dict[tuple[str, str], list[str]] = {}
        asked: dict[str, dict[bool, set[str]]] = {}
        for row in yes_no:
            asked.setdefault(row.text, {True: set(), False: set()})[row.answer].add(row.instructions)
        self._yes_no = [(text, frozenset(sides[True]), frozenset(sides[False])) for text, sides in asked.items()]
        self._yes_no_side = _Side(self._yes_no) if self._yes_no else None

    def _side(self, family: Family) -> _Side:
        names = frozenset(self._nouls[family.name])
        return _Side([(m.text, m.yes & names, m.no & names) for m in self._messages[family.name]])

    def _count(self, part: str, family: Family) -> dict[str, Counter[Any]]:
        """How often each answer of each trained score or choice occurs."""
        counts: dict[str, Counter[Any]] = {}
        for message in self._messages[family.name]:
            for name, answer in getattr(message, part).items():
                if name not in (*HELD_BACK_SCORES, *HELD_BACK_CHOICES):
                    counts.setdefault(name, Counter())[answer] += 1
        return counts

    def set_neighbours(self, near: Mapping[tuple[str, str], list[str]]) -> None:
        """For (set, intent), its set's other trained intents from the nearest on: where hard negatives come from."""
        self._near = dict(near)

    def phrasings(self) -> list[list[str]]:
        """The trained phrasings of each trained noul of the corpus."""
        return [f.nouls[n]["phrasings"][:-HELD_BACK_PHRASINGS] for f in self._families for n in self._nouls[f.name]]

    def intents(self) -> list[tuple[IntentSet, str]]:
        """The trained intents."""
        return list(self._intents)

    def sheet(self, rng: random.Random) -> list[Example]:
        """Questions about one message: of the corpus, of an open text, of an intent set, of NLU++ (see `SHARES`)."""
        kind = rng.random()
        if kind < SHARES[0]:
            return self._corpus_sheet(rng)
        if kind < SHARES[0] + SHARES[1]:
            text = rng.choice(self._open)
            return [Example(Noul(instructions=ask), text.text, 0 if true else 1, "open") for ask, true in text.asks]
        return self._intent_sheet(rng) if kind < sum(SHARES) or self._yes_no_side is None else self._yes_no_sheet(rng)

    def _corpus_sheet(self, rng: random.Random) -> list[Example]:
        family = rng.choices(self._families, weights=[len(self._nouls[f.name]) for f in self._families])[0]
        side = self._sides[family.name]
        row = side.row(rng)
        message = self._messages[family.name][row]
        out = []
        for concept in side.concepts(row, 5, rng):
            answer = 0 if concept in message.yes else 1
            out.append(Example(noul_of(family.nouls[concept], rng), message.text, answer, concept))
        if rng.random() < 0.4:
            other, concept = rng.choice(self._elsewhere)
            if other is not family:
                out.append(Example(noul_of(other.nouls[concept], rng), message.text, 1, concept))
        drawn = [
            self._choice(family, message, rng),
            self._score(family, message, rng),
            self._score(family, message, rng),
        ]
        asked = [example for example in drawn if example is not None]
        out += asked
        out += [self._answer_noul(example, rng) for example in asked if rng.random() < 0.5]
        if side.true[row] and rng.random() < 0.25:
            out.append(self._choice_of_nouls(family, message, rng))
        return out

    def _choice(self, family: Family, message: Message, rng: random.Random) -> Example | None:
        """A choice with 2-6 of its options; rare answers are kept more often than frequent ones."""
        counts = self._options[family.name]
        names = [name for name in message.choices if name in counts]
        if not names:
            return None
        name = rng.choice(names)
        right = message.choices[name]
        if rng.random() > (min(counts[name].values()) / counts[name][right]) ** 0.7:
            return None
        variant = rng.choice(family.choices[name])
        wrong = [option for option in variant["criteria"] if option != right]
        kept = {right, *rng.sample(wrong, k=min(len(wrong), rng.randint(1, 5)))}
        criteria = {option: text for option, text in variant["criteria"].items() if option in kept}
        question = Choice(instructions=variant["instructions"], criteria=criteria)
        return Example(question, message.text, sorted(criteria).index(right), name)

    def _score(self, family: Family, message: Message, rng: random.Random) -> Example | None:
        """A score; rare levels are kept more often than frequent ones."""
        counts = self._levels[family.name]
        names = [name for name in message.scores if name in counts]
        if not names:
            return None
        name = rng.choice(names)
        level = message.scores[name]
        if rng.random() > (min(counts[name].values()) / counts[name][level]) ** 0.5:
            return None
        variant = rng.choice(family.scores[name])
        criteria = list(variant["criteria"])
        answer = level
        if rng.random() < 0.15:
            # Scales also run downwards; which end is which must be read, not learnt.
            criteria.reverse()
            answer = len(criteria) - 1 - level
        question = Score(instructions=variant["instructions"], criteria=criteria)
        return Example(question, message.text, answer, name)

    def _answer_noul(self, asked: Example, rng: random.Random) -> Example:
        """Whether an answer of a choice or score is the right one, as a noul."""
        question = asked.question
        assert not isinstance(question, Noul)
        options = question.options()
        right = rng.random() < 0.5
        index = asked.answer if right else rng.choice([i for i in range(len(options)) if i != asked.answer])
        description = options[index].description
        if isinstance(question, Score) or (description and rng.random() < 0.5):
            text = str(description)
        else:
            text = words_of(options[index].id)
        template = rng.choice(_ANSWER_NOULS)
        noul = Noul(instructions=template.format(question=question.instructions or "", answer=text).strip())
        return Example(noul, asked.state, 0 if right else 1, asked.group)

    def _choice_of_nouls(self, family: Family, message: Message, rng: random.Random) -> Example:
        """Which of some nouls is true, where one is."""
        names = self._nouls[family.name]
        concept = rng.choice([n for n in names if n in message.yes])
        free = [n for n in names if n in message.no]
        short = rng.random() < 0.4
        criteria: dict[str, None] = {}
        right = ""
        for name in (concept, *rng.sample(free, k=min(len(free), rng.randint(1, 4)))):
            option = name if short else rng.choice(family.nouls[name]["phrasings"][:-HELD_BACK_PHRASINGS])
            criteria[option] = None
            right = option if name == concept else right
        question = Choice(instructions=rng.choice(_WHICH), criteria=criteria)
        return Example(question, message.text, sorted(criteria).index(right), "which")

    def _intent_sheet(self, rng: random.Random) -> list[Example]:
        intents, intent = rng.choice(self._intents)
        text = rng.choice(intents.train[intent])
        near = self._near[intents.name, intent]
        out = []
        for wanted in (intent, intent, *rng.sample(near[:8], k=1), rng.choice(near)):
            noul = Noul(instructions=_intent_phrase(intents, wanted, rng))
            out.append(Example(noul, text, 0 if wanted == intent else 1, wanted))
        if rng.random() < 0.3:
            other, concept = rng.choice(self._elsewhere)
            if other.name in ("agent", "moderation", "security"):
                out.append(Example(noul_of(other.nouls[concept], rng), text, 1, concept))
        if rng.random() < 0.6:
            out.append(self._intent_choice(intents, intent, text, rng))
        return out

    def _intent_choice(self, intents: IntentSet, intent: str, text: str, rng: random.Random) -> Example:
        near = self._near[intents.name, intent]
        wrong = rng.sample(near[:10], k=rng.randint(1, 4))
        form = rng.random()
        criteria: dict[str, str | None] = {}
        for option in (intent, *wrong):
            phrase = intents.phrases.get(option)
            if phrase and form < 0.3:
                criteria[phrase] = None
            else:
                criteria[option] = f"wants to {phrase}" if phrase and form < 0.6 else None
        name = intent if intent in criteria else intents.phrases[intent]
        question = Choice(instructions=rng.choice(_INTENT_CHOICES) or None, criteria=criteria)
        return Example(question, text, sorted(criteria).index(name), intents.name)

    def _yes_no_sheet(self, rng: random.Random) -> list[Example]:
        assert self._yes_no_side is not None
        row = self._yes_no_side.row(rng)
        text, true, _ = self._yes_no[row]
        out = []
        for instructions in self._yes_no_side.concepts(row, 4, rng):
            asked = instructions
            if rng.random() < 0.5:
                asked = asked.replace("the user", rng.choice(("the writer", "this person", "the customer", "somebody")))
            out.append(Example(Noul(instructions=asked), text, 0 if instructions in true else 1, instructions))
        return out


def _intent_phrase(intents: IntentSet, intent: str, rng: random.Random) -> str:
    phrase = intents.phrases.get(intent)
    if phrase and rng.random() < 0.65:
        return rng.choice(_WANT_NOULS).format(phrase)
    return rng.choice(_INTENT_NOULS).format(words_of(intent).lower())
