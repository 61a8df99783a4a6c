/** The REST reference: the server's own OpenAPI description as a page. */
import { FilterField } from '../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { errorOfProblem } from '../api/errors.ts'
import {
  elementOf,
  fieldsOf,
  filterGroups,
  groupsOf,
  typeText,
  type Content,
  type Json,
  type Operation
} from './reference/openapi.ts'
import { Failure, Loading } from '../parts/states.tsx'
import { useResource } from '../parts/use-resource.ts'
import { referenceTexts as words } from '../texts/reference.ts'
import '../style/reference.css'

async function read(signal: AbortSignal): Promise<Json> {
  const response = await fetch('../openapi.json', { signal })
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw errorOfProblem(response.status, body)
  return body as Json
}

const infoOf = (description: Json): { version: string } => ({
  version: String((description.info as { version?: string } | undefined)?.version ?? '')
})

export function ReferencePage() {
  const { data, error, reload } = useResource('openapi', read)
  const [filter, setFilter] = useState('')
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const groups = groupsOf(data, words.noTag)
  const shown = filterGroups(groups, filter)
  const countOf = (of: typeof groups): number =>
    of.reduce((sum, { operations }) => sum + operations.length, 0)
  return (
    <div class="stack reference">
      <div class="row apart">
        <h1>{words.title}</h1>
        <a href="../openapi.json">{words.description}</a>
      </div>
      <p class="soft">{words.intro(infoOf(data).version)}</p>
      <FilterField class="narrow" label={words.filter} value={filter} change={setFilter} />
      <p role="status" class="soft">
        {words.count(countOf(shown), countOf(groups))}
      </p>
      <nav class="row" aria-label={words.groups}>
        {shown.map(({ tag, operations }) => (
          <a key={tag} class="chip" href={`#${encodeURIComponent(tag)}`}>
            {tag} {operations.length}
          </a>
        ))}
      </nav>
      {shown.map(({ tag, description, operations }) => (
        <section key={tag} class="panel operations" aria-label={tag} id={encodeURIComponent(tag)}>
          <h2>{tag}</h2>
          {description && <p class="soft">{description}</p>}
          {operations.map((operation) => (
            <OperationView key={operation.id} description={data} operation={operation} />
          ))}
        </section>
      ))}
    </div>
  )
}

function OperationView({ description, operation }: { description: Json; operation: Operation }) {
  const { id, method, path, summary, parameters, body, answers } = operation
  return (
    <details id={id}>
      <summary>
        <code class={`method ${method.toLowerCase()}`}>{method}</code> <code>{path}</code>
        <span class="soft">{summary}</span>
      </summary>
      <div class="stack">
        {operation.description && <p class="prose as-written">{operation.description}</p>}
        {parameters.length > 0 && (
          <>
            <h3>{words.parameters}</h3>
            <div class="scrolling" tabIndex={0} role="group" aria-label={words.parameters}>
              <table>
                <thead>
                  <tr>
                    <th>{words.name}</th>
                    <th>{words.place}</th>
                    <th>{words.type}</th>
                    <th>{words.meaning}</th>
                  </tr>
                </thead>
                <tbody>
                  {parameters.map(({ name, place, type, description: meaning, isRequired }) => (
                    <tr key={`${place} ${name}`}>
                      <td>
                        <code>{name}</code> {isRequired && <span class="soft">{words.required}</span>}
                      </td>
                      <td>{place}</td>
                      <td>{type}</td>
                      <td>{meaning}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
        {body.length > 0 && (
          <>
            <h3>{words.body}</h3>
            {body.map((content) => (
              <ContentView key={content.mediaType} description={description} content={content} />
            ))}
          </>
        )}
        {answers.length > 0 && (
          <>
            <h3>{words.answers}</h3>
            {answers.map(({ status, description: meaning, content }) => (
              <div key={status} class="stack">
                <p>
                  <code>{status}</code> {meaning}
                </p>
                {content.map((each) => (
                  <ContentView key={each.mediaType} description={description} content={each} />
                ))}
              </div>
            ))}
          </>
        )}
      </div>
    </details>
  )
}

const ContentView = ({
  description,
  content: { mediaType, schema }
}: {
  description: Json
  content: Content
}) => (
  <div>
    <code>{mediaType}</code> <span class="soft">{schema ? typeText(schema) : ''}</span>
    {schema && <Fields description={description} schema={schema} depth={0} />}
  </div>
)

/** Deeper fields have schemas of their own. */
const fieldsMaxDepth = 4

function Fields({ description, schema, depth }: { description: Json; schema: Json; depth: number }) {
  const fields = fieldsOf(description, elementOf(description, schema))
  if (fields.length === 0 || depth >= fieldsMaxDepth) return null
  return (
    <ul class="fields">
      {fields.map(({ name, schema: field, isRequired }) => (
        <li key={name}>
          <code>{name}</code> <span class="soft">{typeText(field)}</span>{' '}
          {isRequired && <span class="soft">({words.required})</span>}{' '}
          {typeof field.description === 'string' && field.description}
          <Fields description={description} schema={field} depth={depth + 1} />
        </li>
      ))}
    </ul>
  )
}
