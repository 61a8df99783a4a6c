/** `npm run bench -- NAME`: runs one benchmark, prints its rows and writes them to bench/results/NAME.json, which the docs cite. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { packagePath } from '../shared/platform/paths.ts'
import { benchGraphUi } from './graph-ui/bench.ts'
import { benchLineage } from './lineage/bench.ts'
import { benchLineageHttp } from './lineage-http/bench.ts'
import { benchSizes } from './lineage-http/sizes.ts'
import { benchLoadingInteractive } from './loading/interactive.ts'
import { benchLoadingKinds } from './loading/kinds.ts'
import { benchLoadingMemory } from './loading/memory.ts'
import { benchLoadingReferences } from './loading/references.ts'
import { benchLoading } from './loading/throughput.ts'
import { benchWorkers } from './loading/workers.ts'
import { benchOneClient } from './one-client/bench.ts'
import { benchOpenLineage } from './openlineage/bench.ts'
import { benchSearch } from './search/bench.ts'
import { benchTracing } from './tracing/bench.ts'

const benches: Record<string, (args: readonly string[]) => Promise<object>> = {
  'graph-ui': benchGraphUi,
  lineage: benchLineage,
  'lineage-http': benchLineageHttp,
  loading: benchLoading,
  'loading-kinds': benchLoadingKinds,
  'loading-interactive': benchLoadingInteractive,
  'loading-memory': benchLoadingMemory,
  'loading-references': benchLoadingReferences,
  'one-client': benchOneClient,
  openlineage: benchOpenLineage,
  search: benchSearch,
  sizes: benchSizes,
  tracing: benchTracing,
  workers: benchWorkers
}

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (bench) {
  const result = await bench(args)
  mkdirSync(packagePath('bench/results'), { recursive: true })
  writeFileSync(
    packagePath(`bench/results/${name}.json`),
    `${JSON.stringify({ at: new Date().toISOString(), ...result }, null, 2)}\n`
  )
} else {
  console.error(`Usage: npm run bench -- ${Object.keys(benches).join(' | ')}`)
  process.exitCode = 1
}
