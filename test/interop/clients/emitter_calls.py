"""Calls of DatahubRestEmitter."""

import importlib.metadata
import time

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.emitter.rest_emitter import EmitMode
from datahub.metadata import schema_classes as m
from datahub.metadata.urns import Urn

from suite import Case, RESTLI, call, expect, expect_error, refused

CLIENT = "DatahubRestEmitter"


def upstreams(*datasets: str, kind: str = "TRANSFORMED") -> m.UpstreamLineageClass:
    return m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=dataset, type=kind) for dataset in datasets])


@call(CLIENT, "test_connection()")
def connect(c: Case) -> None:
    emitter = c.emitter()
    expect(emitter._openapi_ingestion, c.transport == "openapi", "the transport")
    expect(emitter.get_server_config()["noCode"], "true")
    expect(emitter.server_config.default_cli_version, importlib.metadata.version("acryl-datahub"))


@call(CLIENT, "emit(datasetProperties)")
def emit(c: Case) -> None:
    urn = c.dataset("a")
    c.emitter().emit(Proposal(entityUrn=urn, aspect=m.DatasetPropertiesClass(name="A", description="what it is", customProperties={"k": "v"})))
    expect(c.doors.graphql("query ($urn: String!) { dataset(urn: $urn) { exists properties { name description customProperties { key value } } } }", urn=urn)["dataset"],
           {"exists": True, "properties": {"name": "A", "description": "what it is", "customProperties": [{"key": "k", "value": "v"}]}})


