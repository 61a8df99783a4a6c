/** How texts write numbers: 1,234, and "1 asset" or "2 assets". */
export const number = (value: number): string => value.toLocaleString('en')

export const counted = (count: number, one: string, more: string): string =>
  `${number(count)} ${count === 1 ? one : more}`
