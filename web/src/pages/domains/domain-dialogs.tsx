/**
 * Dialogs that change domains: create, rename and describe, move, delete. Each says what will happen before
 * it happens.
 */
import { useState } from 'preact/hooks'
import {
  createDomain,
  deleteDomain,
  describeDomain,
  domainMembers,
  moveDomain,
  renameDomain
} from '../../api/domain-queries.ts'
import { cardOf } from '../../api/entity.ts'
import { graphql, rest } from '../../api/request.ts'
import { CardLine } from '../../parts/card-line.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { DomainPicker, type Picked } from '../../parts/domain-picker.tsx'
import { tell } from '../../parts/toasts.tsx'
import { undoing } from '../../parts/undoing.ts'
import { useAction } from '../../parts/use-action.ts'
import { useResource } from '../../parts/use-resource.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { canMove } from './tree-model.ts'

/** The fields of a domain that dialogs need. */
export type Subject = {
  urn: string
  name: string
  description: string
  parent: { urn: string; name: string } | null
  childCount: number
  direct: number
}

type DialogProps = { close: () => void; done: () => void }

export function CreateDialog({
  parent,
  close,
  done
}: {
  parent: { urn: string; name: string } | null
  close: () => void
  done: (urn: string) => void
}) {
  const [names, setNames] = useState<Names>({ name: '', description: '' })
  const { name, description } = trimmed(names)
  const action = useAction()
  return (
    <ConfirmDialog
      title={parent ? words.createIn : words.create}
      action={words.create}
      {...action}
      isReady={name !== ''}
      close={close}
      run={() => {
        action.run(
          () =>
            graphql(createDomain, {
              input: {
                name,
                ...(description === '' ? {} : { description }),
                ...(parent ? { parentDomain: parent.urn } : {})
              }
            }),
          (answer) => {
            tell(words.created(name))
            done(answer.createDomain)
          }
        )
      }}
    >
      <p class="soft">
        {words.parent}: {parent ? parent.name : words.top}
      </p>
      <NameFields names={names} change={setNames} />
    </ConfirmDialog>
  )
}

type Names = { name: string; description: string }

const NameFields = ({ names, change }: { names: Names; change: (names: Names) => void }) => (
  <>
    <label class="field">
      {words.name}
      <input
        type="text"
        required
        maxLength={255}
        autofocus
        value={names.name}
        onInput={({ currentTarget }) => change({ ...names, name: currentTarget.value })}
      />
    </label>
    <label class="field">
      {words.description}
      <textarea
        rows={3}
        value={names.description}
        onInput={({ currentTarget }) => change({ ...names, description: currentTarget.value })}
      />
    </label>
  </>
)

/** As they are stored. */
const trimmed = ({ name, description }: Names): Names => ({
  name: name.trim(),
  description: description.trim()
})

/** Two separate calls; one is left out if its field has not changed. */
async function describe(urn: string, from: Names, to: Names): Promise<void> {
  if (to.name !== from.name) await graphql(renameDomain, { urn, name: to.name })
  if (to.description !== from.description) await graphql(describeDomain, { urn, description: to.description })
}

export function EditDialog({ subject, close, done }: DialogProps & { subject: Subject }) {
  const [names, setNames] = useState<Names>(subject)
  const to = trimmed(names)
  const action = useAction()
  return (
    <ConfirmDialog
      title={words.editTitle(subject.name)}
      action={words.save}
      {...action}
      isReady={to.name !== ''}
      close={close}
      run={() => {
        action.run(
          () => describe(subject.urn, subject, to),
          () => {
            tell(
              words.saved,
              undoing(() => describe(subject.urn, to, subject), done)
            )
            done()
          }
        )
      }}
    >
      <NameFields names={names} change={setNames} />
    </ConfirmDialog>
  )
}

/** Moves the domain, reports it, and offers to move it back. Throws the server's refusal. */
export async function moveTo(
  { urn, name, parent }: Pick<Subject, 'urn' | 'name'> & { parent: string | null },
  to: Picked,
  done: () => void
): Promise<void> {
  await graphql(moveDomain, { urn, parent: to?.urn ?? null })
  tell(
    to ? words.moved(name, to.name) : words.movedToTop(name),
    undoing(() => graphql(moveDomain, { urn, parent }), done)
  )
  done()
}

export function MoveDialog({ subject, close, done }: DialogProps & { subject: Subject }) {
  const [to, setTo] = useState<Picked | undefined>(undefined)
  const action = useAction()
  const from = subject.parent?.urn ?? null
  return (
    <ConfirmDialog
      title={words.moveTitle(subject.name)}
      action={words.move}
      {...action}
      isReady={to !== undefined}
      close={close}
      run={() => {
        action.run(() => moveTo({ ...subject, parent: from }, to ?? null, done))
      }}
    >
      <DomainPicker
        label={words.moveTo}
        chosen={to}
        choose={setTo}
        {...(from === null ? {} : { none: words.top })}
        allows={(place) => canMove(subject.urn, from, place)}
      />
    </ConfirmDialog>
  )
}

const shownAssets = 5

export function DeleteDialog({ subject, close, done }: DialogProps & { subject: Subject }) {
  const action = useAction()
  const assets = useResource(`delete ${subject.urn}`, (signal) =>
    graphql(
      domainMembers,
      { urn: subject.urn, input: { query: '*', start: 0, count: shownAssets, includeDescendants: false } },
      signal
    )
  )
  const rules = useResource(`rules ${subject.urn}`, () =>
    rest<{ rules: { domainUrn: string }[] }>('domain-rules')
  )
  const entities = assets.data?.domain?.entities
  const ruleCount = rules.data?.rules.filter(({ domainUrn }) => domainUrn === subject.urn).length ?? 0
  const error = action.error ?? assets.error ?? rules.error
  return (
    <ConfirmDialog
      title={words.deleteTitle(subject.name)}
      action={words.delete}
      isDanger
      isBusy={action.isBusy}
      error={error}
      // Not ready until the dialog says what the deletion would affect.
      isReady={subject.childCount === 0 && entities != null && rules.data !== undefined}
      close={close}
      run={() => {
        action.run(
          () => graphql(deleteDomain, { urn: subject.urn }),
          () => {
            tell(words.deleted(subject.name))
            done()
          }
        )
      }}
    >
      {subject.childCount > 0 && <p class="problem">{words.deleteHasChildren(subject.childCount)}</p>}
      {entities && (
        <div class="stack">
          <p>{words.deleteTouches(entities.total)}</p>
          <ul class="list">
            {entities.searchResults.map(({ entity }) => (
              <li key={entity.urn}>
                <CardLine card={cardOf(entity)} />
              </li>
            ))}
            {entities.total > entities.searchResults.length && (
              <li class="soft">{words.deleteMore(entities.total - entities.searchResults.length)}</li>
            )}
          </ul>
          {ruleCount > 0 && <p>{words.deleteRules(ruleCount)}</p>}
        </div>
      )}
    </ConfirmDialog>
  )
}
