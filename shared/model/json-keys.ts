/**
 * Finds objects with too many keys, too many different keys, and too many values, in JSON text before it is parsed.
 *
 * JSON.parse takes a second for an object with 300,000 keys in 4 MB, and blocks the process meanwhile. This
 * check takes a few milliseconds per megabyte.
 */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'
import { endOfString } from './exact-numbers.ts'

const [quote, colon, comma] = [0x22, 0x3a, 0x2c]
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/**
 * Any text may be given, not only JSON. Throws LIMIT_EXCEEDED (jsonObjectKeysMaxCount, jsonValuesMaxCount,
 * jsonKeysMaxCount, jsonBodyKeysMaxCount). A body with many documents may have any number of values.
 */
export function checkKeyCounts(text: string, of: 'document' | 'body' = 'document'): void {
  const maxKeys = limits.jsonObjectKeysMaxCount
  const maxValues = of === 'body' ? Infinity : limits.jsonValuesMaxCount
  const differentLimit = of === 'body' ? 'jsonBodyKeysMaxCount' : 'jsonKeysMaxCount'
  // Only a text with so many colons is worth the time to compare its keys.
  const different = has(text, ':', limits[differentLimit]) ? new Set<string>() : null
  if (!has(text, ':', maxKeys) && !has(text, ',', maxValues - 1)) return
  const keyCounts: number[] = []
  let keyCount = 0
  let valueCount = 1
  let [keyBegin, keyEnd] = [0, 0]
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      keyBegin = at
      at = endOfString(text, at + 1)
      keyEnd = at
      continue
    }
    at += 1
    if (code === colon) {
      if ((keyCount += 1) > maxKeys) throw tooMany('jsonObjectKeysMaxCount', 'keys in one object')
      if (different && different.add(text.slice(keyBegin, keyEnd)).size > limits[differentLimit])
        throw tooMany(differentLimit, 'different keys')
    } else if (code === comma) {
      if ((valueCount += 1) > maxValues) throw tooMany('jsonValuesMaxCount', 'values')
    } else if (opening.has(code)) {
      keyCounts.push(keyCount)
      keyCount = 0
    } else if (closing.has(code)) keyCount = keyCounts.pop() ?? 0
  }
}

/** Whether the character occurs more than `count` times, inside strings or not. */
function has(text: string, sign: string, count: number): boolean {
  if (text.length <= count) return false
  let found = 0
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1))
    if ((found += 1) > count) return true
  return false
}

function tooMany(limit: LimitName, what: string): CatalogError {
  return new CatalogError('LIMIT_EXCEEDED', `The JSON has more than ${limits[limit]} ${what}`, {
    limit,
    maximum: limits[limit]
  })
}
