/**
 * The lineage page: reads the view from the address, requests it with one call, and lets the person change
 * it.
 */
import { Button } from '../parts/fields.tsx'
import { useLocation } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import { assetAddress, addressOf } from '../address.ts'
import { ApiError } from '../api/errors.ts'
import { canWrite } from '../api/session.ts'
import { lineageGraph } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { Snippet } from '../parts/copy-button.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { goTo } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { texts } from '../texts.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { answerOf } from './answer.ts'
import { addressOfView, misreadIn, questionOf, viewOf, type ViewState } from './model.ts'
import { View } from './view.tsx'
import '../style/lineage.css'

export const LineagePage = () => <Lineage />

/** The picture within the page of its asset, whose address then has the view. */
export const EmbeddedLineage = () => (
  <div class="embedded-lineage">
    <Lineage isEmbedded />
  </div>
)

function Lineage({ isEmbedded = false }: { isEmbedded?: boolean }) {
  const { url, route } = useLocation()
  // The router ignores the part behind the `#`, but its address changes with it.
  const search = new URL(url, location.href).search.replace(/([?&])tab=lineage(&|$)/, '$1')
  const { state, isCut, isLong } = viewOf({ search, hash: location.hash })
  const misread = misreadIn(search)
  const input = questionOf(state)
  const {
    last: data,
    error,
    isLoading,
    reload
  } = useResource(state.urn === '' ? null : JSON.stringify(input), async (signal) =>
    answerOf((await graphql(lineageGraph, { input, columns: input.columns }, signal)).lineageGraph, {
      hidesJobs: input.hideJobs
    })
  )
  const start = data?.nodes[0]?.card
  useEffect(() => {
    if (start && !isEmbedded) document.title = `${words.title(start.name)} · ${texts.product}`
  }, [start?.urn])
  if (state.urn === '') return <Empty title={words.noStart} />
  if (error && isUnknown(error) && start?.urn !== state.urn)
    return <Unknown urn={state.urn} message={error.message} />
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data || !start) return <Loading />
  return (
    <View
      answer={data}
      state={state}
      isLoading={isLoading}
      isLong={isLong}
      large={isEmbedded ? addressOfView(state) : null}
      notice={
        <>
          {error && (
            <div class="row apart banner" role="alert">
              <span>
                {words.stale} {error.message}
              </span>
              <Button run={reload}>{texts.state.retry}</Button>
            </div>
          )}
          {misread.length > 0 && (
            <div class="banner" role="alert" data-testid="misread">
              {words.misread(misread)}
            </div>
          )}
          {isCut && (
            <div class="banner" role="alert" data-testid="cut-link">
              {words.cutLink}
            </div>
          )}
        </>
      }
      go={(next: ViewState, { replace = false } = {}) => {
        const address = addressOfView(next)
        goTo(route, isEmbedded ? address.replace('./lineage?', './asset?tab=lineage&') : address, replace)
      }}
      leave={(address) => {
        goTo(route, address)
      }}
      empty={
        data.nodes.length === 1 &&
        data.edges.length === 0 &&
        data.totals.upstream + data.totals.downstream === 0 ? (
          <NoLineage urn={state.urn} />
        ) : null
      }
    />
  )
}

/** The server's codes for a URN that is unknown or not valid. */
const isUnknown = (error: Error): boolean =>
  error instanceof ApiError &&
  ['NOT_FOUND', 'INVALID_URN', 'INVALID_CHARACTER'].some(
    (code) => code === error.code || code === error.details.reason
  )

const Unknown = ({ urn, message }: { urn: string; message: string }) => (
  <div data-testid="not-found">
    <Empty title={words.notFound}>
      <p>
        <code class="urn">{urn}</code>
      </p>
      <p>{message}</p>
      <p>{words.notFoundHint}</p>
      <p>
        <a
          href={addressOf('search', {
            q:
              urn
                .split(/[,.():]/)
                .filter(Boolean)
                .at(-2) ?? urn
          })}
        >
          {texts.search.label}
        </a>
      </p>
    </Empty>
  </div>
)

const NoLineage = ({ urn }: { urn: string }) => (
  <div class="over message stack" data-testid="empty">
    <h2>{words.empty.title}</h2>
    <p>{words.empty.text}</p>
    <Snippet
      label={words.empty.title}
      text={`curl -sS ${new URL('../api/graphql', location.href)} -H "Authorization: Bearer $TRIBUTARY_TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(
        {
          query: 'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
          variables: {
            input: {
              edgesToAdd: [
                {
                  upstreamUrn: 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)',
                  downstreamUrn: urn
                }
              ],
              edgesToRemove: []
            }
          }
        }
      ).replaceAll("'", String.raw`'\''`)}'`}
    />
    <div class="row">
      {canWrite() && (
        <a class="button" href={addressOf('edit-lineage', { urn })}>
          {words.empty.edit}
        </a>
      )}
      <a class="button" href={assetAddress(urn)}>
        {words.drawer.open}
      </a>
    </div>
  </div>
)
