/**
 * The final states of worlds of random records: the statements, what a reader sees, and what an oracle
 * expects.
 */
import { readAspects, type AspectView } from '../../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { aspectTemplate } from '../../shared/model/aspect-registry.ts'
import type { JsonValue } from '../../shared/model/changes.ts'
import { equalJson } from '../../shared/model/equal-json.ts'
import { isLineageAspect, lineageFieldByCode } from '../../shared/model/lineage-fields.ts'
import { splitLineageDocument } from '../../shared/model/lineage-document.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import { plainGroup, type EdgeStep, type World } from './order-world.ts'
import type { Step } from './random-records.ts'

/** `live` are the asserted edges, `shown` those in aspects; `state` is without the name of the world. */
export type EndState = {
  live: string[]
  shown: string[]
  state: { statements: string[]; presence: string[]; aspects: string[] }
}

/**
 * The final states of many worlds in a few queries. `forgetsEmpty` leaves out empty things that would not
 * exist if a deletion had not come late.
 */
export async function endStates(
  db: Db,
  worlds: readonly World[],
  forgetsEmpty: boolean
): Promise<Map<World, EndState>> {
  const assets = worlds.flatMap((world) => world.assets)
  const statements = byUrn(
    await query<{ owner: Urn; field: number; row: string; edge: string }>(
      db,
      `
    select owner.urn as owner, field, concat_ws(' ', downstream.urn, upstream.urn) as edge,
      concat_ws(' ', owner.urn, field, downstream.urn, upstream.urn, statement_source.name, record_key, least(position, 1073741824)) as row
    from entity as owner
    join statement on statement.owner_id = owner.id
    join entity as downstream on downstream.id = downstream_id
    join entity as upstream on upstream.id = upstream_id
    join statement_source on statement_source.id = source_id
    where owner.urn = any(?::text[])`,
      [assets]
    ),
    ({ owner }) => owner
  )
  const presence = byUrn(
    await query<{ urn: Urn; row: string }>(
      db,
      "select urn, concat_ws(' ', urn, is_present, is_removed) as row from entity where urn = any(?::text[])",
      [assets]
    ),
    ({ urn }) => urn
  )
  const aspects = await readAspects(db, assets, null)
  const domainless = { domains: [], domainAssociations: [] }
  // Not promised: whether an empty aspect exists, if an edge given by its ends was the last to assert
  // something there and a deletion came late.
  const isEmpty = ({ name, value }: AspectView): boolean =>
    (isLineageAspect(name) && equalJson(value, aspectTemplate(name))) ||
    (forgetsEmpty && name === 'domains' && equalJson(value, domainless))
  return new Map(
    worlds.map((world): [World, EndState] => {
      const of = <Row>(rows: Map<string, Row[]>): Row[] => world.assets.flatMap((urn) => rows.get(urn) ?? [])
      const tidy = (rows: string[]): string[] => rows.map((row) => row.replaceAll(world.name, '')).sort()
      const views = world.assets.flatMap((urn) =>
        [...(aspects.get(urn)?.values() ?? [])].map((view) => ({ urn, view }))
      )
      const shown = views
        .filter(({ view }) => isLineageAspect(view.name))
        .flatMap(({ urn, view }) =>
          splitLineageDocument(urn, view.name, view.value).entries.map(
            (entry) => `${view.name} ${entry.downstreamUrn} ${entry.upstreamUrn}`
          )
        )
      return [
        world,
        {
          live: [
            ...new Set(
              of(statements).map(({ field, edge }) => `${lineageFieldByCode(field).aspectName} ${edge}`)
            )
          ].sort(),
          shown: [...new Set(shown)].sort(),
          state: {
            statements: tidy(of(statements).map(({ row }) => row)),
            presence: tidy(of(presence).map(({ row }) => row)),
            aspects: tidy(
              views
                .filter(({ view }) => !isEmpty(view))
                .map(({ urn, view }) => `${urn} ${view.name} ${JSON.stringify(sorted(view.value))}`)
            )
          }
        }
      ]
    })
  )
}

function byUrn<Row>(rows: readonly Row[], urnOf: (row: Row) => Urn): Map<string, Row[]> {
  const map = new Map<string, Row[]>()
  for (const row of rows) map.set(urnOf(row), [...(map.get(urnOf(row)) ?? []), row])
  return map
}

/** The order of appended entries depends on when they were last asserted, which is not compared. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value))
    return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)])
  )
}

/** The edges after the steps in order, by the simplest means: a list of statements. */
export function edgesOfOracle(
  told: readonly { steps: readonly Step[]; source: string }[],
  world: World
): string[] {
  let stated: { owner: string; list: string; edge: string; source: string; group: string }[] = []
  const take = (step: EdgeStep, source: string) => {
    if (step.kind === 'add')
      stated.push({
        owner: step.owner,
        list: step.list,
        edge: step.edge,
        source: step.source ?? source,
        group: step.group ?? plainGroup
      })
    else if (step.kind === 'remove')
      stated = stated.filter(
        (row) =>
          !(
            row.owner === step.owner &&
            row.list.startsWith(`${step.aspect}.`) &&
            row.edge === step.edge &&
            (!step.list || row.list === step.list) &&
            (!step.group || row.group === step.group)
          )
      )
    else {
      stated = stated.filter(
        (row) =>
          !(
            row.owner === step.owner &&
            row.list.startsWith(`${step.aspect}.`) &&
            (!step.list || row.list === step.list) &&
            (!step.downstream || row.edge.startsWith(`${step.downstream} `)) &&
            (!step.source || row.source === step.source)
          )
      )
    }
  }
  for (const { steps, source } of told)
    for (const step of steps) for (const each of step.edges(world)) take(each, source)
  return [...new Set(stated.map((row) => `${row.list.split('.')[0]} ${row.edge}`))].sort()
}
