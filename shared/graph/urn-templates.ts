/**
 * The common parts of URNs: beginning and end, entity type, platform and environment. A URN is a template and
 * a name.
 *
 * Most assets of a catalog share `urn:li:dataset:(urn:li:dataPlatform:snowflake,` and `,PROD)`, about half of
 * the bytes of their URNs. These are stored once, and filters on platform and environment look at the
 * template.
 */
import { viewOf } from '../urn/byte-words.ts'
import { kindShapeOf } from '../urn/kind-shapes.ts'
import { environmentOf, platformOf } from '../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'

export type UrnTemplate = {
  /** The number of the template, counted up from 0. */
  index: number
  begin: string
  end: string
  /** Beginning and end in UTF-8, and their lengths. */
  beginBytes: DataView
  beginLength: number
  endBytes: DataView
  endLength: number
  entityType: string
  platformUrn: Urn | null
  origin: string | null
}

export type UrnTemplates = {
  /** The template of a URN, and its name, which is the rest. For any entity except columns. */
  of: (urn: Urn) => { template: UrnTemplate; name: string }
  at: (index: number) => UrnTemplate
  readonly bytes: number
}

const recentMaxCount = 8
/** Memory of a template, including its texts and its entries in the maps. */
const templateBytes = 1_200

export function createUrnTemplates(): UrnTemplates {
  const templates: UrnTemplate[] = []
  const byKey = new Map<string, UrnTemplate>()
  const byEnds = new Map<string, Map<string, UrnTemplate>>()
  /**
   * Recently used templates that are decided by beginning and end alone. Most URNs have one of a few
   * templates, and need no lookup.
   */
  const recent: UrnTemplate[] = []
  let oldest = 0

  function newTemplate(urn: Urn, begin: string, end: string): UrnTemplate {
    const facts = { entityType: entityTypeOf(urn), platformUrn: platformOf(urn), origin: environmentOf(urn) }
    const key = [begin, end, facts.platformUrn ?? '', facts.origin ?? ''].join('\n')
    const known = byKey.get(key)
    if (known) return known
    // A copy, because a slice of the text from which the URN was read would keep all of it in memory.
    const template = {
      index: templates.length,
      begin: copied(begin),
      end: copied(end),
      ...inBytes(begin, end),
      ...facts
    }
    templates.push(template)
    byKey.set(key, template)
    return template
  }

  return {
    of(urn) {
      const comma = urn.indexOf(',')
      for (const template of recent) {
        if (hasEnds(urn, comma, template))
          return { template, name: urn.slice(template.begin.length, urn.length - template.end.length) }
      }
      const { begin, end, tellsAll } = endsOf(urn)
      const name = urn.slice(begin.length, urn.length - end.length)
      if (!tellsAll) return { template: newTemplate(urn, begin, end), name }
      let ofEnd = byEnds.get(begin)
      if (!ofEnd) byEnds.set(begin, (ofEnd = new Map()))
      let template = ofEnd.get(end)
      if (!template) ofEnd.set(end, (template = newTemplate(urn, begin, end)))
      if (end !== '') {
        recent[oldest] = template
        oldest = (oldest + 1) % recentMaxCount
      }
      return { template, name }
    },
    at(index) {
      const template = templates[index]
      if (!template) throw new Error(`no template ${index}`)
      return template
    },
    get bytes() {
      return templates.length * templateBytes
    }
  }
}

function inBytes(
  begin: string,
  end: string
): Pick<UrnTemplate, 'beginBytes' | 'beginLength' | 'endBytes' | 'endLength'> {
  const [beginLength, endLength] = [Buffer.byteLength(begin), Buffer.byteLength(end)]
  // Not from Node's pool, because that would keep all 8 kB of the pool in memory.
  const bytes = Buffer.allocUnsafeSlow(beginLength + endLength)
  bytes.write(begin, 0)
  bytes.write(end, beginLength)
  return {
    beginBytes: viewOf(bytes.subarray(0, beginLength)),
    beginLength,
    endBytes: viewOf(bytes.subarray(beginLength)),
    endLength
  }
}

const copied = (text: string): string => Buffer.from(text).toString()

/**
 * Whether endsOf would give exactly this beginning and end: the first comma ends the beginning, and the end
 * begins at the last comma.
 */
function hasEnds(urn: Urn, comma: number, { begin, end }: UrnTemplate): boolean {
  if (comma !== begin.length - 1 || !urn.startsWith(begin) || !urn.endsWith(end)) return false
  const isPair = end === ')'
  return isPair || urn.lastIndexOf(',') === urn.length - end.length
}

/**
 * `tellsAll`: beginning and end alone decide platform and environment, so these are computed from one URN
 * only.
 */
function endsOf(urn: Urn): { begin: string; end: string; tellsAll: boolean } {
  const idAt = urn.indexOf(':', 'urn:li:'.length) + 1
  const shape = kindShapeOf(urn.slice('urn:li:'.length, idAt - 1))
  const comma = urn.indexOf(',')
  const isPlain =
    shape !== undefined && shape.keyFields.length > 1 && urn.charCodeAt(idAt) === 0x28 && comma > 0
  if (!isPlain)
    return {
      begin: urn.slice(0, idAt),
      end: '',
      tellsAll: shape !== undefined && shape.keyFields.length === 1 && !urn.startsWith('urn:li:dataPlatform:')
    }
  const begin = urn.slice(0, comma + 1)
  const lastComma = shape.keyFields[2] === 'origin' ? urn.lastIndexOf(',') : comma
  const end = lastComma > comma ? urn.slice(lastComma) : ')'
  // The environment of a flow and of its jobs is between beginning and end.
  if (urn.startsWith('urn:li:dataJob:') || urn.startsWith('urn:li:dataFlow:'))
    return { begin, end, tellsAll: false }
  // Without this check, the first part could contain a comma in parentheses, and the platform would extend
  // into the name.
  return { begin, end, tellsAll: begin.split('(').length === 2 }
}
