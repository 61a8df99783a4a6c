"""Calls of DataHubGraph: reads, deletes, relationships."""

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.ingestion.graph.openapi import LineageDirection, RelatedEntity, RelationshipDirection
from datahub.ingestion.graph.config import ClientMode
from datahub.metadata import schema_classes as m

from emitter_calls import schema, upstreams
from suite import Case, GRAPHQL, OPENAPI, RESTLI, call, expect, expect_error, refused

CLIENT = "DataHubGraph"


def chain(c: Case, *names: str) -> list:
    """Datasets, each derived from the one before."""
    urns = [c.dataset(name) for name in names]
    c.describe(*urns)
    for up, down in zip(urns, urns[1:]):
        c.write(down, upstreams(up))
    return urns


@call(CLIENT, "get_config(), server_config, test_connection()", RESTLI)
def config(c: Case) -> None:
    graph = c.graph()
    graph.test_connection()
    expect(graph.get_config()["noCode"], "true")
    expect((graph.server_config.service_version is None, bool(graph.get_config()["patchCapable"])), (False, True))


@call(CLIENT, "exists()", RESTLI)
def exists(c: Case) -> None:
    c.describe(c.dataset("a"))
    c.write(c.dataset("b"), upstreams(c.dataset("placeholder")))
    expect([c.graph().exists(c.dataset(name)) for name in ["a", "never", "placeholder"]], [True, False, False])


