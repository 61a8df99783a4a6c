/** All aspects of an entity as JSON, each with its older versions. */
import { Select } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { readAspectVersion, type Aspect, type Aspects } from '../../api/aspects.ts'
import { lastPartOf } from '../../api/entity.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { whenText } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'

const words = assetTexts.raw

/** The number of versions that the catalog keeps. */
const versionsMaxCount = 20

export const Raw = ({ urn, aspects }: { urn: string; aspects: Aspects }) => {
  const names = Object.keys(aspects).sort()
  return names.length === 0 ? (
    <p class="soft">{words.none}</p>
  ) : (
    <div class="stack">
      {names.length > 1 && (
        <nav class="row" aria-label={words.list}>
          {names.map((name) => (
            <a key={name} class="chip" href={`#${name}`}>
              {name}
            </a>
          ))}
        </nav>
      )}
      {names.map((name) => {
        const aspect = aspects[name]
        return aspect && <RawAspect key={name} urn={urn} name={name} newest={aspect} />
      })}
    </div>
  )
}

function RawAspect({ urn, name, newest }: { urn: string; name: string; newest: Aspect }) {
  const [version, setVersion] = useState(0)
  const older = useResource(version === 0 ? null : `${urn} ${name} ${version}`, (signal) =>
    readAspectVersion(urn, name, version, signal)
  )
  const aspect = version === 0 ? newest : older.data
  const oldest = Math.max(1, newest.version - versionsMaxCount + 1)
  const versions = Array.from(
    { length: Math.max(0, newest.version - oldest) },
    (_, index) => newest.version - 1 - index
  )
  const text = aspect ? JSON.stringify(aspect.value, null, 2) : ''
  return (
    <section class="panel stack" aria-label={name} id={name}>
      <div class="row apart">
        <h2>
          <code>{name}</code>
        </h2>
        <span class="row">
          {versions.length > 0 && (
            <Select
              label={words.version(name)}
              value={String(version)}
              change={(chosen) => setVersion(Number(chosen))}
              options={[
                ['0', words.newest],
                ...versions.map((each) => [String(each), words.number(each)] as const)
              ]}
            />
          )}
          <CopyButton text={text} label={words.copy} />
        </span>
      </div>
      {version !== 0 && older.error && <Failure error={older.error} retry={older.reload} />}
      {!aspect && !older.error && <Loading />}
      {aspect?.writtenAt && (
        <p class="soft">{words.written(whenText(aspect.writtenAt), lastPartOf(aspect.actor ?? ''))}</p>
      )}
      {aspect && (
        <pre class="run-text" tabIndex={0} aria-label={name}>
          {text}
        </pre>
      )}
    </section>
  )
}
