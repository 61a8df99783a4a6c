/** Finds what has an id, such as a load or a token, by the first characters of it. */
import { Refusal } from './failure.ts'

const idChars = 36
const leastChars = 4
const namedMaxCount = 5

/** `name` tells a person which one it is. */
export type Candidate = { id: string; name: string }

/** The help of an operand that is such an id. */
export const idNote = `ID may be the first characters of an id, at least ${leastChars}, if no other one begins with them.`

/**
 * The whole id. A text that is a whole id, or cannot be the beginning of one, is returned unchanged, for the catalog to find or refuse; nothing is
 * listed then. `list` gives those that begin with a text, at most as many as it is asked for. Throws what it throws, and Refusal unless exactly one
 * begins with the text.
 */
export async function findId(
  text: string,
  what: 'load' | 'token',
  list: (prefix: string, count: number) => Promise<readonly Candidate[]>
): Promise<string> {
  if (text.length >= idChars || !/^[0-9a-f][0-9a-f-]*$/i.test(text)) return text
  if (text.length < leastChars)
    throw new Refusal(`${text} is too short: give at least ${leastChars} characters of the id of a ${what}.`)
  const found = await list(text.toLowerCase(), namedMaxCount + 1)
  const [only] = found
  if (only === undefined) throw new Refusal(`No ${what} id begins with ${text}.`)
  if (found.length === 1) return only.id
  const named = found.slice(0, namedMaxCount).map(({ id, name }) => `${id} (${name})`)
  throw new Refusal(
    `The ids of several ${what}s begin with ${text}: ${named.join(', ')}${found.length > namedMaxCount ? ' and more' : ''}.`
  )
}
