/** A text as one word of a POSIX shell; plain where it needs no quotes. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
