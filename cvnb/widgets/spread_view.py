"""The curve of a result, the risks under other seeds next to it, and both in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..figures.studies import beside_curve
from ..losses.scale import Scale
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from ..studies.seeds import OverSeeds, growing
from ..views.markup import html
from ..wording import count
from .curve_view import CurveView, figure_of_result
from .view import panel
from .watched import Watched

FIRST = 1  # of the seeds of a cloud; runs have seed 0 unless they say otherwise


class SpreadView:
    """A curve, and if asked for the cloud next to it.

    curve  the figure of both
    words  mean, sd and share of the cloud; what it waits for
    study  what is drawn as the cloud; None before the first seed
    """

    def __init__(self) -> None:
        self.curve, self.words = CurveView(480), panel("spread")
        self.study: OverSeeds | None = None
        self._plain = figure_of_result(None)
        self._has_cloud = False

    def draw(self, figure: Any, has_cloud: bool, words: str = "") -> None:
        """Show the figure of another curve, with room for its cloud or without."""
        self._plain, self._has_cloud, self.study = figure, has_cloud, None
        self.words.layout.display = None if has_cloud else "none"
        self.words.value = f"<div>{html(words)}</div>" if words else ""
        self.curve.draw(beside_curve(figure, None) if has_cloud else figure)

    def grow(self, study: OverSeeds | None) -> None:
        """Show the seeds finished so far."""
        n_shown = 0 if self.study is None else self.study.risks.size
        if study is None or study.risks.size == n_shown or not self._has_cloud:
            return
        self.study = study
        self.words.value = words_of(study)
        self.curve.draw(beside_curve(self._plain, study))

    @property
    def html(self) -> str:
        """The cloud as a small picture, and its words; "" without a cloud."""
        picture = "" if self.study is None else self.study.picture
        return f"<div>{picture}</div>{self.words.value}" if self._has_cloud else ""

    def fill(
        self, result: RiskEstimate, n: int, slot: Watched, publish: Callable[..., None]
    ) -> None:
        """Run the recipe of a result under n seeds; Cancel keeps those that are finished.

        slot     its `draw` shows the seeds meanwhile
        publish  shows the last of them
        """
        try:
            for study in growing(result, n, FIRST, None, slot):
                slot.study = study
        except KeyboardInterrupt:
            pass
        publish(slot.version, lambda: self.grow(slot.study))


def words_of(study: OverSeeds) -> str:
    """Mean, sd, the run itself, and the share of the seed, as HTML."""
    loss, n = record_of(study.result).loss, study.risks.size
    scale = scale_of(study.result)
    mean, own = (scale.write(x) for x in (study.mean, study.result.risk))
    of = "" if study.complete else f" of {study.n}"
    spread = Scale.of_difference(loss, study.sd, study.sd).size(study.sd)
    sd = f", sd <b>{spread}</b>" if n > 1 else ""
    head = f"{loss.shown_name} over {count(n, 'seed')}{of}: mean "
    first = f"{html(head)}<b>{mean}</b>{sd}; this run {own}."
    return "".join(
        f"<div>{line}</div>" for line in (first, *map(html, study.sentences))
    )
