/** The most recently opened assets in this browser, newest first. */
import type { Card } from '../api/entity.ts'

const storageKey = 'tributary.opened'
const maxCount = 8

export type Recent = Pick<Card, 'urn' | 'type' | 'name' | 'qualifier' | 'platform'>

export function recentAssets(): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(stored)
      ? stored.filter(
          (each): each is Recent => typeof each?.urn === 'string' && typeof each?.name === 'string'
        )
      : []
  } catch {
    return []
  }
}

export function rememberRecent({ urn, type, name, qualifier, platform }: Recent): void {
  const others = recentAssets().filter((each) => each.urn !== urn)
  localStorage.setItem(
    storageKey,
    JSON.stringify([{ urn, type, name, qualifier, platform }, ...others].slice(0, maxCount))
  )
}

/** Called at sign-out, so that the next person at this machine does not see them. */
export function forgetRecent(): void {
  localStorage.removeItem(storageKey)
  // The explorer stores its queries there too.
  for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key)
}
