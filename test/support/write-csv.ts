/** Writes CSV by RFC 4180, without the product's own code. */

export type CsvStyle = {
  newline: '\n' | '\r\n'
  quotes: 'needed' | 'all'
  separator?: ',' | ';' | '\t' | '|'
  mark: boolean
  lastNewline: boolean
}

/** The rows as a file; either only the cells that need quotes are quoted, or all. */
export function writeCsv(
  rows: readonly (readonly string[])[],
  { newline, quotes, separator = ',', mark, lastNewline }: CsvStyle
): string {
  const cell = (text: string): string =>
    quotes === 'all' || text.includes(separator) || /["\r\n]/.test(text)
      ? `"${text.split('"').join('""')}"`
      : text
  const text = rows.map((row) => row.map(cell).join(separator)).join(newline)
  return `${mark ? '\ufeff' : ''}${text}${lastNewline ? newline : ''}`
}