@call(CLIENT, "emit_mcp(upstreamLineage)")
def emit_lineage(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    c.emitter().emit_mcp(Proposal(entityUrn=down, aspect=upstreams(up)))
    expect(c.doors.upstream(down), {up})
    expect(c.doors.lineage(up, "downstream"), {down: 1})
    # A second write of the whole aspect takes the place of the first.
    c.emitter().emit_mcp(Proposal(entityUrn=down, aspect=upstreams(c.dataset("other"))))
    expect(c.doors.upstream(down), {c.dataset("other")})


@call(CLIENT, "emit_mcp(upstreamLineage with column lineage)")
def emit_columns(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    record = m.FineGrainedLineageClass(
        upstreamType=m.FineGrainedLineageUpstreamTypeClass.FIELD_SET, upstreams=[c.column(up, "a"), c.column(up, "b")],
        downstreamType=m.FineGrainedLineageDownstreamTypeClass.FIELD_SET, downstreams=[c.column(down, "x"), c.column(down, "y")],
        transformOperation="SUM", confidenceScore=0.5)
    aspect = upstreams(up)
    aspect.fineGrainedLineages = [record]
    c.emitter().emit_mcp(Proposal(entityUrn=down, aspect=aspect))
    expect(c.doors.upstream_columns(c.column(down, "x")), {c.column(up, "a"), c.column(up, "b")})
    [read] = c.doors.aspect(down, "upstreamLineage")["fineGrainedLineages"]
    expect((read["transformOperation"], read["confidenceScore"], read["downstreams"]), ("SUM", 0.5, [c.column(down, "x"), c.column(down, "y")]))


@call(CLIENT, "emit_mcp(dataJobInputOutput)")
def emit_job(c: Case) -> None:
    job, source, target, before = c.job("j"), c.dataset("source"), c.dataset("target"), c.job("before")
    c.emitter().emit_mcp(Proposal(entityUrn=job, aspect=m.DataJobInputOutputClass(inputDatasets=[source], outputDatasets=[target], inputDatajobs=[before])))
    expect(c.doors.upstream(job), {source, before})
    expect(c.doors.upstream(target), {job})


@call(CLIENT, "emit_mcp(dataJobInputOutput with column lineage)")
def emit_job_columns(c: Case) -> None:
    job, source, target = c.job("j"), c.dataset("source"), c.dataset("target")
    record = m.FineGrainedLineageClass(
        upstreamType=m.FineGrainedLineageUpstreamTypeClass.FIELD_SET, upstreams=[c.column(source, "a")],
        downstreamType=m.FineGrainedLineageDownstreamTypeClass.FIELD, downstreams=[c.column(target, "x")])
    c.emitter().emit_mcp(Proposal(entityUrn=job, aspect=m.DataJobInputOutputClass(inputDatasets=[source], outputDatasets=[target], fineGrainedLineages=[record])))
    expect(c.doors.upstream_columns(c.column(target, "x")), {c.column(source, "a"), job})


def stamps() -> m.ChangeAuditStampsClass:
    return m.ChangeAuditStampsClass()


@call(CLIENT, "emit_mcp(chartInfo)")
def emit_chart(c: Case) -> None:
    chart, source = c.chart("c"), c.dataset("source")
    c.emitter().emit_mcp(Proposal(entityUrn=chart, aspect=m.ChartInfoClass(title="A chart", description="", lastModified=stamps(), inputs=[source])))
    expect(c.doors.upstream(chart), {source})


@call(CLIENT, "emit_mcp(dashboardInfo)")
def emit_dashboard(c: Case) -> None:
    dashboard, chart, source = c.dashboard("d"), c.chart("c"), c.dataset("source")
    c.emitter().emit_mcp(Proposal(entityUrn=dashboard, aspect=m.DashboardInfoClass(title="A dashboard", description="", lastModified=stamps(), charts=[chart], datasets=[source])))
    expect(c.doors.upstream(dashboard), {chart, source})


@call(CLIENT, "emit_mcp(inputFields)")
def emit_input_fields(c: Case) -> None:
    chart, source = c.chart("c"), c.dataset("source")
    c.describe(chart)
    field = m.SchemaFieldClass(fieldPath="total", type=m.SchemaFieldDataTypeClass(type=m.NumberTypeClass()), nativeDataType="int")
    c.emitter().emit_mcp(Proposal(entityUrn=chart, aspect=m.InputFieldsClass(fields=[m.InputFieldClass(schemaFieldUrn=c.column(source, "a"), schemaField=field)])))
    expect(c.doors.upstream_columns(f"urn:li:schemaField:({chart},total)"), {c.column(source, "a")})


@call(CLIENT, "emit_mcp(mlPrimaryKeyProperties, mlFeatureProperties)")
def emit_ml(c: Case) -> None:
    source = c.dataset("source")
    key, feature = f"urn:li:mlPrimaryKey:({c.name},key)", f"urn:li:mlFeature:({c.name},feature)"
    c.emitter().emit_mcp(Proposal(entityUrn=key, aspect=m.MLPrimaryKeyPropertiesClass(sources=[source])))
    c.emitter().emit_mcp(Proposal(entityUrn=feature, aspect=m.MLFeaturePropertiesClass(sources=[source])))
    expect(c.doors.lineage(source, "downstream"), {key: 1, feature: 1})


@call(CLIENT, "emit_mcp(mlModelProperties)")
def emit_model(c: Case) -> None:
    feature = f"urn:li:mlFeature:({c.name},feature)"
    model, group = (f"urn:li:{kind}:(urn:li:dataPlatform:mlflow,{c.name}.{name},PROD)" for kind, name in [("mlModel", "model"), ("mlModelGroup", "group")])
    c.emitter().emit_mcp(Proposal(entityUrn=model, aspect=m.MLModelPropertiesClass(mlFeatures=[feature], groups=[group])))
    expect(c.doors.upstream(model), {feature})
    expect(c.doors.upstream(group), {model})


@call(CLIENT, "emit_mcp(domainProperties)")
def emit_domain(c: Case) -> None:
    parent, child = c.domain("parent"), c.domain("child")
    c.emitter().emit_mcp(Proposal(entityUrn=parent, aspect=m.DomainPropertiesClass(name=c.name)))
    c.emitter().emit_mcp(Proposal(entityUrn=child, aspect=m.DomainPropertiesClass(name="Child", description="of it", parentDomain=parent)))
    expect(c.doors.graphql("query ($urn: String!) { domain(urn: $urn) { properties { name description } parentDomains { domains { urn } } } }", urn=child)["domain"],
           {"properties": {"name": "Child", "description": "of it"}, "parentDomains": {"domains": [{"urn": parent}]}})


@call(CLIENT, "emit_mcp(domains)")
def emit_domains(c: Case) -> None:
    urn, domain = c.dataset("a"), c.domain("d")
    c.describe(urn)
    c.write(domain, m.DomainPropertiesClass(name=c.name))
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.DomainsClass(domains=[domain])))
    expect(c.doors.domain_of(urn), domain)
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.DomainsClass(domains=[])))
    expect(c.doors.domain_of(urn), None)


@call(CLIENT, "emit_mcp(schemaMetadata)")
def emit_schema(c: Case) -> None:
    urn = c.dataset("a")
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=schema("first", "second")))
    fields = c.doors.graphql("query ($urn: String!) { dataset(urn: $urn) { schemaMetadata { fields { fieldPath } } } }", urn=urn)["dataset"]["schemaMetadata"]["fields"]
    expect([field["fieldPath"] for field in fields], ["first", "second"])


