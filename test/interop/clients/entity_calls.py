"""Calls of DataHubClient.entities: the entities of the SDK, written, read, changed and deleted."""

import warnings
from datetime import datetime, timezone

from datahub.emitter.mcp_builder import DatabaseKey
from datahub.metadata import schema_classes as m
from datahub.sdk import Chart, Container, Dashboard, DataFlow, DataJob, Dataset, MLModel, MLModelGroup
from datahub.sdk.glossary_term import GlossaryTerm
from datahub.sdk.tag import Tag
from datahub.specific.dataset import DatasetPatchBuilder

from suite import Case, RESTLI, call, expect, expect_error, refused

CLIENT = "DataHubClient.entities"


def dataset(c: Case, name: str = "t", **more) -> Dataset:
    return Dataset(platform="hive", name=f"{c.name}.{name}", env="PROD", **more)


@call(CLIENT, "create(Dataset), get(Dataset)")
def create_dataset(c: Case) -> None:
    entity = dataset(c, description="about", display_name="T", custom_properties={"k": "v"}, schema=[("a", "int", "the first"), ("b", "string")], upstreams=[c.dataset("up")], tags=[m.TagAssociationClass(tag="urn:li:tag:x")])
    c.client().entities.create(entity)
    expect(c.doors.upstream(entity.urn), {c.dataset("up")})
    read = c.client().entities.get(entity.urn)
    expect((read.description, read.display_name, read.custom_properties, [field.field_path for field in read.schema], read["a"].description), ("about", "T", {"k": "v"}, ["a", "b"], "the first"))
    expect([str(entry.dataset) for entry in read.upstreams.upstreams], [c.dataset("up")])


@refused(CLIENT, "create() of an entity that exists", result="SdkUsageError")
def create_twice(c: Case) -> None:
    c.client().entities.create(dataset(c))
    expect_error(lambda: c.client().entities.create(dataset(c)), "SdkUsageError", "already exists")


