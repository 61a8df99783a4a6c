"""Patches: what the patch builders of DataHub send, and JSON Patches written out, for every aspect that has lists keyed by a name."""

import json
from typing import Any, Dict, List

from datahub.emitter.mcp_patch_builder import MetadataPatchProposal
from datahub.metadata import schema_classes as m
from datahub.metadata.schema_classes import FineGrainedLineageClass
from datahub.specific.chart import ChartPatchBuilder
from datahub.specific.dashboard import DashboardPatchBuilder
from datahub.specific.datajob import DataJobPatchBuilder
from datahub.specific.dataproduct import DataProductPatchBuilder
from datahub.specific.dataset import DatasetPatchBuilder

from emitter_calls import schema, stamps, upstreams
from suite import Case, call, expect, expect_error, refused

DATASET, JOB, CHART, DASHBOARD, PLAIN = "DatasetPatchBuilder", "DataJobPatchBuilder", "ChartPatchBuilder", "DashboardPatchBuilder", "JSON Patch by emit_mcp"


def send(c: Case, builder: MetadataPatchProposal) -> None:
    """As scripts do: one proposal after the other."""
    emitter = c.emitter()
    for proposal in builder.build():
        emitter.emit_mcp(proposal)


def patch(c: Case, urn: str, entity_type: str, aspect: str, operations: List[Dict[str, Any]], keys: Any = None) -> None:
    """Sends a JSON Patch that no builder makes."""
    document = operations if keys is None else {"patch": operations, "arrayPrimaryKeys": keys}
    value = m.GenericAspectClass(value=json.dumps(document).encode(), contentType="application/json-patch+json")
    c.emitter().emit_mcp(m.MetadataChangeProposalClass(entityType=entity_type, entityUrn=urn, changeType="PATCH", aspectName=aspect, aspect=value))


def upstream(dataset: str) -> m.UpstreamClass:
    return m.UpstreamClass(dataset=dataset, type="COPY")


def record(c: Case, source: str, target: str, up: str, down: str, **more: Any) -> FineGrainedLineageClass:
    return FineGrainedLineageClass(upstreamType="FIELD_SET", upstreams=[c.column(source, up)], downstreamType="FIELD", downstreams=[c.column(target, down)], **more)


# --- upstreamLineage


@call(DATASET, "add_upstream_lineage(), remove_upstream_lineage()")
def dataset_upstreams(c: Case) -> None:
    urn, a, b = c.dataset("t"), c.dataset("a"), c.dataset("b")
    send(c, DatasetPatchBuilder(urn).add_upstream_lineage(upstream(a)).add_upstream_lineage(upstream(b)))
    expect(c.doors.upstream(urn), {a, b})
    send(c, DatasetPatchBuilder(urn).add_upstream_lineage(upstream(a)).remove_upstream_lineage(b).remove_upstream_lineage(c.dataset("never there")))
    expect(c.doors.upstream(urn), {a})


@call(DATASET, "set_upstream_lineages()")
def dataset_set_upstreams(c: Case) -> None:
    urn, a, b = c.dataset("t"), c.dataset("a"), c.dataset("b")
    send(c, DatasetPatchBuilder(urn).add_upstream_lineage(upstream(a)))
    send(c, DatasetPatchBuilder(urn).set_upstream_lineages([upstream(b)]))
    expect(c.doors.upstream(urn), {b})


@call(DATASET, "add_fine_grained_lineage(), remove_fine_grained_lineage()")
def dataset_columns(c: Case) -> None:
    urn, a = c.dataset("t"), c.dataset("a")
    send(c, DatasetPatchBuilder(urn).add_upstream_lineage(upstream(a)).add_fine_grained_lineage(record(c, a, urn, "p", "x")).add_fine_grained_lineage(record(c, a, urn, "q", "x")))
    expect(c.doors.upstream_columns(c.column(urn, "x")), {c.column(a, "p"), c.column(a, "q")})
    send(c, DatasetPatchBuilder(urn).remove_fine_grained_lineage(record(c, a, urn, "p", "x")))
    expect(c.doors.upstream_columns(c.column(urn, "x")), {c.column(a, "q")})
    expect(c.doors.upstream(urn), {a})


