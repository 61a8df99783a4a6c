"""How many calls of the SDK one client makes in a second, one at a time and many at a time: run.py --bench. It passes where nothing fails."""

import itertools
import time
from typing import Callable

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.emitter.rest_emitter import EmitMode
from datahub.metadata import schema_classes as m

from suite import Case, LOCAL, Row

SECONDS = 5
BATCH = 200
numbers = itertools.count()


def rate(call: Callable[[], None]) -> float:
    """Calls in a second."""
    call()
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        call()
        count += 1
    return count / (time.perf_counter() - begun)


def run(transport: str) -> int:
    """Prints one line for each kind of call, and the closing line."""
    c = Case(Row("bench.run", "bench", "bench", LOCAL, "", False, lambda case: None), transport)
    emitter, client = c.emitter(), c.client()
    source, down = c.dataset("source"), c.dataset("down")
    c.describe(source, down)
    client.lineage.add_lineage(upstream=source, downstream=down)

    def proposal() -> Proposal:
        lineage = m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=source, type="TRANSFORMED")])
        return Proposal(entityUrn=c.dataset(f"d{next(numbers)}"), aspect=lineage)

    def proposals() -> list:
        return [proposal() for _ in range(BATCH)]

    kinds = {
        "emit_mcp, one proposal": (1, lambda: emitter.emit_mcp(proposal())),
        "emit_mcp, one proposal, asynchronous": (1, lambda: emitter.emit_mcp(proposal(), emit_mode=EmitMode.ASYNC)),
        f"emit_mcps, {BATCH} proposals": (BATCH, lambda: emitter.emit_mcps(proposals())),
        f"emit_mcps, {BATCH} proposals, asynchronous": (BATCH, lambda: emitter.emit_mcps(proposals(), emit_mode=EmitMode.ASYNC)),
        "add_lineage": (1, lambda: client.lineage.add_lineage(upstream=source, downstream=down)),
        "get_aspect": (1, lambda: client._graph.get_aspect(down, m.UpstreamLineageClass)),
        "exists": (1, lambda: client._graph.exists(down)),
        "entities.get": (1, lambda: client.entities.get(down)),
        "get_lineage, one hop up": (1, lambda: client.lineage.get_lineage(source_urn=down)),
        "search.get_urns, none found": (1, lambda: list(client.search.get_urns(query="nothingislikethis")))
    }
    failed = 0
    for title, (size, call) in kinds.items():
        try:
            calls = rate(call)
        except Exception as error:
            failed += 1
            print(f"not ok: {title} ({transport}): {error}", flush=True)
        else:
            print(f"# {title} ({transport}): {calls:.0f} calls/s{f', {calls * size:.0f} proposals/s' if size > 1 else ''}", flush=True)
    print(f"{len(kinds) - failed} passed, {failed} failed, 0 skipped", flush=True)
    return 0 if failed == 0 else 1
