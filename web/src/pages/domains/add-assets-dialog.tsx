/** A dialog that finds assets by a search and puts many of them into a domain. */
import { useMemo, useState } from 'preact/hooks'
import { assign, assignMaxCount, restoreDomains } from '../../api/assign-domain.ts'
import { findAssets } from '../../api/domain-queries.ts'
import { cardOf, typesInDomains, type Card } from '../../api/entity.ts'
import type { Filter } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { ChoiceMenu } from '../../parts/choice-menu.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { Table } from '../../parts/table.tsx'
import { tell } from '../../parts/toasts.tsx'
import { undoing } from '../../parts/undoing.ts'
import { useAction } from '../../parts/use-action.ts'
import { useAfterTyping } from '../../parts/use-after-typing.ts'
import { useResource } from '../../parts/use-resource.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { texts } from '../../texts.ts'
import { noDomain } from '../impact-question.ts'
import { optionsOf } from '../search-facets.ts'
import { asAsked, domainsField } from '../search-question.ts'
import { assetColumns } from './asset-columns.tsx'

/** Assets that the search of the dialog shows. */
const foundMaxCount = 500
const filterFields = ['_entityType', 'platform', domainsField]

export function AddAssetsDialog({
  domain,
  close,
  done
}: {
  domain: { urn: string; name: string }
  close: () => void
  done: () => void
}) {
  const [text, setText] = useState('')
  const [sought, setSought] = useState('')
  // With their present domains, which an undo restores. They stay chosen when the search changes.
  const [chosen, setChosen] = useState<ReadonlyMap<string, Card>>(new Map())
  const [filters, setFilters] = useState<readonly Filter[]>([])
  const action = useAction()
  useAfterTyping(text, () => {
    setSought(text.trim())
  })
  const { last: data, error } = useResource(`add ${sought} ${JSON.stringify(filters)}`, (signal) => {
    const asked = asAsked({ words: sought || '*', filters, sort: '' }, foundMaxCount)
    const isElsewhere = { field: domainsField, values: [domain.urn], negated: true }
    return graphql(
      findAssets,
      {
        query: asked.query,
        count: foundMaxCount,
        types: typesInDomains,
        groups: (asked.groups[0] ? asked.groups : [{ and: [] }]).map(({ and }) => ({
          and: [...and, isElsewhere]
        })),
        facets: filterFields,
        withFacets: true
      },
      signal
    )
  })
  const page = data?.searchAcrossEntities
  const cards = useMemo(() => page?.searchResults.map(({ entity }) => cardOf(entity)) ?? [], [page])
  const columns = useMemo(() => assetColumns({ withDomain: true, isLinked: false }), [])
  return (
    <ConfirmDialog
      title={words.addTitle(domain.name)}
      action={words.addAction(chosen.size)}
      {...action}
      error={action.error ?? error}
      isReady={chosen.size > 0 && chosen.size <= assignMaxCount}
      close={close}
      run={() => {
        action.run(
          () => assign(domain.urn, [...chosen.keys()]),
          () => {
            tell(
              words.assigned(chosen.size, domain.name),
              undoing(() => restoreDomains([...chosen.values()]), done)
            )
            done()
          }
        )
      }}
    >
      <label class="field">
        {words.addSearch}
        <input
          type="search"
          autofocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
          }}
        />
      </label>
      <div class="row">
        {data?.aggregateAcrossEntities?.facets.map((facet) => (
          <ChoiceMenu
            key={facet.field}
            label={words.addFilter(facet.field)}
            options={[
              ...(facet.field === domainsField ? [{ value: noDomain, name: texts.search.noDomain }] : []),
              ...optionsOf(facet).filter(({ value }) => value !== domain.urn)
            ]}
            chosen={filters.find(({ field }) => field === facet.field)?.values ?? []}
            choose={(values) => {
              setFilters([
                ...filters.filter(({ field }) => field !== facet.field),
                ...(values.length > 0 ? [{ field: facet.field, values: [...values] }] : [])
              ])
            }}
          />
        ))}
      </div>
      <p class="soft" role="status">
        {page ? words.addShown(cards.length, `${page.isEstimate ? '≈ ' : ''}${texts.count(page.total)}`) : ''}
        {chosen.size > 0 ? ` · ${words.chosen(chosen.size)}` : ''}
      </p>
      {page && cards.length === 0 ? (
        <p>{words.addNone}</p>
      ) : (
        <div class="dialog-table">
          <Table<Card>
            label={words.addSearch}
            columns={columns}
            rows={cards}
            keyOf={({ urn }) => urn}
            selection={{
              keys: new Set(chosen.keys()),
              change: (keys) => {
                const known = [...chosen.values(), ...cards].filter(({ urn }) => keys.has(urn))
                setChosen(new Map(known.map((card) => [card.urn, card])))
              }
            }}
          />
        </div>
      )}
      {chosen.size > assignMaxCount && <p class="problem">{words.tooManyChosen(assignMaxCount)}</p>}
      <p class="soft">{words.leaves}</p>
    </ConfirmDialog>
  )
}