def schema(*paths: str) -> m.SchemaMetadataClass:
    return m.SchemaMetadataClass(
        schemaName="s", platform="urn:li:dataPlatform:hive", version=0, hash="", platformSchema=m.OtherSchemaClass(rawSchema=""),
        fields=[m.SchemaFieldClass(fieldPath=path, type=m.SchemaFieldDataTypeClass(type=m.StringTypeClass()), nativeDataType="text") for path in paths])


@call(CLIENT, "emit_mcp(an aspect that Tributary does not model)", result="kept and read back as sent")
def emit_unmodelled(c: Case) -> None:
    urn, path = c.dataset("a"), [m.BrowsePathEntryClass(id="warehouse"), m.BrowsePathEntryClass(id="sales")]
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.BrowsePathsV2Class(path=path)))
    expect(c.doors.aspect(urn, "browsePathsV2"), {"path": [{"id": "warehouse"}, {"id": "sales"}]})


@call(CLIENT, "emit_mcp(an entity type that Tributary does not model)", result="kept and read back as sent")
def emit_unmodelled_type(c: Case) -> None:
    urn = f"urn:li:query:{c.name}"
    properties = m.QueryPropertiesClass(statement=m.QueryStatementClass(value="select 1", language="SQL"), source="SYSTEM", created=m.AuditStampClass(time=1, actor="urn:li:corpuser:a"), lastModified=m.AuditStampClass(time=1, actor="urn:li:corpuser:a"))
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=properties))
    expect(c.doors.aspect(urn, "queryProperties")["statement"], {"value": "select 1", "language": "SQL"})


@call(CLIENT, "emit_mcp(datasetProfile), a timeseries aspect")
def emit_timeseries(c: Case) -> None:
    urn = c.dataset("a")
    for at, rows in [(1_700_000_000_000, 1), (1_700_000_060_000, 2)]:
        c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.DatasetProfileClass(timestampMillis=at, rowCount=rows)))
    expect(c.doors.aspect(urn, "datasetProfile")["rowCount"], 2)


@call(CLIENT, "emit_mcp(changeType=CREATE)", result="RestLi refuses a second one (422); over OpenAPI v3 the client sends no change type, and it replaces")
def create_aspect(c: Case) -> None:
    urn = c.dataset("a")
    create = lambda text: c.emitter().emit_mcp(Proposal(entityUrn=urn, changeType="CREATE", aspect=m.DatasetPropertiesClass(description=text)))
    create("first")
    if c.transport == "restli":
        expect_error(lambda: create("second"), "OperationalError", "already exists")
        expect(c.doors.aspect(urn, "datasetProperties")["description"], "first")
    else:
        create("second")
        expect(c.doors.aspect(urn, "datasetProperties")["description"], "second")


@call(CLIENT, "emit_mcp(changeType=CREATE_ENTITY)", RESTLI, result="creates the entity; a second one is refused (422)")
def create_entity(c: Case) -> None:
    urn = c.dataset("a")
    create = lambda: c.emitter().emit_mcp(Proposal(entityUrn=urn, changeType="CREATE_ENTITY", aspect=Urn.from_string(urn).to_key_aspect()))
    create()
    expect(c.doors.exists(urn), True)
    expect_error(create, "OperationalError", "already exists")


@call(CLIENT, "emit_mcp(changeType=UPDATE)")
def update(c: Case) -> None:
    urn = c.dataset("a")
    c.emitter().emit_mcp(Proposal(entityUrn=urn, changeType="UPDATE", aspect=m.DatasetPropertiesClass(description="x")))
    expect(c.doors.aspect(urn, "datasetProperties")["description"], "x")


@call(CLIENT, "emit_mcp(changeType=DELETE) of a key aspect", result="deletes the entity")
def delete_entity(c: Case) -> None:
    urn = c.dataset("a")
    c.describe(urn)
    c.emitter().emit_mcp(Proposal(entityUrn=urn, entityType="dataset", changeType="DELETE", aspectName="datasetKey"))
    expect(c.doors.exists(urn), False)


@call(CLIENT, "emit_mcps() of several entities in one request")
def emit_batch(c: Case) -> None:
    up, down, job = c.dataset("up"), c.dataset("down"), c.job("j")
    c.emitter().emit_mcps([
        Proposal(entityUrn=down, aspect=upstreams(up)),
        Proposal(entityUrn=up, aspect=m.DatasetPropertiesClass(description="up")),
        Proposal(entityUrn=job, aspect=m.DataJobInputOutputClass(inputDatasets=[down], outputDatasets=[])),
        Proposal(entityUrn=job, aspect=m.DataJobInfoClass(name="j", type="COMMAND"))
    ])
    expect(c.doors.lineage(up, "downstream"), {down: 1, job: 2})
    expect(c.doors.aspect(job, "dataJobInfo")["name"], "j")