@call(DATASET, "add_fine_grained_lineage(transformOperation, query, confidenceScore)")
def dataset_column_records(c: Case) -> None:
    urn, a, query = c.dataset("t"), c.dataset("a"), f"urn:li:query:{c.name}"
    send(c, DatasetPatchBuilder(urn).add_fine_grained_lineage(record(c, a, urn, "p", "x", transformOperation="IDENTITY", query=query, confidenceScore=0.25)))
    [read] = c.doors.aspect(urn, "upstreamLineage")["fineGrainedLineages"]
    expect({key: read[key] for key in ["transformOperation", "query", "confidenceScore", "upstreams", "downstreams", "upstreamType", "downstreamType"]},
           {"transformOperation": "IDENTITY", "query": query, "confidenceScore": 0.25, "upstreams": [c.column(a, "p")], "downstreams": [c.column(urn, "x")], "upstreamType": "FIELD_SET", "downstreamType": "FIELD"})


@call(DATASET, "set_fine_grained_lineages()")
def dataset_set_columns(c: Case) -> None:
    urn, a = c.dataset("t"), c.dataset("a")
    send(c, DatasetPatchBuilder(urn).add_fine_grained_lineage(record(c, a, urn, "p", "x")))
    send(c, DatasetPatchBuilder(urn).set_fine_grained_lineages([record(c, a, urn, "q", "y")]))
    expect(c.doors.upstream_columns(c.column(urn, "x")), set())
    expect(c.doors.upstream_columns(c.column(urn, "y")), {c.column(a, "q")})


@call(DATASET, "add_upstream_lineage() where a stored column record has several downstreams", result="works; DataHub refuses it")
def dataset_beside_wide_record(c: Case) -> None:
    urn, a, b = c.dataset("t"), c.dataset("a"), c.dataset("b")
    aspect = upstreams(a)
    wide = record(c, a, urn, "p", "x")
    wide.downstreams = [c.column(urn, "x"), c.column(urn, "y")]
    aspect.fineGrainedLineages = [wide]
    c.write(urn, aspect)
    send(c, DatasetPatchBuilder(urn).add_upstream_lineage(upstream(b)))
    expect(c.doors.upstream(urn), {a, b})
    expect(c.doors.upstream_columns(c.column(urn, "y")), {c.column(a, "p")})


# --- dataJobInputOutput


@call(JOB, "add_input_dataset(), add_output_dataset(), add_input_datajob() and their removal")
def job_edges(c: Case) -> None:
    job, source, target, before = c.job("j"), c.dataset("source"), c.dataset("target"), c.job("before")
    send(c, DataJobPatchBuilder(job).add_input_dataset(source).add_output_dataset(target).add_input_datajob(before))
    expect((c.doors.upstream(job), c.doors.upstream(target)), ({source, before}, {job}))
    send(c, DataJobPatchBuilder(job).remove_input_dataset(source).remove_input_datajob(before))
    expect((c.doors.upstream(job), c.doors.upstream(target)), (set(), {job}))
    send(c, DataJobPatchBuilder(job).remove_output_dataset(target))
    expect(c.doors.upstream(target), set())


@call(JOB, "set_input_datasets(), set_output_datasets(), set_input_datajobs()")
def job_set_edges(c: Case) -> None:
    job, old, source, target, before = c.job("j"), c.dataset("old"), c.dataset("source"), c.dataset("target"), c.job("before")
    edge = lambda urn: m.EdgeClass(destinationUrn=urn)
    send(c, DataJobPatchBuilder(job).add_input_dataset(old))
    send(c, DataJobPatchBuilder(job).set_input_datasets([edge(source)]).set_output_datasets([edge(target)]).set_input_datajobs([edge(before)]))
    expect((c.doors.upstream(job), c.doors.upstream(target)), ({source, before}, {job}))


