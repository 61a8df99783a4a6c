/** Connections that are held open: heads and bodies that never end, silent uploads, streams that nobody reads. */

export type SlowConnections = {
  name: string
  count: number
  /** Sent at once, and then one `drip` each second. `<token>` and `<load>` as in probes. */
  begin: string
  drip: string
}

const withToken = 'Host: x\r\nAuthorization: Bearer <token>\r\n'

/** Meanwhile another client must be able to send a load, and to follow it. */
export const slowConnections: readonly SlowConnections[] = [
  {
    name: 'heads that never end',
    count: 200,
    begin: 'GET /api/limits HTTP/1.1\r\nHost: x\r\n',
    drip: 'X-A: b\r\n'
  },
  {
    name: 'bodies that never end',
    count: 200,
    begin: `POST /api/graphql HTTP/1.1\r\n${withToken}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"query":"`,
    drip: ' '
  },
  {
    name: 'loads that never end',
    count: 200,
    begin: `POST /loads?format=ndjson HTTP/1.1\r\n${withToken}Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n38\r\n{"op":"createDomain","id":"slow","name":"Slow","more":1}\r\n`,
    drip: '1\r\n\n\r\n'
  },
  {
    name: 'streams of events that are not read',
    count: 300,
    begin: `GET /loads/<load>/events HTTP/1.1\r\n${withToken}\r\n`,
    drip: ''
  }
]
