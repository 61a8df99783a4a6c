/**
 * The page of access tokens: a list of all tokens without their secrets, and dialogs that create one, whose
 * secret is shown once, or revoke one.
 */
import { Button } from '../parts/fields.tsx'
import { useMemo, useState } from 'preact/hooks'
import { isAdmin } from '../api/session.ts'
import { graphql } from '../api/request.ts'
import { listTokens, revokeToken, type Token } from '../api/token-queries.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { ConfirmDialog } from '../parts/dialog.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { printSort, readSort } from '../parts/sort-rows.ts'
import { Table, type TableColumn } from '../parts/table.tsx'
import { tell } from '../parts/toasts.tsx'
import { useAction } from '../parts/use-action.ts'
import { useAddress } from '../parts/use-address.ts'
import { usePages } from '../parts/use-pages.ts'
import { whenText } from '../parts/when.tsx'
import { tableTexts } from '../texts/table.ts'
import { tokenTexts as words } from '../texts/tokens.ts'
import { lastPartOf, nameOfActor } from '../api/entity.ts'
import { CreateTokenDialog, SecretDialog, type NewToken } from './tokens/create-token.tsx'

const pageCount = 500
const rowsMaxCount = 50_000

export function TokensPage() {
  const address = useAddress('tokens')
  const [turn, setTurn] = useState(0)
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<NewToken | null>(null)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const isAllowed = isAdmin()
  const { rows, total, error, retry } = usePages<Token>(
    `tokens ${turn} ${isAllowed}`,
    async (next, signal) => {
      if (!isAllowed) return { rows: [], next: null, total: 0, isPartial: false }
      const start = Number(next ?? 0)
      const { listAccessTokens: page } = await graphql(listTokens, { start, count: pageCount }, signal)
      const end = start + page.tokens.length
      return {
        rows: page.tokens,
        next: end < page.total && end > start ? String(end) : null,
        total: page.total,
        isPartial: false
      }
    },
    rowsMaxCount
  )
  // What no token has says nothing.
  const columns = useMemo(
    () =>
      columnsOf(setRevoking).filter(
        ({ id, value }) => !['maker', 'domain'].includes(id) || rows.some((row) => value(row) !== null)
      ),
    [rows]
  )
  const changed = (): void => {
    setTurn((last) => last + 1)
  }
  if (!isAllowed)
    return (
      <Empty title={words.onlyAdmins}>
        <p>{words.onlyAdminsHint}</p>
      </Empty>
    )
  return (
    <section class="panel stack" aria-labelledby="tokens">
      <div class="row apart">
        <h1 id="tokens">{words.title}</h1>
        <Button class="primary" run={() => setCreating(true)}>
          {words.create}
        </Button>
      </div>
      <p class="soft">{words.hint}</p>
      {error && <Failure error={error} retry={retry} />}
      {total === undefined && !error && <Loading />}
      {total === 0 && <p>{words.none}</p>}
      {total !== undefined && total > 0 && (
        <>
          <p role="status" data-testid="tokens-showing">
            {tableTexts.showing(rows.length, total)}
          </p>
          <Table<Token>
            label={words.title}
            columns={columns}
            rows={rows}
            total={total}
            keyOf={({ id }) => id}
            sort={readSort(address.query.sort)}
            onSort={(sort) => {
              address.change({ sort: printSort(sort) }, { replace: true })
            }}
          />
        </>
      )}
      <CopyAs
        graphql={{ text: listTokens.text, variables: { start: 0, count: pageCount } }}
        command="tributary token list"
      />
      {isCreating && (
        <CreateTokenDialog
          close={() => {
            setCreating(false)
          }}
          done={(token) => {
            setCreating(false)
            setCreated(token)
            changed()
          }}
        />
      )}
      {created && (
        <SecretDialog
          token={created}
          close={() => {
            setCreated(null)
          }}
        />
      )}
      {revoking && (
        <RevokeDialog
          token={revoking}
          close={() => {
            setRevoking(null)
          }}
          done={() => {
            setRevoking(null)
            changed()
          }}
        />
      )}
    </section>
  )
}

