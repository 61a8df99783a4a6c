/** The key under which a URN is stored: short, of constant length, and the same in every process. */
import { hash } from 'node:crypto'
import type { Urn } from './urn.ts'

/**
 * The first 16 bytes of the SHA-256 of the URN in UTF-8, printed as a uuid. Also compare the URN itself,
 * because collisions of such a short digest can be constructed.
 */
export const urnKey = (urn: Urn): string => {
  const hex = hash('sha256', urn, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
