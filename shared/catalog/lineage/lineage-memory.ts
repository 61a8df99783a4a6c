/**
 * The lineage graph of one process: loaded from one snapshot, brought up to date before each read, and loaded
 * again if that fails.
 *
 * A read joins the first freshness barrier that is sent after the read arrived. Reads that wait for the same
 * barrier share it, so fifty readers cost one round trip (220,000 reads/s; with one barrier each 6,400). A
 * read therefore sees everything that was acknowledged before it began, on every process. docs/lineage.md has
 * the proof.
 *
 * There is no third state: while the graph cannot be kept up to date, SQL answers; if the database does not
 * answer, the read fails.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/database.ts'
import { isTableMissing } from '../../db/sql-errors.ts'
import { CatalogError } from '../../errors.ts'
import { domainDocumentMaxBytes } from '../../graph/domain-documents.ts'
import type { GraphChanges, GraphView, LineageGraph } from '../../graph/lineage-graph.ts'
import { createTurns, type Pause, type Turns } from '../../graph/turns.ts'
import { unpackGraphChanges, type GraphDelta, type StatedEdges } from '../../statements/graph-delta.ts'
import type { Log } from '../../platform/log.ts'
import { beforeScrape, metrics } from '../../platform/metrics.ts'
import { readUnseenChanges, type UnseenChanges } from '../../store/graph-changes.ts'
import { readDomainDocuments, readEntitiesOfGraph } from '../../store/graph-rows.ts'
import type { KnownIds } from './known-ids.ts'
import type { LineageReader } from './lineage-reader.ts'
import { loadGraph, type LoadedGraph } from './load-graph.ts'
import { createMemoryClasses, type MemoryClasses } from './memory-classes.ts'
import { memoryLineageReader } from './memory-lineage-reader.ts'

/**
 * `release` returns the view, which does not change until then. `again` opens the same state once more, to be
 * released separately.
 */
export type OpenedLineage = {
  reader: LineageReader
  graph: LineageGraph
  view: GraphView
  again: () => OpenedLineage
  release: () => void
}

export type LineageOpener = {
  /**
   * A state no older than this call, or null if SQL must answer (loading, too large, stopped). Throws what
   * the database throws.
   */
  open: () => Promise<OpenedLineage | null>
}

export type LineageMemory = LineageOpener & {
  /**
   * The ids of all entities now in memory; null while the graph is not loaded. The same object until the
   * graph is loaded again.
   */
  knownIds: () => KnownIds | null
  /** Starts loading in the background. */
  start: () => void
  stop: () => Promise<void>
  /** Resolves once the graph is loaded, or is found to be too large. */
  settled: () => Promise<void>
}

export type LineageMemoryOptions = {
  /** For reading documents. */
  db: Db
  /**
   * A pool of two connections to the primary that only barriers use, so that a barrier never waits for other
   * work. Two, because one may be dead.
   */
  graphDb: Db
  maxBytes: number
  log: Log
  turns?: Turns
  /** Reads the changes that the graph has not seen. Tests replace it to show that it is needed. */
  readUnseen?: typeof readUnseenChanges
}

type Loaded = LoadedGraph & { classes: MemoryClasses; ids: KnownIds }
type Waiting = { resolve: (opened: OpenedLineage | null) => void; reject: (error: unknown) => void }

/** How often an idle process catches up, so that the next read has little to fetch. */
const idleCatchUpMs = 1_000
const retryMinMs = 500
const retryMaxMs = 30_000
const deltasPerLook = 4_096
/** A graph that must be loaded again this soon after loading is delayed, longer each time. */
const shortLifeMs = 10_000
/** A connection that has not answered a barrier for this long counts as dead. */
const silenceMaxMs = 20_000
/** How long after a graph was too large its size is checked again. */
const tooLargeRetryMs = 600_000

type Logged = { stated: StatedEdges[]; deltas: GraphDelta[] }

async function unpackLogged(rows: UnseenChanges['rows'], pause: Pause): Promise<Logged> {
  const [stated, deltas]: [StatedEdges[], GraphDelta[]] = [[], []]
  for (const row of rows) {
    const changes = unpackGraphChanges(row.delta)
    stated.push(changes.stated)
    for (const delta of changes.deltas) if (deltas.push(delta) % deltasPerLook === 0) await pause()
  }
  return { stated, deltas }
}