@call(JOB, "add_fine_grained_lineage()")
def job_columns(c: Case) -> None:
    job, source, target = c.job("j"), c.dataset("source"), c.dataset("target")
    send(c, DataJobPatchBuilder(job).add_input_dataset(source).add_output_dataset(target).add_fine_grained_lineage(record(c, source, target, "p", "x")))
    expect(c.doors.upstream_columns(c.column(target, "x")), {c.column(source, "p"), job})
    send(c, DataJobPatchBuilder(job).remove_fine_grained_lineage(record(c, source, target, "p", "x")))
    expect(c.doors.upstream_columns(c.column(target, "x")), set())


@call(JOB, "add_input_dataset_field(), add_output_dataset_field()")
def job_fields(c: Case) -> None:
    job, source = c.job("j"), c.dataset("source")
    send(c, DataJobPatchBuilder(job).add_input_dataset(source).add_input_dataset_field(c.column(source, "p")).add_output_dataset_field(c.column(source, "q")))
    found = c.doors.aspect(job, "dataJobInputOutput")
    expect((found["inputDatasetFields"], found["outputDatasetFields"]), ([c.column(source, "p")], [c.column(source, "q")]))
    send(c, DataJobPatchBuilder(job).remove_input_dataset_field(c.column(source, "p")))
    expect(c.doors.aspect(job, "dataJobInputOutput").get("inputDatasetFields", []), [])


@call(JOB, "add_custom_property()")
def job_properties(c: Case) -> None:
    job = c.job("j")
    c.write(job, m.DataJobInfoClass(name="j", type="COMMAND", customProperties={"kept": "1"}))
    send(c, DataJobPatchBuilder(job).add_custom_property("added", "2"))
    expect(c.doors.aspect(job, "dataJobInfo")["customProperties"], {"kept": "1", "added": "2"})


# --- chartInfo, dashboardInfo


@call(CHART, "add_input_edge(), remove_input_edge(), set_input_edges()")
def chart_edges(c: Case) -> None:
    chart, a, b = c.chart("c"), c.dataset("a"), c.dataset("b")
    c.write(chart, m.ChartInfoClass(title="t", description="d", lastModified=stamps()))
    send(c, ChartPatchBuilder(chart).add_input_edge(a).add_input_edge(b))
    expect(c.doors.upstream(chart), {a, b})
    send(c, ChartPatchBuilder(chart).remove_input_edge(a))
    expect(c.doors.upstream(chart), {b})
    send(c, ChartPatchBuilder(chart).set_input_edges([m.EdgeClass(destinationUrn=a)]))
    expect(c.doors.upstream(chart), {a})


@call(CHART, "set_title(), set_description(), set_external_url(), add_custom_property()")
def chart_fields(c: Case) -> None:
    chart, a = c.chart("c"), c.dataset("a")
    c.write(chart, m.ChartInfoClass(title="t", description="d", lastModified=stamps(), inputs=[a]))
    send(c, ChartPatchBuilder(chart).set_title("new").set_description("also").set_external_url("http://x").add_custom_property("k", "v"))
    found = c.doors.aspect(chart, "chartInfo")
    expect([found[key] for key in ["title", "description", "externalUrl", "customProperties"]], ["new", "also", "http://x", {"k": "v"}])
    expect(c.doors.upstream(chart), {a})


@call(CHART, "add_input_edge() where there is no chartInfo")
def chart_from_nothing(c: Case) -> None:
    chart, a = c.chart("c"), c.dataset("a")
    send(c, ChartPatchBuilder(chart).add_input_edge(a))
    expect(c.doors.upstream(chart), {a})


