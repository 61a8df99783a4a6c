/** Numbers with their units, as people read them. */

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** `1 edge`, `2 edges`, `3 entities`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : noun.replace(/(?<![aeiou])y$/, 'ie')}${value === 1 ? '' : 's'}`
}

export function perSecond(records: number, elapsedMs: number): string {
  return `${count(Math.round(records / Math.max(elapsedMs / 1_000, 0.001)))} records/s`
}

/** Three digits or more: `0.4 MB`, `12.3 MB`, `1.25 GB`. */
export function bytesText(bytes: number): string {
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`
}

/** `8 s left`, `3 min left`, `2 h 5 min left`. */
export function leftText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s left`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min left`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min left` : `${Math.round(hours / 24)} days left`
}
