/** The state of the tree: its loaded levels, their counts, and the open domains. */
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import {
  domainCounts,
  domainLevel,
  domainLevelCounts,
  findDomains,
  type RawDomain,
  type RawDomainCounts,
  type RawFoundDomain
} from '../../api/domain-queries.ts'
import { ApiError } from '../../api/errors.ts'
import { graphql } from '../../api/request.ts'
import { useResource } from '../../parts/use-resource.ts'
import { unfinished } from '../../search-words.ts'
import { rowsOf, sortByName, treeOfFound, type DomainNode, type Levels, type TreeRow } from './tree-model.ts'

/** The largest number of domains read for one level, and for one search. */
const levelMaxCount = 10_000
const foundMaxCount = 200

export type DomainCount = { direct: number; whole: number }

export type Tree = {
  rows: readonly TreeRow[]
  counts: ReadonlyMap<string, DomainCount>
  /** The number of top-level domains; undefined until it is known. */
  topTotal: number | undefined
  /** The number of top-level domains that are listed. */
  topShown: number
  found: { shown: number; total: number } | null
  error: Error | undefined
  toggle: (urn: string, isOpen: boolean) => void
  /** Opens these domains, to show a domain below them. */
  reveal: (urns: readonly string[]) => void
  /** Reads all levels again after a change. */
  reload: () => void
}

export const nameOfDomain = ({
  urn,
  properties
}: {
  urn: string
  properties?: { name: string } | null
}): string => properties?.name ?? urn.replace('urn:li:domain:', '')

const toNode = ({ childCount, ...domain }: RawDomain): DomainNode => ({
  urn: domain.urn,
  name: nameOfDomain(domain),
  childCount
})

export const toFound = (domain: RawFoundDomain) => ({
  ...toNode(domain),
  parents: (domain.parentDomains?.domains ?? []).map((parent) => ({
    urn: parent.urn,
    name: nameOfDomain(parent)
  }))
})

export function useTree(filter: string): Tree {
  const [levels, setLevels] = useState<Levels>(new Map())
  const [topTotal, setTopTotal] = useState<number>()
  const [counts, setCounts] = useState<ReadonlyMap<string, DomainCount>>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [error, setError] = useState<Error>()
  const found = useResource(filter.trim() === '' ? null : filter, async (signal) => {
    const { searchAcrossEntities: page } = await graphql(
      findDomains,
      { query: unfinished(filter), count: foundMaxCount },
      signal
    )
    return { domains: page.searchResults.map(({ entity }) => toFound(entity)), total: page.total }
  })

  const addCounts = useCallback((domains: readonly RawDomainCounts[]): void => {
    setCounts(
      (last) =>
        new Map([
          ...last,
          ...domains.map(({ urn, direct, whole }): [string, DomainCount] => [
            urn,
            { direct: direct.total, whole: whole.total }
          ])
        ])
    )
  }, [])

  const loadLevel = useCallback((parent: string | null): void => {
    const variables = { parent, count: levelMaxCount }
    graphql(domainLevel, variables)
      .then(({ listDomains: { domains, total } }) => {
        setLevels((last) => new Map(last).set(parent, sortByName(domains.map(toNode))))
        if (parent === null) setTopTotal(total)
        setError(undefined)
        return domains.length > 0 ? graphql(domainLevelCounts, variables) : null
      })
      .then((answer) => {
        if (answer) addCounts(answer.listDomains.domains)
      })
      .catch((failure: unknown) => {
        // The parent was deleted. The level above is read too, and no longer contains it.
        if (parent !== null && failure instanceof ApiError && failure.code === 'NOT_FOUND')
          setLevels((last) => new Map([...last].filter(([urn]) => urn !== parent)))
        else setError(failure instanceof Error ? failure : new Error(String(failure)))
      })
  }, [])

  useEffect(() => {
    loadLevel(null)
  }, [])

  const isFiltered = filter.trim() !== ''
  /** Found domains that the person has closed. */
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    setClosed(new Set())
  }, [filter])
  const rows = useMemo(() => {
    if (!isFiltered || !found.data) return rowsOf(levels, open)
    const tree = treeOfFound(found.data.domains)
    return rowsOf(
      // A found domain can be opened to show everything below it.
      new Map([...levels, [null, []], ...tree.levels]),
      new Set([...open, ...tree.open].filter((urn) => !closed.has(urn)))
    )
  }, [levels, open, closed, isFiltered && found.data])

  useEffect(() => {
    const urns = found.data?.domains.map(({ urn }) => urn) ?? []
    if (urns.length === 0) return
    graphql(domainCounts, { urns }).then(({ entities }) => {
      addCounts(entities.flatMap((entity) => entity ?? []))
    }, setError)
  }, [found.data])

  const reveal = useCallback((urns: readonly string[]): void => {
    setOpen((last) => (urns.every((urn) => last.has(urn)) ? last : new Set([...last, ...urns])))
  }, [])
  // Open domains whose level is not loaded: opened by the person, or above the domain in the address.
  useEffect(() => {
    for (const urn of open) if (!levels.has(urn)) loadLevel(urn)
  }, [open])

  return {
    rows,
    counts,
    topTotal,
    topShown: levels.get(null)?.length ?? 0,
    found: isFiltered && found.data ? { shown: found.data.domains.length, total: found.data.total } : null,
    error: found.error ?? error,
    toggle: (urn, isOpen) => {
      const change = (last: ReadonlySet<string>, isIn: boolean): ReadonlySet<string> => {
        const next = new Set(last)
        if (isIn) next.add(urn)
        else next.delete(urn)
        return next
      }
      setClosed((last) => change(last, !isOpen))
      setOpen((last) => change(last, isOpen))
    },
    reveal,
    reload: () => {
      // Reads the top too if it could not be loaded before, and every open domain.
      for (const parent of new Set([null, ...levels.keys(), ...open])) loadLevel(parent)
      found.reload()
    }
  }
}
