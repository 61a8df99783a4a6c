/**
 * One domain: its path and counts, its sub-domains, the assets in it, its lineage with other domains, and
 * actions on it.
 */
import { Button, FilterField } from '../../parts/fields.tsx'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { addressOf } from '../../address.ts'
import { assign, assignMaxCount, restoreDomains } from '../../api/assign-domain.ts'
import { ApiError } from '../../api/errors.ts'
import { domainMembers, domainPage } from '../../api/domain-queries.ts'
import { cardOf, type Card } from '../../api/entity.ts'
import { graphql } from '../../api/request.ts'
import { readFacts } from '../../api/row-facts.ts'
import { canWrite } from '../../api/session.ts'
import { quoted } from '../../command-line.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PersonLink } from '../../parts/avatar.tsx'
import { ActionMenu } from '../../parts/menu.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { printSort, readSort } from '../../parts/sort-rows.ts'
import { SetDomainDialog } from '../../parts/set-domain-dialog.tsx'
import { Table } from '../../parts/table.tsx'
import { tell, tellError } from '../../parts/toasts.tsx'
import { undoing } from '../../parts/undoing.ts'
import { useAddress, type Address } from '../../parts/use-address.ts'
import { useAfterTyping } from '../../parts/use-after-typing.ts'
import { usePages } from '../../parts/use-pages.ts'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { tableTexts } from '../../texts/table.ts'
import { texts } from '../../texts.ts'
import { assetColumns } from './asset-columns.tsx'
import { AddAssetsDialog } from './add-assets-dialog.tsx'
import { CreateDialog, DeleteDialog, EditDialog, MoveDialog, type Subject } from './domain-dialogs.tsx'
import { DomainMap } from './domain-map.tsx'
import { nameOfDomain } from './use-tree.ts'

const pageCount = 1_000
const rowsMaxCount = 50_000
/** The rows whose facts are there when the list appears; those of others come as they are scrolled into view. */
const firstRowsCount = 40
type OpenDialog = 'create' | 'edit' | 'move' | 'delete' | 'add' | null

export function DomainDetail({
  urn,
  version,
  withSub,
  reveal,
  changed
}: {
  urn: string
  /** A number that grows with every change of a domain. */
  version: number
  withSub: boolean
  /** Called with the domains to open in the tree: this domain and those above it. */
  reveal: (urns: readonly string[]) => void
  changed: () => void
}) {
  const address = useAddress('domains')
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const {
    last: data,
    error,
    reload
  } = useResource(`domain ${urn} ${version}`, (signal) => graphql(domainPage, { urn }, signal))
  const domain = data?.domain?.urn === urn ? data.domain : null
  useEffect(() => {
    if (domain) reveal([urn, ...(domain.parentDomains?.domains ?? []).map((parent) => parent.urn)])
  }, [domain])
  if (error instanceof ApiError && (error.code === 'NOT_FOUND' || error.code === 'INVALID_URN'))
    return (
      <Empty title={words.missing(urn)}>
        <p>{words.missingHint}</p>
      </Empty>
    )
  if (error && !domain) return <Failure error={error} retry={reload} />
  if (!domain) return <Loading />

  const parents = domain.parentDomains?.domains ?? []
  const [parent] = parents
  const owners = domain.ownership?.owners?.map(({ owner }) => cardOf(owner)) ?? []
  const subject: Subject = {
    urn,
    name: nameOfDomain(domain),
    description: domain.properties?.description ?? '',
    parent: parent ? { urn: parent.urn, name: nameOfDomain(parent) } : null,
    childCount: domain.childCount,
    direct: domain.direct.total
  }
  const close = (): void => {
    setDialog(null)
  }
  const done = (): void => {
    close()
    changed()
  }
  return (
    <div class="stack">
      <section class="panel stack" aria-labelledby="domain-name">
        {parents.length > 0 && (
          <nav aria-label={words.path} class="path">
            {parents.toReversed().map((above) => (
              <a key={above.urn} href={addressOf('domains', { urn: above.urn })}>
                {nameOfDomain(above)}
              </a>
            ))}
          </nav>
        )}
        <div class="row apart">
          <h1 id="domain-name">{subject.name}</h1>
          <div class="row">
            {canWrite() && (
              <>
                <Button class="primary" run={() => setDialog('add')}>
                  {words.add}
                </Button>
                <ActionMenu
                  label={words.actions}
                  actions={(['create', 'edit', 'move', 'delete'] as const).map((kind) => ({
                    label: words[kind === 'create' ? 'createIn' : kind],
                    run: () => {
                      setDialog(kind)
                    }
                  }))}
                />
              </>
            )}
          </div>
        </div>
        {subject.description ? (
          <Markdown text={subject.description} />
        ) : (
          <p class="soft">{words.noDescription}</p>
        )}
        <dl class="vitals">
          <div>
            <dt>{words.assets}</dt>
            <dd data-testid="domain-counts" data-direct={domain.direct.total} data-whole={domain.whole.total}>
              {words.counts(domain.direct.total, domain.whole.total)}
            </dd>
          </div>
          <div>
            <dt>{assetTexts.facts.owners}</dt>
            <dd class="row">
              {owners.length === 0 && <span class="soft">{words.noOwner}</span>}
              {owners.map((owner) => (
                <PersonLink key={owner.urn} card={owner} />
              ))}
            </dd>
          </div>
        </dl>
        <CopyAs
          graphql={{
            text: domainMembers.text,
            variables: { urn, input: { query: '*', start: 0, count: 100, includeDescendants: withSub } }
          }}
          command={`tributary search '*' --domain ${quoted(urn)}`}
          urn={urn}
        />
      </section>
      <Members
        urn={urn}
        name={subject.name}
        version={version}
        withSub={withSub}
        address={address}
        changed={changed}
      />
      {domain.childCount > 0 && (
        <DomainMap key={`within ${version}`} scope={{ kind: 'within', urn, name: subject.name }} />
      )}
      <DomainMap key={`of ${version}`} scope={{ kind: 'of', urn, name: subject.name }} />
      {dialog === 'create' && (
        <CreateDialog
          parent={subject}
          close={close}
          done={(created) => {
            done()
            reveal([urn])
            address.change({ urn: created })
          }}
        />
      )}
      {dialog === 'edit' && <EditDialog subject={subject} close={close} done={done} />}
      {dialog === 'move' && <MoveDialog subject={subject} close={close} done={done} />}
      {dialog === 'delete' && (
        <DeleteDialog
          subject={subject}
          close={close}
          done={() => {
            done()
            address.change({ urn: subject.parent?.urn ?? null })
          }}
        />
      )}
      {dialog === 'add' && <AddAssetsDialog domain={subject} close={close} done={done} />}
    </div>
  )
}

