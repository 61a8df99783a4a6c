/** The domains that an asset is in, the outermost first, each a link. */
import { assetAddress } from '../address.ts'
import { lastPartOf, type CardDomain } from '../api/entity.ts'

export const DomainPath = ({ domain }: { domain: CardDomain }) => (
  <span class="domain-path" data-testid="domain">
    {domain.urns.map((urn, place) => (
      <span key={urn}>
        {place > 0 && <span class="soft"> › </span>}
        <a href={assetAddress(urn)}>{domain.path[place] ?? lastPartOf(urn)}</a>
      </span>
    ))}
  </span>
)
