/**
 * OpenLineage's client for Java, unmodified from Maven Central: a small program sends the events of one run,
 * and the catalog must have their edges.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import type { Catalog } from './catalog.ts'
import { hasEdge } from '../support/has-edge.ts'
import { cacheFolder } from '../../dev/python-environment.ts'

type Outcome = { passed: number; failed: number; skipped: number }

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const job = 'urn:li:dataJob:(urn:li:dataFlow:(java,java,interop),java.load)'

/** Skipped without a JDK or Maven, which nothing else here needs. */
export async function runJavaClient(catalog: Catalog): Promise<Outcome> {
  for (const [command, option] of [
    ['javac', '-version'],
    ['mvn', '-v']
  ] as const) {
    if (spawnSync(command, [option]).status === 0) continue
    console.log(`skipped: openlineage-java: ${command} is not installed`)
    return { passed: 0, failed: 0, skipped: 1 }
  }
  const folder = join(cacheFolder(), 'java')
  mkdirSync(folder, { recursive: true })
  cpSync(packagePath('test/interop/java'), folder, { recursive: true })
  const classes = join(folder, 'target', 'classes')
  const steps: readonly (readonly [string, ...string[]])[] = [
    ['mvn', '-q', '-B', 'dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'],
    ['sh', '-c', `javac -cp "$(cat classpath.txt)" -d ${classes} src/main/java/Main.java`],
    ['sh', '-c', `java -cp "$(cat classpath.txt):${classes}" Main`]
  ]
  for (const [command, ...args] of steps) {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, OPENLINEAGE_URL: catalog.url, OPENLINEAGE_API_KEY: catalog.token }
    })
    if (status === 0) continue
    console.log(`not ok: openlineage-java: ${command} ended with ${status}\n${stdout}${stderr}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const isThere =
    (await hasEdge(catalog, dataset('java.in'), job)) && (await hasEdge(catalog, job, dataset('java.out')))
  console.log(`${isThere ? 'ok' : 'not ok'}: openlineage-java emits a run, plain and compressed`)
  return { passed: isThere ? 1 : 0, failed: isThere ? 0 : 1, skipped: 0 }
}
