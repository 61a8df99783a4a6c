/** The words of a name, the last of which may be unfinished. */
export const unfinished = (text: string): string => {
  const words = text.trim()
  return words === '' ? '*' : `${words.replace(/\*+$/, '')}*`
}