@call(CLIENT, "emit(), emit_mcps() in SDK mode")
def emit(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    graph = c.graph()
    graph.emit(Proposal(entityUrn=down, aspect=upstreams(up)))
    graph.emit_mcps([Proposal(entityUrn=up, aspect=m.StatusClass())])
    expect((c.doors.upstream(down), c.doors.exists(up)), ({up}, True))


@call(CLIENT, "emit_all(), make_rest_sink()")
def emit_all(c: Case) -> None:
    up = c.dataset("up")
    c.describe(up)
    c.graph().emit_all([Proposal(entityUrn=c.dataset(f"d{number}"), aspect=upstreams(up)) for number in range(30)])
    c.eventually(lambda: len(c.doors.lineage(up, "downstream")), 30)


@call(CLIENT, "get_aspect()", RESTLI, result="the aspect; None if it or its entity is absent")
def get_aspect(c: Case) -> None:
    urn = c.dataset("a")
    aspect = m.DatasetPropertiesClass(name="A", description="d", customProperties={"k": "v"}, tags=["t"])
    c.write(urn, aspect)
    expect(c.graph().get_aspect(urn, m.DatasetPropertiesClass), aspect)
    expect(c.graph().get_aspect(urn, m.UpstreamLineageClass), None)
    expect(c.graph().get_aspect(c.dataset("never"), m.DatasetPropertiesClass), None)
    expect(c.graph().get_aspect(urn, m.DataJobInputOutputClass), None, "an aspect of another type")


@call(CLIENT, "get_aspect(version=1)", RESTLI, result="the oldest that is kept")
def get_aspect_version(c: Case) -> None:
    urn = c.dataset("a")
    for text in ["first", "second"]:
        c.write(urn, m.DatasetPropertiesClass(description=text))
    expect([c.graph().get_aspect(urn, m.DatasetPropertiesClass, version=version).description for version in [0, 1]], ["second", "first"])


@call(CLIENT, "get_dataset_properties(), get_tags(), get_ownership(), get_schema_metadata(), get_domain(), get_domain_properties(), get_glossary_terms(), get_browse_path()", RESTLI)
def typed_reads(c: Case) -> None:
    urn, domain = c.dataset("a"), c.domain("d")
    c.write(domain, m.DomainPropertiesClass(name=c.name, description="about"))
    aspects = [m.DatasetPropertiesClass(description="d"), m.GlobalTagsClass(tags=[m.TagAssociationClass(tag="urn:li:tag:x")]), schema("p"), m.DomainsClass(domains=[domain]),
               m.OwnershipClass(owners=[m.OwnerClass(owner="urn:li:corpuser:a", type="DATAOWNER")]), m.BrowsePathsClass(paths=["/a"]),
               m.GlossaryTermsClass(terms=[m.GlossaryTermAssociationClass(urn="urn:li:glossaryTerm:t")], auditStamp=m.AuditStampClass(time=1, actor="urn:li:corpuser:a"))]
    for aspect in aspects:
        c.write(urn, aspect)
    g = c.graph()
    expect(g.get_dataset_properties(urn).description, "d")
    expect([tag.tag for tag in g.get_tags(urn).tags], ["urn:li:tag:x"])
    expect([owner.owner for owner in g.get_ownership(urn).owners], ["urn:li:corpuser:a"])
    expect([field.fieldPath for field in g.get_schema_metadata(urn).fields], ["p"])
    expect(g.get_domain(urn).domains, [domain])
    expect(g.get_domain_properties(domain).description, "about")
    expect([term.urn for term in g.get_glossary_terms(urn).terms], ["urn:li:glossaryTerm:t"])
    expect(g.get_browse_path(urn).paths, ["/a"])


@call(CLIENT, "get_entity_raw(), get_aspects_for_entity()", RESTLI)
def raw(c: Case) -> None:
    urn = c.dataset("a")
    c.write(urn, m.DatasetPropertiesClass(description="d"))
    found = c.graph().get_entity_raw(urn, ["datasetProperties"])
    expect((found["urn"], found["aspects"]["datasetProperties"]["value"]["description"]), (urn, "d"))
    both = c.graph().get_aspects_for_entity(urn, ["datasetProperties", "upstreamLineage"], [m.DatasetPropertiesClass, m.UpstreamLineageClass])
    expect((both["datasetProperties"].description, both["upstreamLineage"]), ("d", None))


@call(CLIENT, "get_entity_semityped(), get_entity_as_mcps()", RESTLI)
def semityped(c: Case) -> None:
    [up, down] = chain(c, "up", "down")
    c.write(down, schema("p"))
    found = c.graph().get_entity_semityped(down)
    expect(sorted(found), ["datasetKey", "schemaMetadata", "status", "upstreamLineage"])
    expect([entry.dataset for entry in found["upstreamLineage"].upstreams], [up])
    expect({proposal.aspectName for proposal in c.graph().get_entity_as_mcps(down, ["status"])} >= {"status"}, True)
    expect(list(c.graph().get_entity_semityped(c.dataset("never"))), ["datasetKey"], "of an absent entity")


@call(CLIENT, "get_timeseries_values(), get_latest_timeseries_value()", RESTLI)
def timeseries(c: Case) -> None:
    urn = c.dataset("a")
    for number in range(5):
        c.write(urn, m.DatasetProfileClass(timestampMillis=1_700_000_000_000 + number, rowCount=number))
    g = c.graph()
    expect([value.rowCount for value in g.get_timeseries_values(urn, m.DatasetProfileClass, {}, limit=3)], [4, 3, 2])
    expect(g.get_latest_timeseries_value(urn, m.DatasetProfileClass, {}).rowCount, 4)
    expect(g.get_latest_timeseries_value(c.dataset("never"), m.DatasetProfileClass, {}), None)


@call(CLIENT, "get_usage_aspects_from_urn()", RESTLI)
def usage(c: Case) -> None:
    urn = c.dataset("a")
    c.write(urn, m.DatasetUsageStatisticsClass(timestampMillis=1_700_000_000_000, totalSqlQueries=7))
    found = c.graph().get_usage_aspects_from_urn(urn, 1_600_000_000_000, 1_800_000_000_000)
    expect([value.totalSqlQueries for value in found], [7])


@call(CLIENT, "get_domain_urn_by_name()", RESTLI)
def domain_by_name(c: Case) -> None:
    c.write(c.domain("d"), m.DomainPropertiesClass(name=f"{c.name} Größe"))
    expect(c.graph().get_domain_urn_by_name(f"{c.name} Größe"), c.domain("d"))
    expect(c.graph().get_domain_urn_by_name(f"{c.name} other"), None)


@call(CLIENT, "list_all_entity_urns()", RESTLI)
def list_urns(c: Case) -> None:
    urns = [f"urn:li:dataProduct:{c.name}.{number}" for number in range(5)]
    c.describe(*urns)
    everything = c.graph().list_all_entity_urns("dataProduct", 0, 1000)
    expect(set(urns) <= set(everything), True)
    expect([c.graph().list_all_entity_urns("dataProduct", start, 1)[0] for start in range(len(everything))], everything, "page by page")


@call(CLIENT, "get_search_results()", RESTLI)
def search_results(c: Case) -> None:
    c.describe(c.dataset("a"))
    found = c.graph().get_search_results(count=2)
    expect(len(found["value"]["entities"]) in [1, 2] and found["value"]["numEntities"] >= 1, True)


@call(CLIENT, "get_aspect_counts()", RESTLI)
def aspect_counts(c: Case) -> None:
    for name in ["a", "b"]:
        c.write(c.dataset(name), m.DatasetPropertiesClass(description=name))
    expect(c.graph().get_aspect_counts("datasetProperties", f"urn:li:dataset:(urn:li:dataPlatform:hive,{c.name}.%"), 2)


@call(CLIENT, "get_urns_by_filter(entity_types, platform, env, query)", GRAPHQL)
def urns_by_filter(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    here, there = c.dataset("a", platform="postgres"), c.dataset("b", platform="postgres", env="DEV")
    for urn in [here, there, c.dataset("c", platform="mysql")]:
        c.write(urn, m.DatasetPropertiesClass(name=f"{word} table"))
    find = lambda **more: set(c.graph().get_urns_by_filter(entity_types=["dataset"], query=word, **more))
    expect(find(), {here, there, c.dataset("c", platform="mysql")})
    expect(find(platform="postgres"), {here, there})
    expect(find(platform="postgres", env="DEV"), {there})
    expect(find(batch_size=1), find(), "page by page")


@call(CLIENT, "get_urns_by_filter(status=...)", GRAPHQL)
def urns_by_status(c: Case) -> None:
    from datahub.ingestion.graph.filters import RemovedStatusFilter

    word = c.name.replace(".", "").replace("_", "")
    kept, removed = c.dataset("kept"), c.dataset("removed")
    for urn in [kept, removed]:
        c.write(urn, m.DatasetPropertiesClass(name=word))
    c.write(removed, m.StatusClass(removed=True))
    find = lambda status: set(c.graph().get_urns_by_filter(query=word, status=status))
    expect([find(status) for status in [RemovedStatusFilter.NOT_SOFT_DELETED, RemovedStatusFilter.ONLY_SOFT_DELETED, RemovedStatusFilter.ALL]], [{kept}, {removed}, {kept, removed}])


@call(CLIENT, "get_urns_by_filter(extraFilters=...)", GRAPHQL)
def urns_by_extra(c: Case) -> None:
    a, b = c.dataset("a"), c.dataset("b")
    for urn in [a, b]:
        c.write(urn, m.DatasetPropertiesClass(name=urn[-10:], customProperties={"suite": c.name}))
    c.write(b, m.GlobalTagsClass(tags=[m.TagAssociationClass(tag=f"urn:li:tag:{c.name}")]))
    rule = lambda field, value: {"field": field, "condition": "EQUAL", "values": [value]}
    expect(set(c.graph().get_urns_by_filter(extraFilters=[rule("customProperties", f"suite={c.name}")])), {a, b})
    expect(list(c.graph().get_urns_by_filter(extraFilters=[rule("tags", f"urn:li:tag:{c.name}")])), [b])


@call(CLIENT, "get_container_urns_by_filter()", RESTLI)
def containers_by_filter(c: Case) -> None:
    urn = f"urn:li:container:{c.name}"
    c.write(urn, m.ContainerPropertiesClass(name="db", customProperties={"instance": c.name}))
    c.write(urn, m.SubTypesClass(typeNames=["Database"]))
    expect(urn in list(c.graph().get_container_urns_by_filter(env=c.name)), True)


@call(CLIENT, "get_related_entities()", OPENAPI)
def related(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    incoming, outgoing = RelationshipDirection.INCOMING, RelationshipDirection.OUTGOING
    expect(list(c.graph().get_related_entities(b, ["DownstreamOf"], outgoing)), [RelatedEntity(urn=a, relationship_type="DownstreamOf")])
    expect([found.urn for found in c.graph().get_related_entities(a, ["DownstreamOf", "Consumes"], incoming)], [b])
    expect(list(c.graph().get_related_entities(a, ["AssociatedWith"], outgoing)), [])


@call(CLIENT, "get_related_entities() of containers and domains", OPENAPI)
def related_others(c: Case) -> None:
    parent, child, asset = c.domain("parent"), c.domain("child"), c.dataset("a")
    c.write(parent, m.DomainPropertiesClass(name=c.name))
    c.write(child, m.DomainPropertiesClass(name="child", parentDomain=parent))
    c.describe(asset)
    c.write(asset, m.DomainsClass(domains=[child]))
    incoming = RelationshipDirection.INCOMING
    expect([found.urn for found in c.graph().get_related_entities(parent, ["IsPartOf"], incoming)], [child])
    expect([found.urn for found in c.graph().get_related_entities(child, ["AssociatedWith"], incoming)], [asset])


@call(CLIENT, "scroll_lineage()", OPENAPI)
def scroll_lineage(c: Case) -> None:
    [a, b, end] = chain(c, "a", "b", "c")

    def edges(**asked):
        found, scroll_id = [], None
        while True:
            page = c.graph().scroll_lineage(count=1, scroll_id=scroll_id, **asked)
            found += [(edge.upstream_urn, edge.downstream_urn) for edge in page.relationships]
            scroll_id = page.scroll_id
            if scroll_id is None:
                return sorted(found)

    expect(edges(urns=[b]), [(a, b), (b, end)])
    expect(edges(urns=[b], direction=LineageDirection.UPSTREAM), [(a, b)])
    expect(edges(urns=[b], direction=LineageDirection.DOWNSTREAM), [(b, end)])


@call(CLIENT, "scroll_relationships()", OPENAPI)
def scroll_relationships(c: Case) -> None:
    [a, b, end] = chain(c, "a", "b", "c")
    page = c.graph().scroll_relationships(relationship_types=["DownstreamOf"], source_urns=[b, end], count=10)
    expect(sorted((edge.source_urn, edge.destination_urn) for edge in page.relationships), [(b, a), (end, b)])
    slices = [c.graph().scroll_relationships(relationship_types=["DownstreamOf"], source_urns=[b, end], slice_id=index, slice_max=3).relationships for index in range(3)]
    expect(sorted((edge.source_urn, edge.destination_urn) for part in slices for edge in part), [(b, a), (end, b)], "slices")


@call(CLIENT, "scroll_entities()", OPENAPI)
def scroll_entities(c: Case) -> None:
    for name in ["a", "b"]:
        c.write(c.dataset(name), m.DatasetPropertiesClass(name=name, customProperties={"suite": c.name}))
    found, scroll_id = {}, None
    while True:
        page = c.graph().scroll_entities(entity_names=["dataset"], aspects=["datasetProperties"], count=1, scroll_id=scroll_id,
                                         filter=[{"and": [{"field": "customProperties", "condition": "EQUAL", "values": [f"suite={c.name}"]}]}])
        found.update({urn: aspects["datasetProperties"][0].name for urn, aspects in page.entities.items()})
        scroll_id = page.scroll_id
        if scroll_id is None:
            break
    expect(found, {c.dataset("a"): "a", c.dataset("b"): "b"})
    ours = dict(entity_names=["dataset"], filter=[{"and": [{"field": "customProperties", "condition": "EQUAL", "values": [f"suite={c.name}"]}]}])
    slices = [set(c.graph().scroll_entities(slice_id=index, slice_max=2, count=10, **ours).entities) for index in range(2)]
    expect((slices[0] | slices[1], slices[0] & slices[1]), (set(found), set()), "slices")
    expect({"datasetKey", "datasetProperties"} <= set(c.graph().scroll_entities(aspects=[], **ours).entities[c.dataset("a")]), True, "all aspects")


@call(CLIENT, "get_entities()", OPENAPI)
def get_entities(c: Case) -> None:
    a, b = c.dataset("a"), c.dataset("b")
    for urn in [a, b]:
        c.write(urn, m.DatasetPropertiesClass(description=urn))
    found = c.graph().get_entities("dataset", [a, b, c.dataset("never")], ["datasetProperties"], with_system_metadata=True)
    expect({urn: aspects["datasetProperties"][0].description for urn, aspects in found.items() if "datasetProperties" in aspects}, {a: a, b: b})
    expect(found[a]["datasetProperties"][1].lastObserved > 0, True)


@call(CLIENT, "soft_delete_entity(), set_soft_delete_status()")
def soft_delete(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    c.graph().soft_delete_entity(b)
    expect((c.doors.lineage(a, "downstream"), c.graph().exists(b)), ({}, True))
    c.graph().set_soft_delete_status(b, delete=False)
    expect(c.doors.lineage(a, "downstream"), {b: 1})


@call(CLIENT, "hard_delete_entity(), delete_entity(hard=True)", RESTLI)
def hard_delete(c: Case) -> None:
    [a, b, end] = chain(c, "a", "b", "c")
    rows, _ = c.graph().hard_delete_entity(b)
    expect((rows > 0, c.doors.exists(b), b in c.doors.lineage(a, "downstream")), (True, False, False))
    c.graph().delete_entity(end, hard=True)
    expect(c.doors.exists(end), False)


@call(CLIENT, "delete_references_to_urn()", RESTLI)
def delete_references(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    total, _ = c.graph().delete_references_to_urn(a, dry_run=True)
    expect((total >= 1, c.doors.upstream(b)), (True, {a}))
    c.graph().delete_references_to_urn(a)
    expect((c.doors.upstream(b), c.doors.exists(a)), (set(), True))


@call(CLIENT, "hard_delete_timeseries_aspect()", RESTLI)
def delete_timeseries(c: Case) -> None:
    urn = c.dataset("a")
    for number in range(3):
        c.write(urn, m.DatasetProfileClass(timestampMillis=1_700_000_000_000 + number, rowCount=number))
    expect(c.graph().hard_delete_timeseries_aspect(urn, "datasetProfile", None, None), 3)
    expect(c.doors.aspect(urn, "datasetProfile"), None)


@call(CLIENT, "restore_indices()", RESTLI, result="accepted; there are no indices to restore")
def restore_indices(c: Case) -> None:
    c.graph().restore_indices(urn_pattern=c.dataset("a"))


@call(CLIENT, "parse_sql_lineage()", RESTLI, result="works, with the schemas that are stored")
def parse_sql(c: Case) -> None:
    name = lambda text: f"{c.name.replace('.', '_').lower()}_{text}"
    source = f"urn:li:dataset:(urn:li:dataPlatform:postgres,db.public.{name('source')},PROD)"
    c.write(source, schema("a", "b"))
    found = c.graph().parse_sql_lineage(f"insert into {name('target')} select a, b from {name('source')}", platform="postgres", default_db="db", default_schema="public")
    expect(found.in_tables, [source])
    expect(sorted(ref.column for lineage in found.column_lineage for ref in lineage.upstreams), ["a", "b"])


@call(CLIENT, "get_entity_aspect_specs()", OPENAPI)
def aspect_specs(c: Case) -> None:
    expect(c.graph().get_entity_aspect_specs() is not None, True)


@call(CLIENT, "a client in INGESTION mode", result="writes over RestLi unless the environment says otherwise")
def ingestion_mode(c: Case) -> None:
    graph = c.graph(client_mode=ClientMode.INGESTION)
    graph.emit(Proposal(entityUrn=c.dataset("a"), aspect=m.StatusClass()))
    expect(c.doors.exists(c.dataset("a")), True)


@refused(CLIENT, "exists() with an invalid token", RESTLI, result="HTTPError, 401")
def unauthenticated(c: Case) -> None:
    expect_error(lambda: c.graph(token="none").exists(c.dataset("a")), "401")


@refused(CLIENT, "execute_graphql() of an unknown field", GRAPHQL, result="GraphError that names the field")
def unknown_field(c: Case) -> None:
    expect_error(lambda: c.graph().execute_graphql("{ listPolicies(input: {}) { total } }"), "GraphError", "listPolicies")
