"""A composed configuration becomes a validated cell, and a cell has a key.

Building a cell starts nothing: models, languages and strategies are cheap objects, and whatever is
wrong with them is an `InputError` before the first model call.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from qeval.choices import NAMING, chosen
from qeval.configuration import compose, plain
from qeval.engines.base import Engine, EngineInfo, QueryLimits
from qeval.errors import InputError, did_you_mean
from qeval.judge.base import Judge
from qeval.languages.base import Language
from qeval.models.base import Model
from qeval.paths import shipped
from qeval.prompts.base import PromptStrategy
from qeval.redaction import redact
from qeval.scoring.metrics import check_weights
from qeval.scoring.spec import Policy
from qeval.scoring.verdict import Which
from qeval.settings import check, typed, whole
from qeval.suite import Case, Suite

if TYPE_CHECKING:
    from omegaconf import DictConfig

__all__ = ["Cell", "build_cell", "build_engine", "cell_key", "compose"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment, ready to run: model × language × strategy × cases × scoring × judge.

    `config` is what a person wrote and chose (secrets blanked, environment lookups unresolved),
    `composed` the same resolved, for memory only. `engine_config` says which engine to start,
    `instances` the data sets, base first; a counterexample of the predictions that
    `counterexamples` names may take `counterexample_s` seconds.
    """

    name: str
    config: Mapping[str, Any]
    composed: Mapping[str, Any]
    suite: Suite
    cases: tuple[Case, ...]
    language: Language
    strategy: PromptStrategy
    model: Model
    engine_config: Mapping[str, Any]
    instances: tuple[str, ...]
    policy: Policy
    limits: QueryLimits
    repeats: int
    counterexamples: Which
    counterexample_s: float
    keep_golds: bool
    weights: Mapping[str, float]
    thresholds: Mapping[str, float]
    judge: "Judge | None" = None

    @property
    def total(self) -> int:
        """How many records the finished cell has."""
        return len(self.cases) * self.repeats

    @property
    def engine_id(self) -> str:
        """Cells with the same one run on one engine."""
        return json.dumps(self.engine_config, sort_keys=True, default=repr)


def build_cell(config: "DictConfig", suites: dict[str, Suite] | None = None) -> Cell:
    """Validate one composed configuration. Raises `InputError`.

    `suites` keeps what is loaded for the other cells of a sweep.
    """
    from omegaconf import OmegaConf

    from qeval.models.cache import cached
    from qeval.suites import load_suite, select_cases
    from qeval.suites.loader import suite_folder

    values = plain(config)
    suites = {} if suites is None else suites
    folder = suite_folder(values["suite"])
    if str(folder) not in suites:
        suites[str(folder)] = load_suite(folder)
    suite = suites[str(folder)]
    language: Language = construct(values["language"], "language", without=("engine", "existing"))
    if language.name not in suite.languages:
        raise InputError(
            f"suite {suite.name!r} has no {language.name} golds; it has: "
            + ", ".join(suite.languages)
        )
    cases = select_cases(suite, values["difficulty"], language=language.name)
    raw = OmegaConf.to_container(config, resolve=False)
    assert isinstance(raw, dict)
    for settings in (values, raw):
        settings["difficulty"] = _named_with_subset(settings["difficulty"])
        # A suite given by its path alone must not pass for the one that is the default, and must be
        # found again by who looks at the cell from another folder.
        path = None if folder.parent == shipped("cases") else str(folder.absolute())
        settings["suite"] = {**settings["suite"], "name": suite.name, "path": path}
    scoring = dict(values["scoring"])
    engine_config = _engine_config(values, suite)
    instances = ("base", *_variants(scoring, suite, engine_config))
    check_weights(scoring["weights"])
    whole(values, "workers", least=1)
    check(bool, values["share_runs"], "share_runs")
    return Cell(
        name=_name(values),
        config=redact({str(key): value for key, value in raw.items() if key != "hydra"}),
        composed=values,
        suite=suite,
        cases=cases,
        language=language,
        strategy=construct(values["prompt_strategy"], "prompt_strategy"),
        model=cached(construct(values["model"], "model")),
        engine_config=engine_config,
        instances=instances,
        policy=typed(Policy, scoring, "scoring."),
        counterexamples=_which(scoring),
        counterexample_s=check(
            float, scoring.get("counterexample_s", 5), "scoring.counterexample_s"
        ),
        keep_golds=check(bool, scoring.get("keep_golds", True), "scoring.keep_golds"),
        limits=typed(QueryLimits, values["limits"], "limits."),
        repeats=whole(values, "repeats", least=1),
        weights=scoring["weights"],
        thresholds=_thresholds(values.get("fail_under") or {}),
        judge=build_judge(values["judge"]),
    )


