/** The page of loads: all loads, and a place to drop a file; or the load in the address. */
import { canWrite } from '../api/session.ts'
import { loadsQuery } from '../api/load-queries.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { useAddress } from '../parts/use-address.ts'
import '../style/loads.css'
import { DropFile } from './loads/drop-file.tsx'
import { LoadDetail } from './loads/load-detail.tsx'
import { LoadList, QueueBanner } from './loads/load-list.tsx'

export function LoadsPage() {
  const { query } = useAddress('loads')
  return (
    <div class="stack">
      <QueueBanner />
      {query.id ? (
        <LoadDetail key={query.id} id={query.id} />
      ) : (
        <>
          {canWrite() && <DropFile />}
          <LoadList />
          <CopyAs
            graphql={{ text: loadsQuery.text, variables: { count: 50 } }}
            command="tributary load list"
          />
        </>
      )}
    </div>
  )
}