@call(DASHBOARD, "add_chart_edge(), add_dataset_edge(), add_dashboard() and removal")
def dashboard_edges(c: Case) -> None:
    dashboard, chart, source, other = c.dashboard("d"), c.chart("c"), c.dataset("source"), c.dashboard("other")
    c.write(dashboard, m.DashboardInfoClass(title="t", description="d", lastModified=stamps()))
    send(c, DashboardPatchBuilder(dashboard).add_chart_edge(chart).add_dataset_edge(source).add_dashboard(other))
    expect(c.doors.upstream(dashboard), {chart, source, other})
    send(c, DashboardPatchBuilder(dashboard).remove_chart_edge(chart).remove_dataset_edge(source))
    expect(c.doors.upstream(dashboard), {other})


@call(DASHBOARD, "set_chart_edges(), set_dataset_edges()")
def dashboard_set_edges(c: Case) -> None:
    dashboard, chart, source, old = c.dashboard("d"), c.chart("c"), c.dataset("source"), c.chart("old")
    edge = lambda urn: m.EdgeClass(destinationUrn=urn)
    send(c, DashboardPatchBuilder(dashboard).add_chart_edge(old))
    send(c, DashboardPatchBuilder(dashboard).set_chart_edges([edge(chart)]).set_dataset_edges([edge(source)]))
    expect(c.doors.upstream(dashboard), {chart, source})


# --- aspects that say nothing of lineage


@call(DATASET, "add_custom_property(), remove_custom_property(), set_custom_properties()")
def dataset_properties(c: Case) -> None:
    urn = c.dataset("t")
    read = lambda: c.doors.aspect(urn, "datasetProperties")["customProperties"]
    send(c, DatasetPatchBuilder(urn).add_custom_property("a", "1").add_custom_property("b/c~d", "2"))
    expect(read(), {"a": "1", "b/c~d": "2"})
    send(c, DatasetPatchBuilder(urn).remove_custom_property("a"))
    expect(read(), {"b/c~d": "2"})
    send(c, DatasetPatchBuilder(urn).set_custom_properties({"z": "9"}))
    expect(read(), {"z": "9"})


@call(DATASET, "set_description(), set_display_name(), set_qualified_name(), set_external_url()")
def dataset_fields(c: Case) -> None:
    urn = c.dataset("t")
    send(c, DatasetPatchBuilder(urn).set_description("d").set_display_name("n").set_qualified_name("q").set_external_url("http://x"))
    found = c.doors.aspect(urn, "datasetProperties")
    expect([found[key] for key in ["description", "name", "qualifiedName", "externalUrl"]], ["d", "n", "q", "http://x"])
    send(c, DatasetPatchBuilder(urn).set_description("by hand", editable=True))
    expect(c.doors.aspect(urn, "editableDatasetProperties")["description"], "by hand")


@call(DATASET, "add_tag(), remove_tag()")
def dataset_tags(c: Case) -> None:
    urn = c.dataset("t")
    read = lambda: sorted(entry["tag"] for entry in c.doors.aspect(urn, "globalTags")["tags"])
    c.write(urn, m.GlobalTagsClass(tags=[m.TagAssociationClass(tag="urn:li:tag:kept")]))
    send(c, DatasetPatchBuilder(urn).add_tag(m.TagAssociationClass(tag="urn:li:tag:a")).add_tag(m.TagAssociationClass(tag="urn:li:tag:b")))
    expect(read(), ["urn:li:tag:a", "urn:li:tag:b", "urn:li:tag:kept"])
    send(c, DatasetPatchBuilder(urn).add_tag(m.TagAssociationClass(tag="urn:li:tag:a")).remove_tag("urn:li:tag:b"))
    expect(read(), ["urn:li:tag:a", "urn:li:tag:kept"])


