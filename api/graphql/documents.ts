/**
 * Parses the text of a GraphQL request into a document within the limits, and caches it.
 *
 * The cache is bounded in number and size, so that clients that write values into the text (as examples of
 * the specification do) cannot fill the memory.
 */
import { Kind, parse, type DocumentNode } from 'graphql'
import { CatalogError } from '../../shared/errors.ts'
import { checkDocument, countTokens } from './document-limits.ts'

const rememberedMaxCount = 250
const rememberedMaxTokens = 500
const rememberedMaxChars = 16_384

/**
 * `isKept`: the same text and operation name give the same object again, so derived data may be cached too.
 */
export type ParsedDocument = { document: DocumentNode; isKept: boolean }

export type Documents = {
  /**
   * Throws GraphQLError if it does not parse, QUERY_TOO_DEEP, QUERY_TOO_COMPLEX, INVALID_CHARACTER, and
   * BAD_REQUEST if it is unclear which operation to run.
   */
  of: (text: string, operationName: string | null) => ParsedDocument
}

export function createDocuments(): Documents {
  const kept = new Map<string, DocumentNode>()

  return {
    of(text, operationName) {
      // By operation too, because only the requested operation is checked.
      const key = `${operationName ?? ''}\n${text}`
      const known = kept.get(key)
      if (known) {
        kept.delete(key)
        kept.set(key, known)
        return { document: known, isKept: true }
      }
      const tokens = countTokens(text)
      const document = parse(text)
      checkDocument(document)
      checkOperation(document, operationName)
      if (tokens > rememberedMaxTokens || key.length > rememberedMaxChars) return { document, isKept: false }
      kept.set(key, document)
      if (kept.size > rememberedMaxCount) kept.delete(kept.keys().next().value ?? '')
      return { document, isKept: true }
    }
  }
}

function checkOperation(document: DocumentNode, operationName: string | null): void {
  const names = document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value ?? null] : []
  )
  if (operationName === null) {
    if (names.length > 1)
      throw new CatalogError(
        'BAD_REQUEST',
        'The document has several operations; operationName must say which one',
        { field: 'operationName' }
      )
    if (names.length === 0)
      throw new CatalogError('BAD_REQUEST', 'The document has no operation', { field: 'query' })
  } else if (!names.includes(operationName)) {
    throw new CatalogError('BAD_REQUEST', `The document has no operation named ${operationName}`, {
      field: 'operationName'
    })
  }
}
