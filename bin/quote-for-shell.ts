/** Writes a text as one word of a POSIX shell; without quotes if it needs none. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
