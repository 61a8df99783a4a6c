/** Reads the parser's trees, which are JSON: each step says what it expects and gives nothing where it is not so. */
import type { Name, Path } from './form.ts'

export type Tree = { readonly [key: string]: unknown }

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asTree = (value: unknown): Tree => (isTree(value) ? value : {})
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A node of one variant, `{ Variant: content }`: the variant's name and its content. A variant without content is a text. */
export function variantOf(node: unknown): [string, unknown] {
  if (typeof node === 'string') return [node, undefined]
  const keys = Object.keys(asTree(node))
  const key = keys[0] ?? ''
  return [key, asTree(node)[key]]
}

/** The content of a node that is of this variant; otherwise undefined. */
export const ofVariant = (node: unknown, variant: string): unknown =>
  isTree(node) ? node[variant] : undefined

/** An identifier: `{ value, quote_style, span }`. */
export function nameOf(node: unknown): Name {
  const ident = asTree(node)
  const start = asTree(asTree(ident['span'])['start'])
  return {
    text: textOf(ident['value']),
    quoted: typeof ident['quote_style'] === 'string',
    line: Number(start['line'] ?? 0),
    column: Number(start['column'] ?? 0)
  }
}

/** A name of several parts: a list of `{ Identifier }`, or of identifiers. */
export function pathOf(node: unknown): Path {
  return asList(node).map((part) => {
    const ident = ofVariant(part, 'Identifier')
    if (ident !== undefined) return nameOf(ident)
    const called = ofVariant(part, 'Function')
    return called === undefined ? nameOf(part) : nameOf(asTree(called)['name'])
  })
}
