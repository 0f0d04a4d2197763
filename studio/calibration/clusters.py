"""Clusters of texts with the words that set them apart: what the states have in common that no option fits.

Contract
--------
Small and deterministic: spherical k-means on tf-idf of words, started from far-apart texts. A cluster's words are those
that are most over-represented in it against all texts given as the background. Meant for tens to thousands of texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST = 4
"""Texts that a cluster must have to be shown."""
MOST_CLUSTERS = 5
ROUNDS = 20
VOCABULARY = 2000
WORDS = 5
TELLING = 0.1
"""How over-represented a word must be to be named: one that half of a group has, and 40 % of all texts, is not."""
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Cluster:
    """`members` are indices of texts, the most typical first; `words` what sets it apart, the strongest first."""

    members: tuple[int, ...]
    words: tuple[str, ...]


def clusters(texts: Sequence[str], background: Sequence[str]) -> list[Cluster]:
    """Groups of texts, the largest first; groups under `LEAST` are left out.

    Parameters
    ----------
    texts : the texts to group; background : texts that show which words are usual (may hold the same ones).
    """
    if len(texts) < LEAST:
        return []
    bags = [_WORD.findall(text.lower()) for text in texts]
    usual = [set(_WORD.findall(text.lower())) for text in background] or [set(bag) for bag in bags]
    spread = Counter(word for words in usual for word in words)
    seen = Counter(word for bag in bags for word in set(bag))
    vocabulary = sorted((w for w, n in seen.items() if n > 1), key=lambda w: (-seen[w], w))[:VOCABULARY]
    if not vocabulary:
        return []
    place = {word: i for i, word in enumerate(vocabulary)}
    idf = np.array([np.log((1 + len(usual)) / (1 + spread[w])) + 1e-6 for w in vocabulary])
    vectors = np.zeros((len(texts), len(vocabulary)))
    for row, bag in zip(vectors, bags, strict=True):
        for word in set(bag):
            if word in place:
                row[place[word]] = idf[place[word]]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    group = _kmeans(vectors, max(1, min(MOST_CLUSTERS, len(texts) // (2 * LEAST))))
    found = []
    for number in np.unique(group):
        members = np.flatnonzero(group == number)
        if members.size < LEAST:
            continue
        centre = vectors[members].mean(axis=0)
        typical = members[np.argsort(-(vectors[members] @ centre), kind="stable")]
        inside = (vectors[members] > 0).mean(axis=0)
        usual_share = np.array([(spread[w] + 1) / (len(usual) + 2) for w in vocabulary])
        lift = inside * np.log((inside + 1e-9) / usual_share)
        best = [vocabulary[i] for i in np.argsort(-lift, kind="stable")[:WORDS] if lift[i] > TELLING]
        found.append(Cluster(tuple(int(i) for i in typical), tuple(best)))
    return sorted(found, key=lambda c: -len(c.members))


def _kmeans(vectors: Array, k: int) -> NDArray[np.intp]:
    """(n,) the group of each unit vector, by cosine."""
    # The first centre is the most central text, each further one the text least like those before.
    chosen = [int(np.argmax(vectors @ vectors.mean(axis=0)))]
    while len(chosen) < k:
        likeness = (vectors @ vectors[chosen].T).max(axis=1)
        chosen.append(int(np.argmin(likeness)))
    centres = vectors[chosen]
    group = np.argmax(vectors @ centres.T, axis=1)
    for _ in range(ROUNDS):
        sums = np.stack([vectors[group == i].sum(axis=0) for i in range(k)])
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
        moved = np.argmax(vectors @ centres.T, axis=1)
        if np.array_equal(moved, group):
            break
        group = moved
    return group
