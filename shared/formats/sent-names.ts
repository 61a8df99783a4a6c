/** The names that a record may contain where URNs are expected. */

/**
 * What a name means: an asset, an asset that the record itself creates, or a domain. `field` is called as in
 * the format of the record.
 */
export type SentName = { field: string; meaning: NameMeaning; text: string }
export type NameMeaning = 'asset' | 'newAsset' | 'domain'

export type NamingFields = { readonly [field: string]: NameMeaning }

/** True for a text that does not begin as a URN; a malformed URN is refused as one. */
export const isName = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && !text.trimStart().startsWith('urn:')

/** The names in the fields of a record. */
export const namesIn = (record: { readonly [field: string]: unknown }, fields: NamingFields): SentName[] =>
  Object.entries(fields).flatMap(([field, meaning]) => {
    const text = Object.hasOwn(record, field) ? record[field] : undefined
    return isName(text) ? [{ field, meaning, text }] : []
  })