@call(DATASET, "add_term(), remove_term()")
def dataset_terms(c: Case) -> None:
    urn = c.dataset("t")
    read = lambda: sorted(entry["urn"] for entry in c.doors.aspect(urn, "glossaryTerms")["terms"])
    c.write(urn, m.GlossaryTermsClass(terms=[m.GlossaryTermAssociationClass(urn="urn:li:glossaryTerm:kept")], auditStamp=m.AuditStampClass(time=1, actor="urn:li:corpuser:a")))
    send(c, DatasetPatchBuilder(urn).add_term(m.GlossaryTermAssociationClass(urn="urn:li:glossaryTerm:a")))
    expect(read(), ["urn:li:glossaryTerm:a", "urn:li:glossaryTerm:kept"])
    send(c, DatasetPatchBuilder(urn).remove_term("urn:li:glossaryTerm:kept"))
    expect(read(), ["urn:li:glossaryTerm:a"])


@call(DATASET, "add_owner(), remove_owner(), set_owners()")
def dataset_owners(c: Case) -> None:
    urn = c.dataset("t")
    read = lambda: sorted((entry["owner"], entry["type"]) for entry in c.doors.aspect(urn, "ownership")["owners"])
    owner = lambda name, kind="DATAOWNER": m.OwnerClass(owner=f"urn:li:corpuser:{name}", type=kind)
    send(c, DatasetPatchBuilder(urn).add_owner(owner("a")).add_owner(owner("a", "TECHNICAL_OWNER")).add_owner(owner("b")))
    expect(read(), [("urn:li:corpuser:a", "DATAOWNER"), ("urn:li:corpuser:a", "TECHNICAL_OWNER"), ("urn:li:corpuser:b", "DATAOWNER")])
    send(c, DatasetPatchBuilder(urn).remove_owner("urn:li:corpuser:a", "TECHNICAL_OWNER"))
    expect(read(), [("urn:li:corpuser:a", "DATAOWNER"), ("urn:li:corpuser:b", "DATAOWNER")])
    send(c, DatasetPatchBuilder(urn).set_owners([owner("c")]))
    expect(read(), [("urn:li:corpuser:c", "DATAOWNER")])


@call(DATASET, "set_structured_property(), remove_structured_property()")
def dataset_structured(c: Case) -> None:
    urn = c.dataset("t")
    read = lambda: {entry["propertyUrn"]: [next(iter(value.values())) if isinstance(value, dict) else value for value in entry["values"]] for entry in c.doors.aspect(urn, "structuredProperties")["properties"]}
    send(c, DatasetPatchBuilder(urn).set_structured_property("urn:li:structuredProperty:retention", 30.0).set_structured_property("urn:li:structuredProperty:kind", "raw"))
    expect(read(), {"urn:li:structuredProperty:retention": [30.0], "urn:li:structuredProperty:kind": ["raw"]})
    send(c, DatasetPatchBuilder(urn).remove_structured_property("urn:li:structuredProperty:kind"))
    expect(read(), {"urn:li:structuredProperty:retention": [30.0]})


@call(DATASET, "for_field().add_tag(), for_field().add_term()")
def dataset_field_tags(c: Case) -> None:
    urn = c.dataset("t")
    c.write(urn, schema("p", "q"))
    send(c, DatasetPatchBuilder(urn).for_field("p").add_tag(m.TagAssociationClass(tag="urn:li:tag:pii")).parent())
    [info] = c.doors.aspect(urn, "editableSchemaMetadata")["editableSchemaFieldInfo"]
    expect((info["fieldPath"], [entry["tag"] for entry in info["globalTags"]["tags"]]), ("p", ["urn:li:tag:pii"]))
    send(c, DatasetPatchBuilder(urn).for_field("p").remove_tag("urn:li:tag:pii").parent())
    expect([entry["globalTags"]["tags"] for entry in c.doors.aspect(urn, "editableSchemaMetadata")["editableSchemaFieldInfo"]], [[]])