@call(CLIENT, "emit_mcps() of 450, which the client sends in three requests")
def emit_many(c: Case) -> None:
    source = c.dataset("source")
    c.emitter().emit_mcps([Proposal(entityUrn=c.dataset(f"t{number}"), aspect=upstreams(source)) for number in range(450)])
    expect(c.doors.lineage(source, "downstream"), {c.dataset(f"t{number}"): 1 for number in range(450)})


@call(CLIENT, "emit_mcps() with one bad proposal", result="refused whole; the error names what is wrong")
def emit_bad_batch(c: Case) -> None:
    good, bad = c.dataset("good"), c.dataset("bad")
    act = lambda: c.emitter().emit_mcps([
        Proposal(entityUrn=good, aspect=m.DatasetPropertiesClass(description="good")),
        Proposal(entityUrn=bad, aspect=upstreams(c.job("no dataset")))
    ])
    expect_error(act, "OperationalError", "upstreams")
    expect(c.doors.exists(good), False)


def described(c: Case, name: str):
    return lambda: (c.doors.aspect(c.dataset(name), "datasetProperties") or {}).get("description")


@call(CLIENT, "emit_mcp(emit_mode=ASYNC)", result="through the queue")
def emit_async(c: Case) -> None:
    c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description="later")), emit_mode=EmitMode.ASYNC)
    c.eventually(described(c, "a"), "later")


@call(CLIENT, "emit_mcps(emit_mode=ASYNC)", result="through the queue")
def emit_batch_async(c: Case) -> None:
    up, downs = c.dataset("up"), [c.dataset(f"d{number}") for number in range(50)]
    c.describe(up)
    c.emitter().emit_mcps([Proposal(entityUrn=down, aspect=upstreams(up)) for down in downs], emit_mode=EmitMode.ASYNC)
    c.eventually(lambda: c.doors.lineage(up, "downstream"), {down: 1 for down in downs})


@call(CLIENT, "emit_mcp(emit_mode=ASYNC) twice", result="the later one wins")
def emit_async_order(c: Case) -> None:
    for text in ["first", "second", "third"]:
        c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description=text)), emit_mode=EmitMode.ASYNC)
    c.eventually(described(c, "a"), "third")


@call(CLIENT, "emit_mcp(emit_mode=SYNC_WAIT)")
def emit_sync_wait(c: Case) -> None:
    c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description="now")), emit_mode=EmitMode.SYNC_WAIT)
    expect(described(c, "a")(), "now")


@call(CLIENT, "emit_mcp(emit_mode=ASYNC_WAIT)", result="answers when it is applied")
def emit_async_wait(c: Case) -> None:
    c.emitter(openapi_ingestion=True).emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description="traced")), emit_mode=EmitMode.ASYNC_WAIT)
    expect(described(c, "a")(), "traced")


@call(CLIENT, "emit_mcp(async_flag=True), the older way")
def emit_async_flag(c: Case) -> None:
    c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description="later")), async_flag=True)
    c.eventually(described(c, "a"), "later")


@call(CLIENT, "emit_mce(a snapshot), emit(a snapshot)", RESTLI)
def emit_snapshot(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    for urn, aspects in [(up, [m.DatasetPropertiesClass(description="up"), m.StatusClass(removed=False)]), (down, [upstreams(up)])]:
        c.emitter().emit(m.MetadataChangeEventClass(proposedSnapshot=m.DatasetSnapshotClass(urn=urn, aspects=aspects)))
    expect(described(c, "up")(), "up")
    expect(c.doors.upstream(down), {up})


@call(CLIENT, "emit_mcp() and emit_mcps() of text outside ASCII")
def emit_unicode(c: Case) -> None:
    text = "Größe, 大きさ, \U0001f30a, \"quoted\" \\ and\nbroken"
    c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("one"), aspect=m.DatasetPropertiesClass(description=text)))
    c.emitter().emit_mcps([Proposal(entityUrn=c.dataset("many"), aspect=m.DatasetPropertiesClass(description=text))])
    expect((described(c, "one")(), described(c, "many")()), (text, text))


@call(CLIENT, "emit_mcp() of URNs outside ASCII, with spaces and escaped commas")
def emit_unicode_urn(c: Case) -> None:
    for name in ["Größe", "with space", "a%2Cb"]:
        urn = c.dataset(name)
        c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=upstreams(c.dataset("up"))))
        expect(c.doors.upstream(urn), {c.dataset("up")}, name)


