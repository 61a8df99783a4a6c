/** Where the package lies: assets are read where they live, so nothing is copied at build. */
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

/** Absolute path of the folder that holds package.json, whether this runs from dist or from sources. */
export const packageRoot: string = findPackageRoot()

/** Absolute path of a file of the package, for example `packagePath('api/graphql/schema.graphql')`. */
export function packagePath(relative: string): string {
  return join(packageRoot, relative)
}
