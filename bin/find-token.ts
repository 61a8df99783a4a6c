/** Finds a token by its id, or by the beginning of its id. Needs access to the database. */
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import type { Db } from '../shared/db/database.ts'
import { limits } from '../shared/limits.ts'
import { Refusal } from './failure.ts'

const idChars = 36
const leastChars = 4

/**
 * The whole id. A text that is a whole id, or cannot be the beginning of one, is returned unchanged, for the catalog to find or
 * refuse. Throws Refusal if several tokens begin with it, or so many exist that this is unknown.
 */
export async function findTokenId(db: Db, text: string): Promise<string> {
  if (text.length >= idChars || text.length < leastChars || !/^[0-9a-f][0-9a-f-]*$/i.test(text)) return text
  const { tokens, total } = await listTokens(db, { count: limits.pageMaxCount })
  const found = tokens.filter(({ id }) => id.startsWith(text.toLowerCase()))
  if (total > tokens.length) throw new Refusal(`There are ${total} tokens: give the whole id.`)
  if (found.length > 1)
    throw new Refusal(
      `The ids of several tokens begin with ${text}: ${found.map(({ id, name }) => `${id} (${name})`).join(', ')}.`
    )
  return found[0]?.id ?? text
}
