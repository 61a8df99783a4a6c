/** Finds a token by its id, or by the beginning of its id. Needs access to the database. */
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import type { Db } from '../shared/db/database.ts'
import { limits } from '../shared/limits.ts'
import { Refusal } from './failure.ts'
import { findId } from './find-id.ts'

/** As findId, among the newest tokens. Throws Refusal also if so many exist that it is unknown which ids begin with the text. */
export const findTokenId = (db: Db, text: string): Promise<string> =>
  findId(text, 'token', async (prefix, count) => {
    const { tokens, total } = await listTokens(db, { count: limits.pageMaxCount })
    if (total > tokens.length) throw new Refusal(`There are ${total} tokens: give the whole id.`)
    return tokens.filter(({ id }) => id.startsWith(prefix)).slice(0, count)
  })
