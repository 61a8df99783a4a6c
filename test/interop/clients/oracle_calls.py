"""get_lineage of the SDK on random graphs, against a plain breadth-first walk."""

import random
from collections import deque
from typing import Callable, Dict, Set

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.metadata import schema_classes as m
from datahub.sdk import FilterDsl as F

from suite import Case, GRAPHQL, call

GRAPH_COUNT = 50
SEED = 20_260_923

Edges = Dict[str, Set[str]]


def walk(edges: Edges, start: str) -> Dict[str, int]:
    """The least number of hops to everything that is reached; not to the start."""
    hops = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for following in edges.get(node, ()):
            if following not in hops:
                hops[following] = hops[node] + 1
                queue.append(following)
    return {node: count for node, count in hops.items() if node != start}


def turned(edges: Edges) -> Edges:
    other: Edges = {}
    for node, followings in edges.items():
        for following in followings:
            other.setdefault(following, set()).add(node)
    return other


class Graph:
    """A random graph of datasets, jobs, charts and columns, and the proposals that write it."""

    def __init__(self, c: Case, number: int) -> None:
        draw = random.Random(SEED + number)
        platforms = ["hive", "postgres"]
        self.datasets = [c.dataset(f"g{number}.d{index}", platform=draw.choice(platforms), env=draw.choice(["PROD", "DEV"])) for index in range(draw.randint(3, 9))]
        self.jobs = [f"urn:li:dataJob:(urn:li:dataFlow:(airflow,{c.name}.g{number},PROD),j{index})" for index in range(draw.randint(0, 3))]
        self.charts = [c.chart(f"g{number}.c{index}") for index in range(draw.randint(0, 2))]
        self.down: Edges = {}
        self.columns: Edges = {}
        self.proposals = [Proposal(entityUrn=urn, aspect=m.StatusClass(removed=False)) for urn in [*self.datasets, *self.jobs, *self.charts]]
        some = lambda urns, most: draw.sample(urns, min(len(urns), draw.randint(0, most)))
        for downstream in self.datasets:
            ups = [urn for urn in some(self.datasets, 3) if urn != downstream]
            records = [(f"{draw.choice('abc')}", up, f"{draw.choice('abc')}") for up in ups for _ in range(draw.randint(0, 2))]
            self.link(downstream, *ups)
            fine = []
            for column, up, source in dict.fromkeys(records):
                self.columns.setdefault(c.column(up, source), set()).add(c.column(downstream, column))
                fine.append(m.FineGrainedLineageClass(upstreamType="FIELD_SET", upstreams=[c.column(up, source)], downstreamType="FIELD", downstreams=[c.column(downstream, column)]))
            if ups:
                self.propose(downstream, m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=up, type="TRANSFORMED") for up in ups], fineGrainedLineages=fine or None))
        for job in self.jobs:
            inputs, outputs, before = some(self.datasets, 2), some(self.datasets, 2), [other for other in some(self.jobs, 1) if other != job]
            self.link(job, *inputs, *before)
            for output in outputs:
                self.link(output, job)
            self.propose(job, m.DataJobInputOutputClass(inputDatasets=inputs, outputDatasets=outputs, inputDatajobs=before))
        for chart in self.charts:
            inputs = some(self.datasets, 2)
            self.link(chart, *inputs)
            self.propose(chart, m.ChartInfoClass(title="c", description="", lastModified=m.ChangeAuditStampsClass(), inputs=inputs))

    def link(self, downstream: str, *ups: str) -> None:
        for up in ups:
            self.down.setdefault(up, set()).add(downstream)

    def propose(self, urn: str, aspect: object) -> None:
        self.proposals.append(Proposal(entityUrn=urn, aspect=aspect))


def kind(urn: str) -> str:
    return urn.split(":")[2]


FILTERS: Dict[str, Callable[[str], bool]] = {
    "nothing": lambda urn: True,
    "platform": lambda urn: ":hive," in urn,
    "env": lambda urn: kind(urn) == "dataset" and urn.endswith(",DEV)"),
    "type": lambda urn: kind(urn) == "dataJob",
    "not": lambda urn: kind(urn) == "dataset" and ":hive," not in urn
}


def built(name: str):
    return {"nothing": None, "platform": F.platform("hive"), "env": F.and_(F.entity_type("dataset"), F.env("DEV")), "type": F.entity_type("dataJob"), "not": F.and_(F.entity_type("dataset"), F.not_(F.platform("hive")))}[name]


def parent(column: str) -> str:
    return column[len("urn:li:schemaField:("):column.rindex(",")]


def folded(columns: Dict[str, int]) -> Dict[str, int]:
    hops: Dict[str, int] = {}
    for column, count in columns.items():
        hops[parent(column)] = min(count, hops.get(parent(column), count))
    return hops


@call("DataHubClient.lineage", f"get_lineage() of assets and columns in {GRAPH_COUNT} random graphs: both directions, 1, 2 and 3 hops, each filter", GRAPHQL, result="equals a plain walk")
def random_graphs(c: Case) -> None:
    client, emitter = c.client(), c.emitter()
    asked = 0
    for number in range(GRAPH_COUNT):
        graph = Graph(c, number)
        emitter.emit_mcps(graph.proposals)
        draw = random.Random(SEED - number)
        starts = draw.sample([*graph.datasets, *graph.jobs], 2) + draw.sample(sorted(graph.columns), min(2, len(graph.columns)))
        for start in starts:
            edges = graph.columns if kind(start) == "schemaField" else graph.down
            for direction in ["downstream", "upstream"]:
                reached = walk(edges if direction == "downstream" else turned(edges), start)
                whole = folded(reached) if kind(start) == "schemaField" else reached
                for most in [1, 2, 3]:
                    name = draw.choice(sorted(FILTERS))
                    wanted = {urn: count for urn, count in whole.items() if (most == 3 or count <= most) and FILTERS[name](urn)}
                    found = {result.urn: result.hops for result in client.lineage.get_lineage(source_urn=start, direction=direction, max_hops=most, filter=built(name), count=draw.choice([2, 500]))}
                    asked += 1
                    if found != wanted:
                        raise AssertionError(f"graph {number} (seed {SEED}), {direction} of {start}, {most} hops, filter {name}: expected {wanted}, found {found}")
    if asked < GRAPH_COUNT * 12:
        raise AssertionError(f"only {asked} questions")
