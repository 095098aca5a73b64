"""What is seen of the gateway in a soak: levels by the weather's spells, answers by level and path."""

from collections import Counter
from dataclasses import dataclass, field

from gateway.clock import SystemClock

CLOCK = SystemClock()


@dataclass
class Spell:
    """What was seen of the gateway in one spell; a calm one has `bad_share` 0."""

    bad_share: float
    began_s: float
    levels: set[str] = field(default_factory=set)
    last: str = "healthy"
    away_until_s: float = 0.0  # the last moment at which the level was not healthy

    @property
    def calm(self):
        return self.bad_share == 0.0

    def look(self, level):
        self.last = level
        self.levels.add(level)
        if level != "healthy":
            self.away_until_s = CLOCK.now_s()


@dataclass
class Diary:
    """The spells so far, and the answers by the spell's kind, the level in force when they were asked for, and path."""

    spells: list[Spell] = field(default_factory=list)
    answers: Counter = field(default_factory=Counter)
    statuses: Counter = field(default_factory=Counter)
    layers: Counter = field(default_factory=Counter)  # answers that show one at work

    def wrote(self, spell, level, path):
        """Answers that a change of the weather fell into count for neither kind."""
        kind = "between" if spell is not self.spells[-1] else "calm" if spell.calm else "rough"
        self.answers[kind, level, path] += 1

    def share_by_models(self, kind, *levels):
        counts = Counter()
        for (one, asked_at, path), count in self.answers.items():
            if one == kind and asked_at in levels:
                counts[path in ("primary", "secondary")] += count
        return counts[True] / max(1, counts.total())

    def told(self):
        lines = [f"{kind:8}{level:10}{path:12}{count}" for (kind, level, path), count in sorted(self.answers.items())]
        rough = [spell for spell in self.spells if not spell.calm]
        ended = Counter(spell.last for spell in self.spells if spell.calm)
        back = sorted(max(0.0, one.away_until_s - one.began_s) for one in self.spells if one.calm)
        seen = Counter(level for spell in rough for level in spell.levels)
        return "\n".join(
            [
                *lines,
                f"{len(rough)} rough spells, in which was seen {dict(seen)}; calm ones ended {dict(ended)}",
                f"healthy for good after {back[len(back) // 2]:.1f} s of calm (median), {back[-1]:.1f} s at the latest",
            ]
        )
