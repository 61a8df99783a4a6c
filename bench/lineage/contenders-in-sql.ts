/** Contenders that are one statement: recursive common table expressions. */
import { checksumSql } from './answers.ts'
import { countedIn, type Contender } from './contender.ts'

/** The technique of catalogs whose edges contain URNs; only its count is checked. */
const textUnion: Contender = {
  name: 'recursive SQL by URN, UNION',
  givesDegrees: false,
  needsTexts: true,
  walk: (tx, { urn }) =>
    countedIn(
      tx,
      `
    with recursive reach (urn) as (
      select down from bench_text_edge where up = ?
      union
      select edge.down from reach join bench_text_edge as edge on edge.up = reach.urn
    )
    select count(*), -1 as checksum from reach where urn <> ?`,
      [urn, urn]
    )
}

const idUnion: Contender = {
  name: 'recursive SQL by id, UNION',
  givesDegrees: false,
  walk: (tx, { id }) =>
    countedIn(
      tx,
      `
    with recursive reach (id) as (
      select down from bench_edge where up = ?::int
      union
      select edge.down from reach join bench_edge as edge on edge.up = reach.id
    )
    select count(*), ${checksumSql} as checksum from (select id, 0 as degree from reach where id <> ?::int) as reached`,
      [id, id]
    )
}

/**
 * One hop more than the farthest node, so that it notices that nothing is left; without a limit it would
 * never end on a cycle.
 */
const withDepth = (name: string, union: string): Contender => ({
  name,
  givesDegrees: true,
  walk: (tx, { id, depth }) =>
    countedIn(
      tx,
      `
    with recursive reach (id, depth) as (
      select ?::int, 0
      ${union}
      select edge.down, reach.depth + 1 from reach join bench_edge as edge on edge.up = reach.id where reach.depth < ?::int
    )
    select count(*), ${checksumSql} as checksum from (select id, min(depth) as degree from reach where id <> ?::int group by id) as reached`,
      [id, depth + 1, id]
    )
})

export const depthContender = withDepth('recursive SQL with a depth column, UNION', 'union')

export const contendersInSql: readonly Contender[] = [
  textUnion,
  idUnion,
  depthContender,
  withDepth('recursive SQL with a depth column, UNION ALL', 'union all')
]
