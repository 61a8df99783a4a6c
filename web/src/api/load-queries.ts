/** The GraphQL documents of the page of loads; it follows loads over REST. */
import { card, define, type RawCard } from './queries.ts'

export const loadQuery = define<{ load: { id: string; state: string } | null }, { id: string }>(`
query load($id: String!) {
  load(id: $id) {
    id
    state
    format
    mode
    source
    actor
    counts { received applied unchanged rejected }
    snapshot { sweep stated toRemove kept removed }
    error
    createdAt
    finishedAt
    undoes
    undoneBy
    ignoredColumns
    warnings { count messages }
  }
}`)

export const loadsQuery = define<{ loads: { nextCursor: string | null } }, { count: number }>(`
query loads($count: Int) {
  loads(count: $count) {
    loads { id state source actor counts { received applied unchanged rejected } createdAt finishedAt }
    nextCursor
  }
}`)

/** What a load has changed; null for a dry run. */
export const changedQuery = define<
  { load: { changed: { assets: RawCard[]; isComplete: boolean } | null } | null },
  { id: string; count: number }
>(`
query changedByLoad($id: String!, $count: Int) {
  load(id: $id) { changed(count: $count) { assets { ...card } isComplete } }
}${card}`)
