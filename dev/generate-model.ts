/**
 * `npm run generate-model [-- VERSION]`: writes shared/model/datahub-model.ts and datahub-records.ts from the acryl-datahub that test/interop/requirements.txt
 * pins. With a version, that one is pinned first.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { packagePath } from '../shared/platform/paths.ts'
import { openPythonEnvironment } from './python-environment.ts'
import { generateModel } from './model/generate.ts'

const [version] = process.argv.slice(2)
if (version !== undefined) {
  if (!/^\d+(\.\d+)+[a-z0-9.]*$/.test(version))
    throw new Error(`${version} is not a version of acryl-datahub`)
  const requirements = packagePath('test/interop/requirements.txt')
  writeFileSync(
    requirements,
    readFileSync(requirements, 'utf8').replace(/^acryl-datahub==.*$/m, `acryl-datahub==${version}`)
  )
}
for (const { path, text } of generateModel(await openPythonEnvironment())) {
  writeFileSync(path, text)
  console.log(`${path} is written`)
}
