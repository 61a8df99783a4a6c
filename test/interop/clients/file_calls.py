"""The files of real connectors through `datahub ingest`, in every mode of its sink; each aspect is then read back and compared."""

import json
import os
from pathlib import Path
from typing import Any, List, Tuple

from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.ingestion.run.pipeline import Pipeline
from datahub.ingestion.source.file import read_metadata_file
from datahub.emitter.aspect import TIMESERIES_ASPECT_MAP
from datahub.metadata import schema_classes as m
from datahub.metadata.com.linkedin.pegasus2avro.mxe import MetadataChangeEvent

from suite import Case, OPENAPI, RESTLI, Skipped, WRITES, call, expect, expect_error, refused

CLIENT = "datahub ingest, datahub-rest sink"
MODES = {"SYNC": "one by one, synchronous", "ASYNC": "one by one, asynchronous", "ASYNC_BATCH": "many at a time, asynchronous"}


def data_file(name: str) -> Path:
    path = Path(os.environ["INTEROP_DATA"]) / "mcp" / name
    if not path.is_file():
        raise Skipped(f"{path} is not there")
    return path


def told_in(path: Path) -> List[Tuple[str, str, Any, str]]:
    """What the file says: (URN, aspect name, value, change type), in its order."""
    told: List[Tuple[str, str, Any, str]] = []
    for record in read_metadata_file(path):
        if isinstance(record, MetadataChangeEvent):
            told += [(record.proposedSnapshot.urn, aspect.get_aspect_name(), aspect, "UPSERT") for aspect in record.proposedSnapshot.aspects]
        else:
            value = record.aspect if isinstance(record, MetadataChangeProposalWrapper) else None
            told.append((record.entityUrn, record.aspectName, value, str(record.changeType)))
    return told


def ingest(path: Path, c: Case, mode: str) -> None:
    pipeline = Pipeline.create({
        "source": {"type": "file", "config": {"path": str(path)}},
        "sink": {"type": "datahub-rest", "config": {"server": c.url, "token": c.token, "mode": mode, "endpoint": c.transport.upper()}}
    })
    pipeline.run()
    report = pipeline.sink.get_report()
    expect([str(failure) for failure in report.failures], [], "failures of the sink")
    pipeline.raise_from_status()


def comes_back(graph: Any, urn: str, name: str, value: Any) -> bool:
    """Whether the newest of a versioned aspect, or any of a timeseries aspect, is what was told."""
    if name.endswith("Key"):
        return graph.exists(urn)
    if name in TIMESERIES_ASPECT_MAP:
        return value.to_obj() in [found.to_obj() for found in graph.get_timeseries_values(urn, type(value), {}, limit=1000)]
    found = graph.get_aspect(urn, type(value))
    return found is not None and normal(found) == normal(value)


def normal(aspect: Any) -> Any:
    """The aspect as JSON. The order of lineage is not told by anybody, and edges have no place in a list."""
    told = aspect.to_obj()
    if isinstance(aspect, m.UpstreamLineageClass):
        told["upstreams"] = sorted(told["upstreams"], key=lambda entry: entry["dataset"])
        told["fineGrainedLineages"] = sorted(told.get("fineGrainedLineages") or [], key=lambda entry: json.dumps(entry, sort_keys=True))
    return told


def runs(name: str, mode: str):
    def run(c: Case) -> None:
        path = data_file(name)
        told = told_in(path)
        graph = c.graph()
        # Another row has written the same.
        for urn in {urn for urn, *_ in told}:
            graph.hard_delete_entity(urn)
        ingest(path, c, mode)
        newest = {(urn, aspect, value.to_obj().get("timestampMillis")): value for urn, aspect, value, _ in told if value is not None}
        expect(len(newest) > 50, True, "what the file says")
        c.eventually(lambda: [f"{aspect} of {urn}" for (urn, aspect, _), value in newest.items() if not comes_back(graph, urn, aspect, value)][:3], [])
        for urn, aspect, _, kind in told:
            if kind == "PATCH":
                expect(c.doors.aspect(urn, aspect) is not None, True, f"{aspect} of {urn}")

    run.__name__ = f"{Path(name).stem}_{mode.lower()}"
    return run


for file in ["dbt.json", "snowflake.json", "tableau.json"]:
    for sink_mode, text in MODES.items():
        # The client cannot send a patch of a file over OpenAPI v3, and dbt.json has some.
        wire = RESTLI if file == "dbt.json" else WRITES
        call(CLIENT, f"{file}, {text}", wire, result="0 failures; every aspect comes back")(runs(file, sink_mode))


@refused(CLIENT, "a patch read from a file", OPENAPI, result="NotImplementedError, of the client itself: use `endpoint: restli`, which takes it")
def file_patch(c: Case) -> None:
    value = m.GenericAspectClass(value=b"[]", contentType="application/json")
    proposal = m.MetadataChangeProposalClass(entityType="dataset", entityUrn=c.dataset("a"), changeType="PATCH", aspectName="upstreamLineage", aspect=value)
    expect_error(lambda: c.emitter().emit_mcp(proposal), "NotImplementedError")
