/** The ends of the edges of a chunk, with the assets of the columns among them. */
import { UrnPacker, type PackedUrns } from '../../urn/packed-urns.ts'
import { firstUrnOf } from '../../urn/urn.ts'

/**
 * `urns` begins with the given URNs. `assetAt` has for each of these the index of its asset, which for
 * anything but a column is its own. The type of a URN is `names[typeOf[place]]`.
 */
export type EdgeEnds = {
  urns: PackedUrns
  assetAt: Int32Array
  names: string[]
  typeOf: Int32Array
}

/** A column of these ends is never a column of another column. */
export function endsWithAssets(given: PackedUrns): EdgeEnds {
  const { names, typeOf } = given.types()
  const columnType = names.indexOf('schemaField')
  const assetAt = Int32Array.from(typeOf.keys())
  if (columnType < 0) return { urns: given, assetAt, names, typeOf }
  const assets = new UrnPacker()
  for (let place = 0; place < typeOf.length; place += 1)
    if (typeOf[place] === columnType)
      assetAt[place] = given.length + assets.placeOf(firstUrnOf(given.at(place)))
  const urns = given.followedBy(assets.packed())
  return { urns, assetAt, ...urns.types() }
}
