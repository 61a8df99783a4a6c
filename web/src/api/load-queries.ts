/** The GraphQL documents of the page of loads; it follows loads over REST. */
import { define } from './queries.ts'

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
