/** Replaces control characters by spaces, so that names in a catalog cannot steer the terminal. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