def build_judge(values: Mapping[str, Any]) -> Judge | None:
    """The judge that `conf/judge/<name>.yaml` describes, None for `judge=none`."""
    return construct(values, "judge") if "_target_" in values else None


def _variants(
    scoring: Mapping[str, Any], suite: Suite, engine_config: Mapping[str, Any]
) -> tuple[str, ...]:
    """The variants of the data that right predictions are tried on, in the suite's order.

    `all` are none where the engine would have to load anew for each: then numbers are obeyed.
    """
    there = tuple(name for name in suite.instances if name != "base")
    asked = scoring["variants"]
    if asked == "all":
        # Without a URI it is an engine that we run; it costs a little to build one only to ask.
        own = engine_config.get("uri") is None
        return there if own or side_by_side(build_engine(engine_config)) else ()
    if isinstance(asked, str):
        raise InputError(f"scoring.variants must be a whole number or all, not {asked!r}")
    variants = whole(scoring, "variants", least=0)
    if variants > len(there):
        raise InputError(f"scoring.variants={variants}, but suite {suite.name!r} has {len(there)}")
    return there[:variants]


def _named_with_subset(difficulty: Mapping[str, Any]) -> dict[str, Any]:
    """The filters with a name that tells a part of the cases (`hard-representative`) from all."""
    named = [difficulty.get("name"), difficulty.get("subset")]
    parts = [str(name) for name in named if name not in (None, "all")]
    return {**difficulty, "name": "-".join(parts) or "all"}


def _which(scoring: Mapping[str, Any]) -> Which:
    asked, known = scoring.get("counterexamples", "refuted"), get_args(Which)
    if asked not in known:
        near = did_you_mean(str(asked), known)
        raise InputError(f"scoring.counterexamples={asked}: there are {', '.join(known)}.{near}")
    which: Which = asked
    return which


def _thresholds(asked: Any) -> dict[str, float]:
    if not isinstance(asked, Mapping):
        raise InputError(
            f"fail_under must name a metric, e.g. fail_under.execution_accuracy=0.7, not {asked!r}"
        )
    bounds = {
        str(metric): check(float, bound, f"fail_under.{metric}")
        for metric, bound in asked.items()
        if bound is not None
    }
    for metric, bound in bounds.items():
        if bound > 1:
            raise InputError(f"fail_under.{metric} must be a share from 0 to 1, not {bound:g}")
    return bounds


def build_engine(engine_config: Mapping[str, Any]) -> Engine:
    """The engine a cell asks for, not started."""
    engine: Engine = construct(engine_config, "engine")
    return engine


def side_by_side(engine: Engine) -> bool:
    """Whether an engine holds several instances at once."""
    return bool(getattr(engine, "side_by_side", True))


