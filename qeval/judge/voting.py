"""From votes to a judgement: a label is what all votes say, else there is none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from qeval.judge.base import Dispute, Judgement, Label, Vote


def weighed(vote: Vote, dispute: Dispute) -> Vote:
    """The vote as it counts: equal rows on all data can't be claimed against an instance.

    Such a vote is `unscored` and keeps its ground. One that names another reading of the question
    stands: differing rows are what it is about.
    """
    if vote.ground == "same_rows" and dispute.differing:
        return replace(vote, label="unscored")
    return vote


def settled(votes: Sequence[Vote], *, judge: str, identity: str) -> Judgement:
    """The judgement of one judge: its label is that of all votes, or `unscored`.

    `split` where one vote says equivalent and another different (a contradicted vote included).
    """
    labels = {vote.label for vote in votes}
    contradicted = any(vote.ground == "same_rows" and vote.label == "unscored" for vote in votes)
    label: Label = votes[0].label if len(labels) == 1 else "unscored"
    said = labels | ({"equivalent"} if contradicted else set())
    return Judgement(
        label=label,
        votes=tuple(votes),
        split={"equivalent", "different"} <= said,
        contradicted=contradicted,
        judge=judge,
        identity=identity,
    )


def majority(members: Sequence[Judgement], *, judge: str, identity: str) -> Judgement:
    """The judgement of a panel: the label of more than half of its members, or `unscored`.

    `split` where members' labels contradict each other or a member is split in itself.
    """
    counts = Counter(member.label for member in members)
    label: Label = next((name for name, n in counts.items() if 2 * n > len(members)), "unscored")
    return Judgement(
        label=label,
        votes=tuple(vote for member in members for vote in member.votes),
        split={"equivalent", "different"} <= counts.keys() or any(m.split for m in members),
        contradicted=any(member.contradicted for member in members),
        judge=judge,
        identity=identity,
    )