function Members({
  urn,
  name,
  version,
  withSub,
  address,
  changed
}: {
  urn: string
  name: string
  version: number
  withSub: boolean
  address: Address
  changed: () => void
}) {
  const [text, setText] = useState('')
  const [sought, setSought] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isMoving, setMoving] = useState(false)
  useAfterTyping(text, () => {
    setSought(text.trim())
  })
  const key = `${urn} ${version} ${withSub} ${sought}`
  useEffect(() => {
    setChosen(new Set())
  }, [key])
  const { rows, total, isLoading, error, retry } = usePages<Card>(
    key,
    async (next, signal) => {
      const start = Number(next ?? 0)
      const input = { query: sought || '*', start, count: pageCount, includeDescendants: withSub }
      const { domain } = await graphql(domainMembers, { urn, input }, signal)
      const found = domain?.entities
      const end = start + (found?.searchResults.length ?? 0)
      if (start === 0)
        await readFacts(found?.searchResults.slice(0, firstRowsCount).map(({ entity }) => entity.urn) ?? [])
      return {
        rows: found?.searchResults.map(({ entity }) => cardOf(entity)) ?? [],
        next: found && end < found.total && end > start ? String(end) : null,
        total: found?.total ?? 0,
        isPartial: false
      }
    },
    rowsMaxCount
  )
  const columns = useMemo(() => assetColumns({ withDomain: withSub, rows }), [withSub, rows])
  const takeOut = (): void => {
    const assets = rows.filter((card) => chosen.has(card.urn))
    assign(
      null,
      assets.map((card) => card.urn)
    ).then(() => {
      tell(
        words.unassigned(assets.length),
        undoing(() => restoreDomains(assets), changed)
      )
      changed()
    }, tellError)
  }
  return (
    <section class="panel stack" aria-labelledby="domain-assets">
      <h2 id="domain-assets">{words.assets}</h2>
      <div class="row apart">
        <FilterField label={words.assetFilter} value={text} change={setText} />
        <p role="status" data-testid="members-showing">
          {total === undefined ? '' : tableTexts.showing(rows.length, total)}
          {isLoading && total !== undefined ? ` · ${texts.state.loading}` : ''}
        </p>
      </div>
      {chosen.size > 0 && (
        <div class="row">
          <span>{words.chosen(chosen.size)}</span>
          <Button disabled={chosen.size > assignMaxCount} run={() => setMoving(true)}>
            {words.set}
          </Button>
          <button type="button" disabled={chosen.size > assignMaxCount} onClick={takeOut}>
            {words.unassign}
          </button>
          {chosen.size > assignMaxCount && <span class="soft">{words.tooManyChosen(assignMaxCount)}</span>}
        </div>
      )}
      {error && <Failure error={error} retry={retry} />}
      {total === 0 && !error && (
        <p class="soft">
          {sought !== '' ? words.noneFound : withSub ? words.noAssets : words.noAssetsDirect}
        </p>
      )}
      {total !== undefined && total > 0 && (
        <Table<Card>
          label={`${words.assets}: ${name}`}
          columns={columns}
          rows={rows}
          total={total}
          keyOf={(card) => card.urn}
          sort={readSort(address.query.sort)}
          onSort={(sort) => {
            address.change({ sort: printSort(sort) }, { replace: true })
          }}
          {...(canWrite() ? { selection: { keys: chosen, change: setChosen } } : {})}
        />
      )}
      {isMoving && (
        <SetDomainDialog
          assets={rows.filter((card) => chosen.has(card.urn))}
          close={() => {
            setMoving(false)
          }}
          changed={changed}
        />
      )}
    </section>
  )
}