def cell_key(cell: Cell, engine: EngineInfo) -> str:
    """A hash (16 hex digits) of everything that can change the cell's records.

    Left out on purpose: `repeats` (more repeats extend a cell), weights and thresholds (derived),
    what the suite holds for languages that no prompt shows, and where and how fast things run.
    """
    from qeval import __version__

    language = cell.language.name
    source = getattr(cell.strategy, "source_language", None) or ""
    golds = [case.gold.get(source) for case in cell.cases]
    golds += [example.gold.get(source) for example in cell.suite.examples]
    scoped = getattr(cell.strategy, "schema", None) == "oracle"
    facts = {
        "qeval": __version__,
        "model": cell.model.identity(),
        "strategy": cell.strategy.identity(),
        "language": [language, cell.language.title, list(cell.language.fences)],
        "suite": cell.suite.name,
        "cases": [
            [case.id, dict(case.question), case.gold[language], case.answer] for case in cell.cases
        ],
        "examples": [
            [example.id, dict(example.question), example.gold.get(language), example.tags]
            for example in cell.suite.examples
        ],
        **({"sources": golds} if source else {}),
        **({"scopes": [case.scope.get(language) for case in cell.cases]} if scoped else {}),
        "prompt_schema": cell.suite.schema_text.get(language),
        "glossary": cell.suite.glossary,
        "reference_date": cell.suite.reference_date,
        "instances": [cell.suite.instance(language, name).key for name in cell.instances],
        "engine": str(engine),
        "policy": cell.policy,
        "limits": cell.limits,
        **({} if cell.judge is None else {"judge": cell.judge.identity()}),
    }
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def construct(values: Mapping[str, Any], group: str, without: Sequence[str] = ()) -> Any:
    """Build the object that a group's `_target_` names, with its other keys as arguments.

    Raises `InputError` where they are not those that it takes, or not right.
    """
    import inspect
    from importlib import import_module

    arguments = {key: value for key, value in values.items() if key not in without}
    target = arguments.pop("_target_", None)
    if not isinstance(target, str):
        raise InputError(f"{group}: the configuration has no _target_ (the class to build)")
    try:
        module, _, name = target.rpartition(".")
        made = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{group}: {error} (_target_ is {target}). A module of your own must be installed, or "
            "its folder named in the environment, e.g. PYTHONPATH=."
        ) from error
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{group}: {error}") from error
    try:
        inspect.signature(made).bind(**arguments)
    except TypeError as error:
        raise InputError(
            f"{group}: {error} (of {target}). A configuration that another version of qeval has "
            "recorded needs that version"
        ) from error
    try:
        built = made(**arguments)
    except InputError:
        raise
    except (ImportError, TypeError, ValueError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise InputError(f"{group}: {' '.join(lines[:2])}") from error
    _check_methods(built, group, target)
    return built


def _check_methods(built: object, group: str, target: str) -> None:
    """Raise `InputError` where a class of a user's own lacks what the pipeline will ask of it."""
    protocol = {"judge": Judge, "model": Model, "prompt_strategy": PromptStrategy}.get(group)
    if protocol is None:
        return
    names = sorted(n for n in {*vars(protocol), *protocol.__annotations__} if n[0] != "_")
    missing = [
        name
        for name in names
        if not hasattr(built, name)
        or (callable(getattr(protocol, name, None)) and not callable(getattr(built, name)))
    ]
    if not missing:
        return
    raise InputError(
        f"{group}: {target} lacks {', '.join(missing)}; {protocol.__module__}.{protocol.__name__} "
        "says what each is to do"
    )


def _engine_config(values: Mapping[str, Any], suite: Suite) -> Mapping[str, Any]:
    chosen: Mapping[str, Any] = values["engine"]
    language = values["language"]["name"]
    existing = {name: suite.instance(language, name).existing for name in suite.instances}
    if any(existing.values()):
        if "_target_" in chosen or "existing" not in values["language"]:
            raise InputError(
                f"suite {suite.name!r} names the databases that hold its data: leave engine=auto"
                f" (conf/language/{language}.yaml says by `existing` what reads them)"
            )
        databases = {name: asdict(found) for name, found in existing.items() if found}
        return {**values["language"]["existing"], "databases": databases}
    if "_target_" not in chosen:
        chosen = values["language"]["engine"]
    if chosen.get("language", language) != language:
        raise InputError(
            f"engine={chosen.get('name')} runs {chosen['language']}, not {language}; leave "
            "engine=auto to get the language's own"
        )
    return chosen


def _name(values: Mapping[str, Any]) -> str:
    options = chosen({"config": values})
    parts = [options.get(group, group) for group in NAMING]
    if "_target_" in values["judge"]:
        parts.append(options.get("judge", "judge"))
    if options["suite"] != "ecommerce":
        parts.insert(0, options["suite"])
    return "-".join(re.sub(r"[^\w.]+", "_", part) for part in parts)