@call(CLIENT, "emit_mcp(headers={'If-Version-Match': ...})", result="refused if the version is another one")
def emit_conditional(c: Case) -> None:
    write = lambda text, version: c.emitter().emit_mcp(Proposal(entityUrn=c.dataset("a"), aspect=m.DatasetPropertiesClass(description=text), headers={"If-Version-Match": version}))
    write("first", "-1")
    write("second", "1")
    for version in ["1", "-10000"]:
        expect_error(lambda: write("third", version), "OperationalError", f"Expected version {version}, actual version 2")
    expect(described(c, "a")(), "second")


@call(CLIENT, "emit_mcp(systemMetadata=...)")
def emit_system_metadata(c: Case) -> None:
    urn = c.dataset("a")
    c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.DatasetPropertiesClass(description="x"), systemMetadata=m.SystemMetadataClass(runId="run-1", lastObserved=1)))
    expect(described(c, "a")(), "x")


@call(CLIENT, "emit_mcp(status removed)", result="hides the entity from lineage; the entities behind it are still reached")
def emit_soft_delete(c: Case) -> None:
    a, b, end = c.dataset("a"), c.dataset("b"), c.dataset("c")
    c.emitter().emit_mcps([Proposal(entityUrn=b, aspect=upstreams(a)), Proposal(entityUrn=end, aspect=upstreams(b))])
    c.emitter().emit_mcp(Proposal(entityUrn=b, aspect=m.StatusClass(removed=True)))
    expect(c.doors.lineage(a, "downstream"), {end: 2})
    c.emitter().emit_mcp(Proposal(entityUrn=b, aspect=m.StatusClass(removed=False)))
    expect(c.doors.lineage(a, "downstream"), {b: 1, end: 2})


@call(CLIENT, "emit() with MISSING_REFERENCES=reject", result="an absent upstream is refused, and the error names it; one that exists is accepted")
def emit_strict(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    emitter = c.emitter(c.strict_url)
    emitter.emit(Proposal(entityUrn=down, aspect=m.DatasetPropertiesClass(description="down")))
    expect_error(lambda: emitter.emit(Proposal(entityUrn=down, aspect=upstreams(up))), "OperationalError", up)
    expect(c.doors.exists(up), False)
    emitter.emit(Proposal(entityUrn=up, aspect=m.DatasetPropertiesClass(description="up")))
    emitter.emit(Proposal(entityUrn=down, aspect=upstreams(up)))
    expect(c.doors.upstream(down), {up})


def quick(act) -> None:
    """A client fault must not look like one that is worth trying again: the client waits then."""
    begun = time.monotonic()
    act()
    if time.monotonic() - begun > 10:
        raise AssertionError("the client tried again")


@refused(CLIENT, "emit() with an invalid token", result="OperationalError: `Unauthorized to perform this action.`")
def emit_unauthenticated(c: Case) -> None:
    emitter = c.emitter(token="none")
    quick(lambda: expect_error(lambda: emitter.emit(Proposal(entityUrn=c.dataset("a"), aspect=m.StatusClass())), "OperationalError", "Unauthorized"))


@refused(CLIENT, "emit_mcp(domains with two domains)", result="OperationalError: an asset is in one domain at most")
def emit_two_domains(c: Case) -> None:
    urn = c.dataset("a")
    for name in ["one", "two"]:
        c.write(c.domain(name), m.DomainPropertiesClass(name=f"{c.name} {name}"))
    c.describe(urn)
    quick(lambda: expect_error(lambda: c.emitter().emit_mcp(Proposal(entityUrn=urn, aspect=m.DomainsClass(domains=[c.domain("one"), c.domain("two")]))), "OperationalError", "domain"))
    expect(c.doors.domain_of(urn), None)


@refused(CLIENT, "emit_mcp() with a malformed URN", result="OperationalError that shows the URN")
def emit_malformed(c: Case) -> None:
    quick(lambda: expect_error(lambda: c.emitter().emit_mcp(Proposal(entityType="dataset", entityUrn="urn:li:dataset:(a,b", aspect=m.StatusClass())), "OperationalError", "urn:li:dataset:(a,b"))


@refused(CLIENT, "emit_usage()", RESTLI, result="OperationalError, NOT_FOUND; emit `datasetUsageStatistics` instead")
def emit_usage(c: Case) -> None:
    usage = m.UsageAggregationClass(bucket=1, duration="DAY", resource=c.dataset("a"), metrics=m.UsageAggregationMetricsClass())
    quick(lambda: expect_error(lambda: c.emitter().emit_usage(usage), "OperationalError", "NOT_FOUND"))
