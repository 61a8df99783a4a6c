/** Makes the text of shared/model/datahub-model.ts with the client that a Python environment has. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import { printModel } from './print-model.ts'
import { readModel } from './read-schema.ts'

export const modelPath = packagePath('shared/model/datahub-model.ts')

/** Where the schema is, and the version; without an import of the client, which takes seconds. */
const findSchema = `
from importlib.metadata import distribution
client = distribution("acryl-datahub")
print(client.version)
print(client.locate_file("datahub/metadata/schema.avsc"))
`

/** `bin` is the folder of the environment's programs. Throws where the client is not installed. */
export function generateModel(bin: string): string {
  const { status, stdout, stderr } = spawnSync(join(bin, 'python'), ['-c', findSchema], { encoding: 'utf8' })
  const [version, path] = stdout.trim().split('\n')
  if (status !== 0 || version === undefined || path === undefined) throw new Error(`acryl-datahub was not found: ${stderr}`)
  return printModel(readModel(JSON.parse(readFileSync(path, 'utf8'))), version)
}
