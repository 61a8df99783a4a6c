/** The types of DataHub's Avro schema: its JSON, and the records that it defines. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonRecord = { [name: string]: Json }
export type AvroRecord = { fullName: string; facts: JsonRecord }
export type AvroRecords = ReadonlyMap<string, AvroRecord>

export const isRecord = (value: Json | undefined): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const recordsOf = (value: Json | undefined): JsonRecord[] =>
  Array.isArray(value) ? value.filter(isRecord) : []
export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** In the schema DataHub's own namespaces have an extra segment. */
export const withoutPegasus = (name: string): string =>
  name.replace('com.linkedin.pegasus2avro.', 'com.linkedin.')

/** Every record that the schema defines, at any depth, by its full name. */
export function namedRecords(schema: Json): Map<string, AvroRecord> {
  const found = new Map<string, AvroRecord>()
  function visit(node: Json | undefined, namespace: string): void {
    if (Array.isArray(node)) for (const entry of node) visit(entry, namespace)
    if (!isRecord(node)) return
    const own = textOf(node.namespace) || namespace
    if (node.type === 'record')
      found.set(fullNameOf(textOf(node.name), own), {
        fullName: fullNameOf(textOf(node.name), own),
        facts: node
      })
    for (const inner of [node.type, node.items, node.values, node.fields]) visit(inner, own)
  }
  visit(schema, '')
  return found
}

export const fullNameOf = (name: string, namespace: string): string =>
  name.includes('.') ? name : `${namespace}.${name}`