@call("DataProductPatchBuilder", "add_asset(), remove_asset(), add_institutional_memory()")
def product(c: Case) -> None:
    urn, a, b = f"urn:li:dataProduct:{c.name}", c.dataset("a"), c.dataset("b")
    link = lambda url: m.InstitutionalMemoryMetadataClass(url=url, description="d", createStamp=m.AuditStampClass(time=1, actor="urn:li:corpuser:a"))
    send(c, DataProductPatchBuilder(urn).add_asset(a).add_asset(b).add_institutional_memory(link("http://a/b")).add_institutional_memory(link("http://c")))
    send(c, DataProductPatchBuilder(urn).remove_asset(a).add_institutional_memory(link("http://c")))
    expect([entry["destinationUrn"] for entry in c.doors.aspect(urn, "dataProductProperties")["assets"]], [b])
    expect(sorted(entry["url"] for entry in c.doors.aspect(urn, "institutionalMemory")["elements"]), ["http://a/b", "http://c"])


@call(DATASET, "add_sibling(), remove_sibling()")
def dataset_siblings(c: Case) -> None:
    urn, a, b = c.dataset("t"), c.dataset("a"), c.dataset("b")
    send(c, DatasetPatchBuilder(urn).add_sibling(a, primary=True).add_sibling(b, primary=True))
    send(c, DatasetPatchBuilder(urn).remove_sibling(a))
    expect(c.doors.aspect(urn, "siblings")["siblings"], [b])


@call(DATASET, "add_domain(), remove_domain()")
def dataset_domain(c: Case) -> None:
    urn, domain = c.dataset("t"), c.domain("d")
    c.write(domain, m.DomainPropertiesClass(name=c.name))
    c.describe(urn)
    send(c, DatasetPatchBuilder(urn).add_domain(m.DomainAssociationClass(domain=domain)))
    expect(c.doors.domain_of(urn), domain)
    send(c, DatasetPatchBuilder(urn).remove_domain(domain))
    expect(c.doors.domain_of(urn), None)
    # the same where the aspect came without associations
    c.write(urn, m.DomainsClass(domains=[domain]))
    send(c, DatasetPatchBuilder(urn).remove_domain(domain))
    expect(c.doors.domain_of(urn), None)
    # and what was read can be written back with one of its lists changed
    c.write(urn, m.DomainsClass(domains=[domain]))
    other = c.domain("other")
    c.write(other, m.DomainPropertiesClass(name=f"{c.name} other"))
    found = c.graph().get_aspect(urn, m.DomainsClass)
    expect([entry.domain for entry in found.domainAssociations], [domain])
    found.domains = [other]
    c.write(urn, found)
    expect(c.doors.domain_of(urn), other)


# --- written out


@call(PLAIN, "domains: add and remove /domains/<urn>")
def plain_domains(c: Case) -> None:
    urn, domain = c.dataset("t"), c.domain("d")
    c.write(domain, m.DomainPropertiesClass(name=c.name))
    c.describe(urn)
    patch(c, urn, "dataset", "domains", [{"op": "add", "path": f"/domains/{domain}", "value": domain}])
    expect(c.doors.domain_of(urn), domain)
    patch(c, urn, "dataset", "domains", [{"op": "remove", "path": f"/domains/{domain}"}])
    expect(c.doors.domain_of(urn), None)


@call(PLAIN, "dashboardInfo: the older lists `charts` and `datasets`, keyed by the URN itself")
def plain_dashboard_lists(c: Case) -> None:
    dashboard, chart, source = c.dashboard("d"), c.chart("c"), c.dataset("source")
    patch(c, dashboard, "dashboard", "dashboardInfo", [{"op": "add", "path": f"/charts/{chart}", "value": chart}, {"op": "add", "path": f"/datasets/{source}", "value": source}])
    expect(c.doors.upstream(dashboard), {chart, source})
    patch(c, dashboard, "dashboard", "dashboardInfo", [{"op": "remove", "path": f"/charts/{chart}"}])
    expect(c.doors.upstream(dashboard), {source})


