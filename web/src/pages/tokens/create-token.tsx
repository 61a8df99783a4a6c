/**
 * Dialogs that create a token and show its secret. The secret is only in the dialog: not in the address, not
 * in storage.
 */
import { Button, Check, Select } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { graphql } from '../../api/request.ts'
import { session } from '../../api/session.ts'
import { createToken, durations, type Duration } from '../../api/token-queries.ts'
import { Snippet } from '../../parts/copy-button.tsx'
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx'
import { DomainsPicker, type NamedDomain } from '../../parts/domain-picker.tsx'
import { useAction } from '../../parts/use-action.ts'
import { tokenTexts as words } from '../../texts/tokens.ts'

/** `note` says what ends it besides its expiry. */
export type NewToken = { name: string; secret: string; note: string | null }

const scopes = { read: ['read'], write: ['read', 'write'], admin: ['admin'] } as const
type ScopeName = keyof typeof scopes
const scopeNames: readonly ScopeName[] = ['read', 'write', 'admin']

export function CreateTokenDialog({ close, done }: { close: () => void; done: (token: NewToken) => void }) {
  const [name, setName] = useState('')
  const [actor, setActor] = useState(session.value?.actor ?? '')
  const [scope, setScope] = useState<ScopeName>('read')
  const [duration, setDuration] = useState<Duration>('THREE_MONTHS')
  const [isLimited, setLimited] = useState(false)
  const [domains, setDomains] = useState<readonly NamedDomain[]>([])
  const action = useAction()
  return (
    <ConfirmDialog
      title={words.create}
      action={words.create}
      {...action}
      isReady={name.trim() !== '' && actor.trim() !== '' && (!isLimited || domains.length > 0)}
      close={close}
      run={() => {
        const input = {
          type: 'PERSONAL' as const,
          actorUrn: actor.trim(),
          duration,
          name: name.trim(),
          scopes: scopes[scope],
          ...(isLimited ? { domainUrns: domains.map(({ urn }) => urn) } : {})
        }
        action.run(
          () => graphql(createToken, { input }),
          ({ createAccessToken }) => {
            const { accessToken, note } = createAccessToken
            done({ name: input.name, secret: accessToken, note })
          }
        )
      }}
    >
      <label class="field">
        {words.name}
        <input
          type="text"
          required
          autofocus
          maxLength={255}
          value={name}
          onInput={(event) => {
            setName(event.currentTarget.value)
          }}
        />
        <span class="soft">{words.nameHint}</span>
      </label>
      <fieldset class="choices">
        <legend>{words.scope}</legend>
        {scopeNames.map((each) => (
          <label key={each} class="row">
            <input
              type="radio"
              name="scope"
              checked={scope === each}
              onChange={() => {
                setScope(each)
              }}
            />
            {words.scopes[each]}
          </label>
        ))}
      </fieldset>
      <fieldset class="choices">
        <legend>{words.limit}</legend>
        <Check
          label={
            isLimited && domains.length > 0 ? words.limitTo(domains.map(({ name }) => name)) : words.limit
          }
          value={isLimited}
          change={setLimited}
        />
        {isLimited && <DomainsPicker label={words.chooseDomains} chosen={domains} choose={setDomains} />}
      </fieldset>
      <label class="field">
        {words.expiry}
        <Select
          label={words.expiry}
          value={duration}
          change={(text) => {
            const found = durations.find((each) => each === text)
            if (found) setDuration(found)
          }}
          options={durations.map((each) => [each, words.durations[each]] as const)}
        />
      </label>
      <label class="field">
        {words.actor}
        <input
          type="text"
          required
          value={actor}
          onInput={(event) => {
            setActor(event.currentTarget.value)
          }}
        />
      </label>
    </ConfirmDialog>
  )
}

/** The address of this server without the page. */
const server = (): string => new URL('..', location.href).href.replace(/\/$/, '')

const curlFor = (secret: string): string =>
  `curl -sS ${server()}/api/graphql \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '{"query": "{ me { corpUser { urn } } }"}'`

export function SecretDialog({ token, close }: { token: NewToken; close: () => void }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Dialog title={words.secretTitle(token.name)} close={close} isEscapable={isCopied}>
      <p>{words.secretHint}</p>
      {token.note !== null && <p>{token.note}</p>}
      <Snippet text={token.secret} label={words.secret} />
      <h3>{words.tryIt}</h3>
      <Snippet text={curlFor(token.secret)} label={words.tryIt} />
      <Check label={words.haveCopied} value={isCopied} change={setCopied} />
      <div>
        <Button class="primary" disabled={!isCopied} run={close}>
          {words.done}
        </Button>
      </div>
    </Dialog>
  )
}
