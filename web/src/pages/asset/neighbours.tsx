/** What an asset or a column is made from, and what is made from it: the first of each, with the way to the others. */
import { assetAddress } from '../../address.ts'
import { cardOf } from '../../api/entity.ts'
import { around } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { readFacts } from '../../api/row-facts.ts'
import { AssetRow } from '../../parts/asset-row.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'

/** The assets of each side that are shown, and those that are read to find them. */
const [shownCount, readCount] = [4, 60]

export function Neighbours({ urn }: { urn: string }) {
  const { data } = useResource(`around ${urn}`, async (signal) => {
    const { nodes, edges } = (await graphql(around, { urn, count: readCount }, signal)).lineageGraph
    const cards = new Map(nodes.map(({ entity }) => [entity.urn, entity]))
    const sides = (['up', 'down'] as const).map((side) => {
      const urns = new Set(
        edges.flatMap(({ upstreamUrn, downstreamUrn }) => {
          const [own, other] = side === 'up' ? [downstreamUrn, upstreamUrn] : [upstreamUrn, downstreamUrn]
          return own === urn ? other : []
        })
      )
      return {
        side,
        total: nodes[0]?.[side === 'up' ? 'upstreamCount' : 'downstreamCount'] ?? 0,
        cards: [...urns]
          .flatMap((each) => (each === urn ? [] : (cards.get(each) ?? [])))
          .slice(0, shownCount)
          .map(cardOf)
      }
    })
    await readFacts(sides.flatMap((side) => side.cards.map((card) => card.urn)))
    return sides
  })
  if (!data?.some(({ total }) => total > 0)) return null
  return (
    <section class="panel stack" aria-labelledby="around">
      <div class="row apart">
        <h2 id="around">{assetTexts.tabs.lineage}</h2>
        <a href={assetAddress(urn, { tab: 'lineage' })}>{assetTexts.around.picture}</a>
      </div>
      <div class="around">
        {data.map(({ side, total, cards }) => (
          <section key={side} aria-label={assetTexts.around[side]}>
            <h3>
              {assetTexts.around[side]} <span class="count">{assetTexts.count(total)}</span>
            </h3>
            <ul class="list">
              {cards.map((card) => (
                <li key={card.urn}>
                  <AssetRow card={card} withAbout={false} />
                </li>
              ))}
            </ul>
            {total === 0 && <p class="soft">{assetTexts.around.none}</p>}
            {total > cards.length && (
              <a href={assetAddress(urn, { tab: 'impact', dir: side === 'up' ? 'up' : null })}>
                {assetTexts.belongings.all(total)}
              </a>
            )}
          </section>
        ))}
      </div>
    </section>
  )
}
