/**
 * The schema of each asset as a number, so that maps can put a million assets into boxes without reading
 * their names. An asset gets its number when a map first asks for it: reading a name takes 0.4 us.
 */
import { schemaIn, schemaOfName } from '../urn/schema-name.ts'
import { GrowableInts } from './growable.ts'
import type { UrnTable } from './urn-table.ts'

const datasetBeginLength = 'urn:li:dataset:(,'.length
/** Memory of a schema besides its text, in the map and in the list. */
const schemaBytes = 100

export class SchemaNumbers {
  readonly #urns: UrnTable
  /** By id: the number of the schema + 1; 0 if nobody has asked. URNs never change. */
  readonly #numbers = new GrowableInts(0)
  readonly #texts: string[] = []
  readonly #byText = new Map<string, number>()
  #textBytes = 0

  constructor(urns: UrnTable) {
    this.#urns = urns
  }

  /** For any known entity except columns. Numbers count up from 0. */
  of(id: number): number {
    const known = this.#numbers.at(id)
    if (known !== 0) return known - 1
    const number = this.#numberOf(this.#read(id))
    this.#numbers.set(id, number + 1)
    return number
  }

  /** The schema with a number; empty for that of assets in no schema. */
  textOf(number: number): string {
    return this.#texts[number] ?? ''
  }

  #read(id: number): string {
    const { entityType, platformUrn, beginLength } = this.#urns.templateOf(id)
    // With a comma in its platform, a template ends within the platform.
    if (entityType === 'dataset' && beginLength === datasetBeginLength + (platformUrn ?? '').length)
      return schemaOfName(this.#urns.nameOf(id), platformUrn)
    const urn = this.#urns.urnOf(id)
    return urn === null ? '' : schemaIn(urn)
  }

  #numberOf(text: string): number {
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const number = this.#texts.push(text) - 1
    this.#byText.set(text, number)
    this.#textBytes += text.length
    return number
  }

  get bytes(): number {
    return this.#numbers.bytes + this.#textBytes + this.#texts.length * schemaBytes
  }
}