function RevokeDialog({ token, close, done }: { token: Token; close: () => void; done: () => void }) {
  const action = useAction()
  return (
    <ConfirmDialog
      title={words.revokeTitle(token.name)}
      action={words.revoke}
      isDanger
      {...action}
      close={close}
      run={() => {
        action.run(
          () => graphql(revokeToken, { id: token.id }),
          () => {
            tell(words.revoked(token.name))
            done()
          }
        )
      }}
    >
      <p>{words.revokeHint}</p>
    </ConfirmDialog>
  )
}

const Validity = ({ token: { expiresAt, revokedAt, scopes } }: { token: Token }) => {
  if (revokedAt !== null)
    return (
      <span class="chip bad" title={whenText(revokedAt)}>
        {words.isRevoked}
      </span>
    )
  if (expiresAt === null)
    return scopes.includes('admin') ? (
      <span class="chip warn" title={words.neverHint}>
        {words.never}
      </span>
    ) : (
      <>{words.never}</>
    )
  if (expiresAt >= Date.now()) return <>{whenText(expiresAt)}</>
  return (
    <span class="chip bad" title={whenText(expiresAt)}>
      {words.expired}
    </span>
  )
}

const Maker = ({ token: { makerUrn, makerHasRole, makerAbsentDays } }: { token: Token }) => {
  if (makerUrn === null) return null
  const name = nameOfActor(makerUrn)
  if (makerHasRole === false)
    return (
      <span class="chip bad" title={words.hasNoRole(name)}>
        {name}
      </span>
    )
  return <span title={words.lastSeen(makerAbsentDays)}>{name}</span>
}

const columnsOf = (revoke: (token: Token) => void): TableColumn<Token>[] => [
  { id: 'name', head: words.heads.name, value: ({ name }) => name, width: 'minmax(140px, 2fr)' },
  {
    id: 'id',
    head: words.heads.id,
    value: ({ id }) => id,
    width: '90px',
    fold: 2,
    cell: ({ id }) => <code title={id}>{id.slice(0, 8)}</code>
  },
  {
    id: 'actor',
    head: words.heads.actor,
    value: ({ actorUrn }) => nameOfActor(actorUrn),
    width: 'minmax(100px, 1fr)',
    fold: 7
  },
  {
    id: 'maker',
    head: words.heads.maker,
    value: ({ makerUrn }) => (makerUrn === null ? null : nameOfActor(makerUrn)),
    width: 'minmax(100px, 1fr)',
    fold: 4,
    cell: (token) => <Maker token={token} />
  },
  {
    id: 'scopes',
    head: words.heads.scopes,
    value: ({ scopes }) => words.scopeName(scopes),
    width: 'minmax(100px, 1fr)',
    fold: 5
  },
  {
    id: 'domain',
    head: words.heads.domain,
    value: ({ domainUrns }) => domainUrns?.map(lastPartOf).join(', ') ?? null,
    width: 'minmax(90px, 1fr)',
    fold: 3
  },
  {
    id: 'created',
    head: words.heads.created,
    value: ({ createdAt }) => createdAt,
    width: '150px',
    fold: 1,
    cell: ({ createdAt }) => whenText(createdAt)
  },
  {
    id: 'expires',
    head: words.heads.expires,
    value: ({ expiresAt }) => expiresAt,
    width: '150px',
    fold: 6,
    cell: (token) => <Validity token={token} />
  },
  {
    id: 'revoke',
    head: words.heads.revoke,
    value: () => null,
    isSortable: false,
    width: '90px',
    cell: (token, tab) =>
      token.revokedAt === null && (
        <Button
          class="small"
          tabIndex={tab}
          aria-label={words.revokeOf(token.name)}
          run={() => revoke(token)}
        >
          {words.revoke}
        </Button>
      )
  }
]
