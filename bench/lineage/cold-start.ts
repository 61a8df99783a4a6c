/**
 * A separate process that loads the lineage of a database and answers one search, for load-time.ts. Prints
 * as JSON the time since its start.
 */
import { scrollAcrossLineage } from '../../shared/catalog/lineage/scroll-across-lineage.ts'
import { openMemory } from './memory-walks.ts'

const [url = '', urn = ''] = process.argv.slice(2)
const beganMs = performance.now()
const { sources, close } = await openMemory(url)
const loadedMs = performance.now()
const { total, report } = await scrollAcrossLineage(
  sources,
  { urn, direction: 'DOWNSTREAM', query: '*', count: 10 },
  { facets: false, paths: false }
)
const answeredMs = performance.now()
const { user, system } = process.cpuUsage()
const rssMb = process.memoryUsage().rss / 1024 / 1024
console.log(
  JSON.stringify({
    total,
    engine: report.engine,
    loadMs: loadedMs - beganMs,
    firstAnswerMs: answeredMs,
    cpuMs: (user + system) / 1_000,
    rssMb,
    peakMb: process.resourceUsage().maxRSS / 1024
  })
)
await close()