@call(PLAIN, "dataJobInputOutput: the older lists, keyed by the URN itself")
def plain_job_lists(c: Case) -> None:
    job, source, target, before = c.job("j"), c.dataset("source"), c.dataset("target"), c.job("before")
    patch(c, job, "dataJob", "dataJobInputOutput", [{"op": "add", "path": f"/{name}/{urn}", "value": urn} for name, urn in [("inputDatasets", source), ("outputDatasets", target), ("inputDatajobs", before)]])
    expect((c.doors.upstream(job), c.doors.upstream(target)), ({source, before}, {job}))
    patch(c, job, "dataJob", "dataJobInputOutput", [{"op": "remove", "path": f"/inputDatasets/{source}"}])
    expect(c.doors.upstream(job), {before})


@call(PLAIN, "dataFlowInfo: /customProperties/<key>")
def plain_flow(c: Case) -> None:
    c.write(c.flow(), m.DataFlowInfoClass(name="f", customProperties={"kept": "1"}))
    patch(c, c.flow(), "dataFlow", "dataFlowInfo", [{"op": "add", "path": "/customProperties/added", "value": "2"}, {"op": "replace", "path": "/name", "value": "g"}])
    found = c.doors.aspect(c.flow(), "dataFlowInfo")
    expect((found["name"], found["customProperties"]), ("g", {"kept": "1", "added": "2"}))


@call(PLAIN, "domainProperties, which has no keyed lists")
def plain_domain_properties(c: Case) -> None:
    domain = c.domain("d")
    c.write(domain, m.DomainPropertiesClass(name=c.name, description="old"))
    patch(c, domain, "domain", "domainProperties", [{"op": "replace", "path": "/description", "value": "new"}, {"op": "add", "path": "/customProperties/k", "value": "v"}])
    found = c.doors.aspect(domain, "domainProperties")
    expect((found["name"], found["description"], found["customProperties"]), (c.name, "new", {"k": "v"}))


@call(PLAIN, "schemaMetadata: lists by index, with `test`")
def plain_schema(c: Case) -> None:
    urn = c.dataset("t")
    c.write(urn, schema("p", "q"))
    patch(c, urn, "dataset", "schemaMetadata", [{"op": "test", "path": "/fields/1/fieldPath", "value": "q"}, {"op": "add", "path": "/fields/1/description", "value": "the second"}])
    expect([field.get("description") for field in c.doors.aspect(urn, "schemaMetadata")["fields"]], [None, "the second"])


@call(PLAIN, "mlModelProperties: a list keyed by the caller's arrayPrimaryKeys")
def plain_keys(c: Case) -> None:
    urn = f"urn:li:mlModel:(urn:li:dataPlatform:mlflow,{c.name},PROD)"
    c.write(urn, m.MLModelPropertiesClass(hyperParams=[m.MLHyperParamClass(name="a", value="1"), m.MLHyperParamClass(name="b", value="2")]))
    patch(c, urn, "mlModel", "mlModelProperties", [{"op": "replace", "path": "/hyperParams/b/value", "value": "3"}], keys={"hyperParams": ["name"]})
    expect({entry["name"]: entry["value"] for entry in c.doors.aspect(urn, "mlModelProperties")["hyperParams"]}, {"a": "1", "b": "3"})


@refused(PLAIN, "an invalid patch", result="OperationalError that names the operation")
def plain_broken(c: Case) -> None:
    expect_error(lambda: patch(c, c.dataset("t"), "dataset", "upstreamLineage", [{"op": "shout", "path": "/upstreams"}]), "OperationalError", "op must be one of")


@refused(PLAIN, "domainAssociations with a second domain", result="OperationalError: an asset is in one domain at most")
def plain_second_domain(c: Case) -> None:
    urn = c.dataset("t")
    for name in ["one", "two"]:
        c.write(c.domain(name), m.DomainPropertiesClass(name=f"{c.name} {name}"))
    c.describe(urn)
    add = lambda name: send(c, DatasetPatchBuilder(urn).add_domain(m.DomainAssociationClass(domain=c.domain(name))))
    add("one")
    expect_error(lambda: add("two"), "OperationalError", "domain")
    expect(c.doors.domain_of(urn), c.domain("one"))