const knownIdsOf = ({ graph: { urns }, position: { epoch } }: LoadedGraph): KnownIds => ({
  epoch,
  idsOf: (bytes, begins, ends, from, to, ids) => {
    urns.idsOfBytes(bytes, begins, ends, from, to, ids)
  },
  urnOf(id) {
    const urn = urns.urnOf(id)
    if (urn === null) throw new Error(`no entity ${id} in memory`)
    return urn
  }
})

export function createLineageMemory({
  db,
  graphDb,
  maxBytes,
  log,
  turns = createTurns(),
  readUnseen = readUnseenChanges
}: LineageMemoryOptions): LineageMemory {
  let loaded: Loaded | null = null
  let loading: Promise<void> | null = null
  let loadedAtMs = 0
  let reloadDelayMs = 0
  let isServing = false
  let waiting: Waiting[] = []
  const onSettled: (() => void)[] = []
  let idleTimer: NodeJS.Timeout | null = null
  const stopped = new AbortController()
  const endReport = beforeScrape(() => {
    metrics.lineageMemory.set(loaded?.graph.bytes ?? 0)
    metrics.lineageMemoryLimit.set(maxBytes)
  })

  const settle = (): void => {
    for (const resolve of onSettled.splice(0)) resolve()
  }

  function load(): void {
    loading ??= keepLoading().finally(() => {
      loading = null
    })
  }

  const wait = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stopped.signal, ref: false }).catch(() => {})

  async function keepLoading(): Promise<void> {
    if (reloadDelayMs > 0) await wait(reloadDelayMs)
    for (let retryMs = retryMinMs; !stopped.signal.aborted; retryMs = Math.min(retryMs * 2, retryMaxMs)) {
      try {
        if (await loadOnce()) return
        retryMs = tooLargeRetryMs
      } catch (error) {
        if (isTableMissing(error)) log.debug({ err: error }, 'the lineage graph waits for the schema')
        else if (!stopped.signal.aborted)
          log.warn(
            { err: error, retryMs },
            'the lineage graph could not be loaded; lineage is answered in SQL'
          )
      }
      await wait(retryMs)
    }
  }

  /** False if the graph is too large. */
  async function loadOnce(): Promise<boolean> {
    const begun = performance.now()
    const found = await loadGraph(
      graphDb,
      maxBytes,
      turns.begin(() => stopped.signal.throwIfAborted())
    )
    if (!found || found.graph.bytes > maxBytes) {
      log.warn(
        { maxBytes },
        'the lineage graph does not fit into LINEAGE_MEMORY_MB; lineage is answered in SQL'
      )
      settle()
      return false
    }
    loaded = { ...found, classes: createMemoryClasses(found.graph), ids: knownIdsOf(found) }
    loadedAtMs = performance.now()
    const seconds = (loadedAtMs - begun) / 1_000
    metrics.lineageLoad.observe(seconds)
    log.info(
      {
        seconds: Math.round(seconds * 100) / 100,
        entities: found.graph.urns.count,
        bytes: found.graph.bytes
      },
      'the lineage graph is in memory'
    )
    settle()
    return true
  }

  /** Drops the graph: SQL answers until it is loaded again. */
  function reload(reason: string, error?: unknown): void {
    loaded = null
    reloadDelayMs =
      performance.now() - loadedAtMs > shortLifeMs
        ? 0
        : Math.min(Math.max(reloadDelayMs * 2, retryMinMs), retryMaxMs)
    metrics.lineageReloads.inc({ reason })
    log.warn({ reason, ...(error === undefined ? {} : { err: error }) }, 'the lineage graph is loaded again')
    if (!stopped.signal.aborted) load()
  }

  /** Brings the graph up to date. Returns false, and drops the graph, if that is not possible. */
  async function catchUp(current: Loaded): Promise<boolean> {
    const begun = performance.now()
    const unseen = await withinSilence(readUnseen(graphDb, current.position))
    const isOfAnotherRun = unseen.position.epoch !== current.position.epoch
    if (isOfAnotherRun || unseen.horizonIsPast) {
      reload(isOfAnotherRun ? 'server' : 'pruned')
      return false
    }
    if (!(await applyTo(current, unseen))) return false
    current.position = unseen.position
    metrics.lineageBarrier.observe((performance.now() - begun) / 1_000)
    if (current.graph.bytes > maxBytes) {
      reload('size')
      return false
    }
    return true
  }

  /**
   * Returns false if the log has an impossible entry, or one that this version does not know. Throws what the
   * database throws.
   */
  async function applyTo(current: Loaded, { rows }: UnseenChanges): Promise<boolean> {
    const pause = turns.begin()
    let logged: Logged
    try {
      logged = await unpackLogged(rows, pause)
    } catch (error) {
      reload('unknown', error)
      return false
    }
    const changes = await withinSilence(changesOf(logged))
    try {
      await current.graph.apply(changes, pause)
    } catch (error) {
      reload('contradiction', error)
      return false
    }
    return true
  }

  async function changesOf({ stated, deltas }: Logged): Promise<GraphChanges> {
    const [created, described] = [new Set<number>(), new Set<number>()]
    for (const delta of deltas) {
      if (delta.kind === 'created') created.add(delta.id)
      else if (delta.kind === 'described') described.add(delta.id)
    }
    return {
      stated,
      deltas,
      entities: created.size > 0 ? await readEntitiesOfGraph(graphDb, [...created]) : [],
      documents:
        described.size > 0
          ? await readDomainDocuments(graphDb, [...described], domainDocumentMaxBytes)
          : new Map()
    }
  }

  /**
   * Without this, a silently cut connection would be waited for until the operating system gives up, after a
   * quarter of an hour.
   */
  function withinSilence<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(new CatalogError('UNAVAILABLE', 'The database does not answer', { retryAfterSeconds: 1 })),
        silenceMaxMs
      ).unref()
      answer.finally(() => clearTimeout(timer)).then(resolve, reject)
    })
  }

  /** Sends one barrier at a time. Reads that arrive in between wait for the next. */
  async function serve(): Promise<void> {
    while (waiting.length > 0) {
      const served = waiting
      waiting = []
      const current = loaded
      try {
        const isFresh = current !== null && (await catchUp(current))
        // Opens the views in this turn of the event loop, before anything can change the graph.
        for (const { resolve } of served) resolve(isFresh ? openedOn(current) : null)
      } catch (error) {
        for (const { reject } of served) reject(error)
      }
    }
    isServing = false
  }

  function openedOn(
    current: Pick<Loaded, 'graph' | 'classes' | 'position'>,
    view = current.graph.pin()
  ): OpenedLineage {
    const { graph, classes } = current
    const { epoch } = current.position
    let isReleased = false
    return {
      graph,
      view,
      reader: memoryLineageReader({ graph, view, epoch, classes, db, turns }),
      again() {
        graph.pinAgain(view)
        return openedOn(current, view)
      },
      release() {
        if (isReleased) return
        isReleased = true
        graph.unpin(view)
      }
    }
  }

  async function open(): Promise<OpenedLineage | null> {
    if (!loaded) return null
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      if (isServing) return
      isServing = true
      // Requests of the same turn of the event loop then share the first barrier too.
      setImmediate(() => {
        void serve()
      })
    })
  }

  function catchUpWhenIdle(): void {
    if (isServing || !loaded) return
    // An error is reported by the next read.
    open().then(
      (opened) => opened?.release(),
      () => {}
    )
  }

  return {
    open,
    knownIds: () => loaded?.ids ?? null,
    start() {
      load()
      idleTimer = setInterval(catchUpWhenIdle, idleCatchUpMs).unref()
    },
    async stop() {
      stopped.abort()
      endReport()
      if (idleTimer) clearInterval(idleTimer)
      await loading
      loaded = null
      settle()
    },
    settled: async () => {
      if (!loaded && !stopped.signal.aborted) await new Promise<void>((resolve) => onSettled.push(resolve))
    }
  }
}
