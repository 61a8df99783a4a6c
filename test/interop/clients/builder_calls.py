"""Random sequences of calls of every patch builder: whatever they leave is an aspect that the client reads, and valid by its schema."""

import inspect
import random
import types
import typing
from typing import Any, Callable, Dict, List, Tuple, Type, Union

from datahub.emitter.mcp_patch_builder import MetadataPatchProposal
from datahub.metadata import schema_classes as m
from datahub.specific.api import ApiPatchBuilder
from datahub.specific.chart import ChartPatchBuilder
from datahub.specific.dashboard import DashboardPatchBuilder
from datahub.specific.datajob import DataJobPatchBuilder
from datahub.specific.dataproduct import DataProductPatchBuilder
from datahub.specific.dataset import DatasetPatchBuilder
from datahub.specific.form import FormPatchBuilder
from datahub.specific.status import StatusPatchBuilder
from datahub.specific.structured_property import StructuredPropertyPatchBuilder

from model_calls import Maker
from suite import Case, call, expect

SEED = 20261124
ENTITIES = 2
ROUNDS = 2

BUILDERS: List[Tuple[Type[MetadataPatchProposal], str]] = [
    (ApiPatchBuilder, "api"), (ChartPatchBuilder, "chart"), (DashboardPatchBuilder, "dashboard"), (DataJobPatchBuilder, "dataJob"), (DataProductPatchBuilder, "dataProduct"),
    (DatasetPatchBuilder, "dataset"), (FormPatchBuilder, "form"), (StatusPatchBuilder, "dataset"), (StructuredPropertyPatchBuilder, "structuredProperty"),
]

# Calls that send what no schema allows: edges where URNs belong.
MISTAKEN = {"set_input_dataset_fields", "set_output_dataset_fields"}


# Texts that the schema has a list of.
ENUMERATED = {"set_access": "PUBLIC", "set_cardinality": "SINGLE"}
TYPES = {ChartPatchBuilder: "BAR", FormPatchBuilder: "COMPLETION"}


class Arguments:
    """Makes arguments for a call from the names and types of its parameters; few values of each, so that calls meet."""

    def __init__(self, c: Case, rng: random.Random) -> None:
        self.c = c
        self.rng = rng

    def of(self, method: Callable[..., Any]) -> Dict[str, Any]:
        hints = typing.get_type_hints(method)
        parameters = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
        chosen = [each for each in parameters if each.default is inspect.Parameter.empty or self.rng.random() < 0.6]
        return {each.name: self.value(method.__name__, each.name, hints.get(each.name, str)) for each in chosen}

    def value(self, method: str, name: str, hint: Any) -> Any:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            members = [each for each in inner if each is not type(None)]
            # A URN as text is what every call takes.
            return self.value(method, name, str if str in members else members[0])
        if origin is list:
            return [self.value(method, name, inner[0]) for _ in range(self.rng.randint(0, 2))]
        if origin is dict:
            return {self.rng.choice("ab"): self.value(method, name, inner[1])}
        if hint in (int, float, bool):
            return {int: 7, float: 0.5, bool: self.rng.random() < 0.5}[hint]
        if inspect.isclass(hint) and hasattr(hint, "RECORD_SCHEMA"):
            return self.record(method, hint)
        return self.text(method, name)

    def record(self, method: str, cls: Any) -> Any:
        if cls is m.FineGrainedLineageClass:
            return cls(upstreamType="FIELD_SET", upstreams=[self.column()], downstreamType="FIELD", downstreams=[self.column()])
        made = Maker(self.rng.random() < 0.5, self.c.name).record(cls.RECORD_SCHEMA)
        if isinstance(made, m.EdgeClass):
            return m.EdgeClass(destinationUrn=self.text(method, "destination"))
        for field, kind in {"tag": "tag", "urn": "glossaryTerm", "owner": "corpuser", "dataset": "dataset", "destinationUrn": "dataset", "domain": "domain", "propertyUrn": "structuredProperty"}.items():
            if hasattr(made, field):
                setattr(made, field, self.urn(kind))
        if isinstance(made, m.InstitutionalMemoryMetadataClass):
            made.url = self.rng.choice(["http://a/b", "http://c"])
        if isinstance(made, m.PropertyValueClass):
            made.value = self.rng.choice(["x", "y/z", 1.0, 2.5])
        if isinstance(made, m.FormPromptClass):
            made.id = self.rng.choice("ab")
        return made

    def text(self, method: str, name: str) -> str:
        words = f"{method} {name}"
        for word, kind in [("dataset_field", "column"), ("sibling", "dataset"), ("asset", "dataset"), ("upstream", "dataset"), ("datajob", "dataJob"), ("dataset", "dataset"), ("chart_edge", "chart"), ("charts", "chart"),
                           ("add_dashboard", "dashboard"), ("input", "dataset"), ("domain", "domain"), ("structured_property", "structuredProperty"), ("owner_type", "type"), ("ownership_type", "ownershipType"), ("type_urn", "ownershipType"),
                           ("owner", "corpuser"), ("user", "corpuser"), ("group", "corpGroup"), ("parent", "dataProduct"), ("attribution", "dataHubAction"), ("entity_type", "entityType"), ("value_type", "dataType"), ("tag", "tag"), ("term", "glossaryTerm")]:
            if word in words:
                return self.column() if kind == "column" else "DATAOWNER" if kind == "type" else self.urn(kind)
        return ENUMERATED.get(method) or self.rng.choice(["a", "b/c", "d~e"])

    def urn(self, kind: str) -> str:
        name = self.rng.choice("ab")
        made = {"dataset": self.c.dataset, "dataJob": self.c.job, "chart": self.c.chart, "dashboard": self.c.dashboard, "domain": self.c.domain}.get(kind)
        return made(name) if made else f"urn:li:{kind}:{name}"

    def column(self) -> str:
        return self.c.column(self.c.dataset(self.rng.choice("ab")), self.rng.choice("pq"))


