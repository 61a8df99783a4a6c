/** Generates the sources with DataHub's model, from the client in a Python environment. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import { printModel } from './print-model.ts'
import { printRecords } from './print-records.ts'
import { readModel } from './read-schema.ts'

export type GeneratedSource = { path: string; text: string }

/** Finds the schema and the version without importing the client, which takes seconds. */
const findSchema = `
from importlib.metadata import distribution
client = distribution("acryl-datahub")
print(client.version)
print(client.locate_file("datahub/metadata/schema.avsc"))
`

/** `bin` is the folder with the programs of the environment. Throws if the client is not installed. */
export function generateModel(bin: string): GeneratedSource[] {
  const { status, stdout, stderr } = spawnSync(join(bin, 'python'), ['-c', findSchema], { encoding: 'utf8' })
  const [version, path] = stdout.trim().split('\n')
  if (status !== 0 || version === undefined || path === undefined)
    throw new Error(`acryl-datahub was not found: ${stderr}`)
  const model = readModel(JSON.parse(readFileSync(path, 'utf8')))
  return [
    { path: packagePath('shared/model/datahub-model.ts'), text: printModel(model, version) },
    { path: packagePath('shared/model/datahub-records.ts'), text: printRecords(model.records) }
  ]
}