@call(CLIENT, "upsert(Dataset), update(Dataset)")
def upsert_dataset(c: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c.client().entities.upsert(dataset(c, description="one"))
        c.client().entities.upsert(dataset(c, description="two"))
    entity = c.client().entities.get(dataset(c).urn)
    entity.set_description("three")
    c.client().entities.update(entity)
    aspects = [c.doors.aspect(entity.urn, name) or {} for name in ["editableDatasetProperties", "datasetProperties"]]
    expect("three" in [aspect.get("description") for aspect in aspects], True)


@call(CLIENT, "update(a patch builder)")
def update_patch(c: Case) -> None:
    c.client().entities.upsert(dataset(c))
    c.client().entities.update(DatasetPatchBuilder(dataset(c).urn).add_custom_property("k", "v"))
    expect(c.doors.aspect(dataset(c).urn, "datasetProperties")["customProperties"], {"k": "v"})


@refused(CLIENT, "update(a patch builder) of an entity that does not exist", result="SdkUsageError")
def update_absent(c: Case) -> None:
    expect_error(lambda: c.client().entities.update(DatasetPatchBuilder(dataset(c).urn).add_custom_property("k", "v")), "SdkUsageError", "does not exist")


@call(CLIENT, "Dataset.set_domain(), upsert()")
def dataset_domain(c: Case) -> None:
    c.write(c.domain("d"), m.DomainPropertiesClass(name=c.name))
    entity = dataset(c)
    entity.set_domain(c.domain("d"))
    c.client().entities.upsert(entity)
    expect(c.doors.domain_of(entity.urn), c.domain("d"))
    expect(str(c.client().entities.get(entity.urn).domain), c.domain("d"))


@call(CLIENT, "Dataset with owners, links, terms, container, view definition and stamps")
def dataset_whole(c: Case) -> None:
    container = Container(DatabaseKey(platform="hive", database=c.name), display_name="db", subtype="Database")
    c.client().entities.upsert(container)
    entity = dataset(c, owners=[m.OwnerClass(owner="urn:li:corpuser:a", type="DATAOWNER")], links=[("http://x", "a link")], terms=[m.GlossaryTermAssociationClass(urn="urn:li:glossaryTerm:t")],
                     parent_container=container, subtype="View", view_definition="select 1", created=datetime(2024, 1, 1, tzinfo=timezone.utc), qualified_name="q")
    c.client().entities.upsert(entity)
    read = c.client().entities.get(entity.urn)
    expect((read.subtype, str(read.parent_container), read.view_definition.viewLogic, read.created, read.qualified_name), ("View", str(container.urn), "select 1", datetime(2024, 1, 1, tzinfo=timezone.utc), "q"))
    expect((len(read.owners), len(read.links), len(read.terms)), (1, 1, 1))


@call(CLIENT, "DataFlow and DataJob with inlets, outlets and column lineage")
def jobs(c: Case) -> None:
    flow = DataFlow(platform="airflow", name=f"{c.name}.flow", description="f")
    record = m.FineGrainedLineageClass(upstreamType="FIELD_SET", upstreams=[c.column(c.dataset("in"), "a")], downstreamType="FIELD", downstreams=[c.column(c.dataset("out"), "x")])
    job = DataJob(flow=flow, name="j", inlets=[c.dataset("in")], outlets=[c.dataset("out")], fine_grained_lineages=[record])
    c.client().entities.upsert(flow)
    c.client().entities.upsert(job)
    expect((c.doors.upstream(job.urn), c.doors.upstream(c.dataset("out"))), ({c.dataset("in")}, {str(job.urn)}))
    expect(c.doors.upstream_columns(c.column(c.dataset("out"), "x")), {c.column(c.dataset("in"), "a"), str(job.urn)})
    read = c.client().entities.get(job.urn)
    expect(([str(urn) for urn in read.inlets], [str(urn) for urn in read.outlets], str(read.flow_urn)), ([c.dataset("in")], [c.dataset("out")], str(flow.urn)))
    expect(c.client().entities.get(flow.urn).description, "f")


@call(CLIENT, "Chart and Dashboard with their inputs")
def pictures(c: Case) -> None:
    chart = Chart(platform="looker", name=f"{c.name}.c", display_name="C", input_datasets=[c.dataset("a")])
    dashboard = Dashboard(platform="looker", name=f"{c.name}.d", display_name="D", charts=[chart.urn], input_datasets=[c.dataset("b")])
    c.client().entities.upsert(chart)
    c.client().entities.upsert(dashboard)
    expect((c.doors.upstream(chart.urn), c.doors.upstream(dashboard.urn)), ({c.dataset("a")}, {str(chart.urn), c.dataset("b")}))
    read = c.client().entities.get(dashboard.urn)
    expect((read.display_name, [str(urn) for urn in read.charts]), ("D", [str(chart.urn)]))
    expect([str(urn) for urn in c.client().entities.get(chart.urn).input_datasets], [c.dataset("a")])


@call(CLIENT, "Container below a container")
def containers(c: Case) -> None:
    parent = Container(DatabaseKey(platform="hive", database=c.name), display_name="db", subtype="Database")
    c.client().entities.upsert(parent)
    read = c.client().entities.get(parent.urn)
    expect((read.display_name, read.subtype), ("db", "Database"))


@call(CLIENT, "MLModelGroup, MLModel with its group and training jobs")
def models(c: Case) -> None:
    group = MLModelGroup(id=f"{c.name}.g", platform="mlflow", name="G")
    run = f"urn:li:dataProcessInstance:{c.name}"
    model = MLModel(id=f"{c.name}.m", platform="mlflow", name="M", model_group=group.urn, training_jobs=[run], hyper_params={"rate": "0.1"})
    c.client().entities.upsert(group)
    c.client().entities.upsert(model)
    expect((c.doors.upstream(model.urn), c.doors.upstream(group.urn)), ({run}, {str(model.urn)}))
    read = c.client().entities.get(model.urn)
    expect((read.name, str(read.model_group)), ("M", str(group.urn)))


@call(CLIENT, "Tag, GlossaryTerm")
def tags_and_terms(c: Case) -> None:
    tag, term = Tag(name=c.name, display_name="a tag", color="#ff0000"), GlossaryTerm(id=c.name, display_name="a term", definition="what it means")
    c.client().entities.upsert(tag)
    c.client().entities.upsert(term)
    expect((c.client().entities.get(tag.urn).color, c.client().entities.get(term.urn).definition), ("#ff0000", "what it means"))


@call(CLIENT, "delete()", result="soft")
def delete_soft(c: Case) -> None:
    c.client().entities.upsert(dataset(c))
    c.client().entities.delete(dataset(c).urn)
    expect(c.doors.aspect(dataset(c).urn, "status"), {"removed": True})


@call(CLIENT, "delete(hard=True)", RESTLI)
def delete_hard(c: Case) -> None:
    c.client().entities.upsert(dataset(c))
    c.client().entities.delete(str(dataset(c).urn), hard=True)
    expect(c.doors.exists(dataset(c).urn), False)


@refused(CLIENT, "get() of an absent entity", RESTLI, result="ItemNotFoundError")
def get_absent(c: Case) -> None:
    expect_error(lambda: c.client().entities.get(dataset(c).urn), "ItemNotFoundError")


@refused(CLIENT, "delete() of an absent entity", RESTLI, result="SdkUsageError")
def delete_absent(c: Case) -> None:
    expect_error(lambda: c.client().entities.delete(dataset(c).urn), "SdkUsageError", "does not exist")