def subjects(c: Case, kind: str) -> List[str]:
    made = {"dataset": c.dataset, "dataJob": c.job, "chart": c.chart, "dashboard": c.dashboard}.get(kind, lambda name: f"urn:li:{kind}:{c.name}.{name}")
    return [made(f"patched{number}") for number in range(ENTITIES)]


def changes(cls: type) -> List[str]:
    return sorted(name for name, _ in inspect.getmembers(cls, inspect.isfunction) if name.startswith(("add_", "remove_", "set_", "for_field")) and name not in MISTAKEN)


def apply(arguments: Arguments, builder: Any, name: str) -> None:
    if name == "for_field":
        builder = builder.for_field(arguments.rng.choice("pq"))
        name = arguments.rng.choice(["add_tag", "remove_tag", "add_term", "remove_term"])
    method = getattr(type(builder), name)
    sent = arguments.of(method)
    if "type" in sent and type(builder) in TYPES:
        sent["type"] = TYPES[type(builder)]
    method(builder, **sent)


@call("every patch builder", "random sequences of all calls that a builder has", result="the documents that are read back are valid by the client's schema")
def random_calls(c: Case) -> None:
    rng = random.Random(SEED)
    arguments = Arguments(c, rng)
    emitter, graph = c.emitter(), c.graph()
    for name in "ab":
        c.describe(c.dataset(name), c.job(name), c.chart(name), c.dashboard(name))
        c.write(c.domain(name), m.DomainPropertiesClass(name=f"{c.name} {name}"))
    wrong: Dict[str, str] = {}
    refusals: Dict[str, str] = {}
    for cls, kind in BUILDERS:
        urns = subjects(c, kind)
        for urn in urns:
            c.describe(urn)
        # Each call on each entity, in another order on each.
        names = changes(cls) * ROUNDS
        for urn, name in [(urn, name) for urn in urns for name in rng.sample(names, len(names))]:
            title = f"{cls.__name__}.{name}"
            builder = cls(urn)
            apply(arguments, builder, name)
            for proposal in builder.build():
                try:
                    emitter.emit_mcp(proposal)
                except Exception as error:
                    refusals.setdefault(title, str(error)[:400])
                try:
                    found = graph.get_aspect(urn, m.ASPECT_NAME_MAP[proposal.aspectName])
                    if found is not None and not found.validate():
                        wrong.setdefault(title, f"is not valid: {found}")
                except Exception as error:
                    wrong.setdefault(title, f"{str(error)[:200]}: {c.doors.aspect(urn, proposal.aspectName)}")
    expect(wrong, {}, "unreadable")
    # An asset that is in a domain is put into no second one.
    expect({title: error for title, error in refusals.items() if not title.endswith(".add_domain")}, {}, "refused")
