/** The folder of the package. Assets are read from their source folders, so the build copies nothing. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

function findPackageRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder)
    if (above === folder) throw new Error(`No package.json above ${import.meta.dirname}`)
    folder = above
  }
  return folder
}

/** Absolute path of the folder of package.json, whether this runs from dist or from sources. */
export const packageRoot: string = findPackageRoot()

/** Absolute path of a file of the package, for example `packagePath('api/graphql/schema.graphql')`. */
export function packagePath(relative: string): string {
  return join(packageRoot, relative)
}
