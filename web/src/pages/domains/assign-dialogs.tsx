/** Dialogs that put assets into a domain: many found by a search, or those chosen in a list. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { assignDomain, findAssets } from '../../api/domain-queries.ts'
import { cardOf, type Card } from '../../api/entity.ts'
import { graphql } from '../../api/request.ts'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { DomainPicker, type Picked } from '../../parts/domain-picker.tsx'
import { Table } from '../../parts/table.tsx'
import { tell } from '../../parts/toasts.tsx'
import { useAction } from '../../parts/use-action.ts'
import { useResource } from '../../parts/use-resource.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { texts } from '../../texts.ts'
import { assetColumns } from './asset-columns.tsx'

/** Assets that a search in a dialog shows, and of one call: the server takes as many. */
const foundMaxCount = 500
export const assignMaxCount = 5_000
const typingMs = 200

/** Null takes them out of their domains. */
export const assign = (domain: string | null, urns: readonly string[]): Promise<unknown> =>
  graphql(assignDomain, { domain, resources: urns.map((resourceUrn) => ({ resourceUrn })) })

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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const action = useAction()
  useEffect(() => {
    const timer = setTimeout(() => {
      setSought(text.trim())
    }, typingMs)
    return () => {
      clearTimeout(timer)
    }
  }, [text])
  const { last: data, error } = useResource(`add ${sought}`, (signal) =>
    graphql(
      findAssets,
      {
        query: sought || '*',
        count: foundMaxCount,
        filters: [
          { field: 'domains', values: [domain.urn], negated: true },
          { field: '_entityType', values: ['DOMAIN'], negated: true }
        ]
      },
      signal
    )
  )
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
          () => assign(domain.urn, [...chosen]),
          () => {
            tell(words.assigned(chosen.size, domain.name))
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
            selection={{ keys: chosen, change: setChosen }}
          />
        </div>
      )}
      {chosen.size > assignMaxCount && <p class="problem">{words.tooManyChosen(assignMaxCount)}</p>}
      <p class="soft">{words.leaves}</p>
    </ConfirmDialog>
  )
}

export function ReassignDialog({
  urns,
  close,
  done
}: {
  urns: readonly string[]
  close: () => void
  done: () => void
}) {
  const [to, setTo] = useState<Picked | undefined>(undefined)
  const action = useAction()
  return (
    <ConfirmDialog
      title={words.reassignTitle(urns.length)}
      action={words.reassign}
      {...action}
      isReady={Boolean(to)}
      close={close}
      run={() => {
        action.run(
          () => assign(to?.urn ?? null, urns),
          () => {
            tell(words.assigned(urns.length, to?.name ?? ''))
            done()
          }
        )
      }}
    >
      <DomainPicker label={words.reassign} chosen={to} choose={setTo} />
    </ConfirmDialog>
  )
}
