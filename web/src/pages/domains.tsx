/**
 * The page of domains: the tree at the left, the chosen domain at the right; without a chosen domain, lineage
 * between all domains.
 */
import { Button, Check, FilterField } from '../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { findAssets, lineageMap } from '../api/domain-queries.ts'
import { graphql } from '../api/request.ts'
import { canWrite } from '../api/session.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { FoldButton } from '../parts/fold-button.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { tellError } from '../parts/toasts.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { useAfterTyping } from '../parts/use-after-typing.ts'
import '../style/domains.css'
import { domainTexts as words } from '../texts/domains.ts'
import { texts } from '../texts.ts'
import { CreateDialog, moveTo } from './domains/domain-dialogs.tsx'
import { DomainDetail } from './domains/domain-detail.tsx'
import { DomainMap } from './domains/domain-map.tsx'
import { DomainTree } from './domains/domain-tree.tsx'
import { useTree } from './domains/use-tree.ts'
import { asAsked, questionIn, withoutDomain } from './search-question.ts'

export function DomainsPage() {
  const address = useAddress('domains')
  const [text, setText] = useState(address.query.filter ?? '')
  const tree = useTree(address.query.filter ?? '')
  const [version, setVersion] = useState(0)
  const [isCreating, setCreating] = useState(false)
  const [isTreeOpen, setTreeOpen] = useState(false)
  const chosen = address.query.urn || null
  const withSub = address.query.sub !== 'off'
  useAfterTyping(text, () => {
    if (text !== (address.query.filter ?? '')) address.change({ filter: text }, { replace: true })
  })
  const changed = (): void => {
    setVersion((last) => last + 1)
    tree.reload()
  }
  const { last: none } = useResource(`no domain ${version}`, (signal) =>
    graphql(findAssets, asAsked(questionIn(new URL(withoutDomain, location.href).searchParams), 0), signal)
  )
  const isEmpty = tree.topTotal === 0
  return (
    <div class="domains">
      {chosen !== null && <FoldButton label={words.all} isOpen={isTreeOpen} setOpen={setTreeOpen} />}
      <section
        class={
          chosen === null || isTreeOpen
            ? 'panel stack domains-side'
            : 'panel stack domains-side filters folded'
        }
        aria-label={words.title}
      >
        <div class="row apart">
          <h2>{words.title}</h2>
          {canWrite() && <Button run={() => setCreating(true)}>{words.create}</Button>}
        </div>
        <FilterField label={words.filter} value={text} change={setText} />
        <Check
          role="switch"
          label={words.includeSub}
          value={withSub}
          change={(isOn) => address.change({ sub: isOn ? null : 'off' }, { replace: true })}
        />
        <p class="soft" role="status">
          {tree.found
            ? tree.found.total === 0
              ? words.notFound
              : words.found(tree.found.shown, tree.found.total)
            : tree.topTotal !== undefined && tree.topShown < tree.topTotal
              ? words.levelCut(tree.topShown, tree.topTotal)
              : ''}
        </p>
        {tree.error && <Failure error={tree.error} retry={tree.reload} />}
        {tree.topTotal === undefined && !tree.error && <Loading />}
        {tree.rows.length > 0 && (
          <DomainTree
            rows={tree.rows}
            chosen={chosen}
            countOf={(urn) => tree.counts.get(urn)?.[withSub ? 'whole' : 'direct']}
            choose={(urn) => {
              setTreeOpen(false)
              address.change({ urn })
            }}
            toggle={tree.toggle}
            move={
              canWrite()
                ? (row, to) => {
                    moveTo(row, to, () => {
                      if (to) tree.reveal([to.urn])
                      changed()
                    }).catch(tellError)
                  }
                : undefined
            }
          />
        )}
        {tree.topTotal !== undefined && (
          <a class="row apart none-row" href={withoutDomain}>
            {texts.search.noDomain}
            {none && <span class="soft number">{texts.count(none.searchAcrossEntities.total)}</span>}
          </a>
        )}
      </section>
      <div class="stack">
        {chosen === null ? (
          <>
            <div>
              <h1>{isEmpty ? words.noDomains : words.title}</h1>
              <p class="soft">{isEmpty ? words.why : words.chooseOne}</p>
              <CopyAs
                graphql={{ text: lineageMap.text, variables: { input: {}, domain: '', isInDomain: false } }}
                command="tributary domain tree"
              />
            </div>
            {!isEmpty && <DomainMap key={version} scope={{ kind: 'top' }} />}
          </>
        ) : (
          <DomainDetail
            key={chosen}
            urn={chosen}
            version={version}
            withSub={withSub}
            reveal={tree.reveal}
            changed={changed}
          />
        )}
      </div>
      {isCreating && (
        <CreateDialog
          parent={null}
          close={() => {
            setCreating(false)
          }}
          done={(urn) => {
            setCreating(false)
            changed()
            address.change({ urn })
          }}
        />
      )}
    </div>
  )
}
