/**
 * Reads a Postgres URL as libpq does, for our own pools and those of the queue.
 *
 * Node drivers disagree about `sslmode` and ignore libpq's default (`prefer`: encrypted if the server can).
 * The URLs of hosting platforms rely on that default.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/** How the server's certificate is checked. `ca` and the client's certificate and key are PEM texts. */
type PostgresTls = {
  rejectUnauthorized: boolean
  ca?: string
  cert?: string
  key?: string
  checkServerIdentity?: () => undefined
}

export type PostgresOptions = {
  host: string
  port: number
  database: string
  user: string
  password?: string
  ssl: PostgresTls | false
}

/** `disable` and `allow` never encrypt. `prefer` encrypts if the server can. The others always encrypt. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof sslModes)[number]

const probeTimeoutMs = 5_000

/**
 * Options for connecting to the URL. Understands `?host=` (a socket folder), `port`, `user`, `password`,
 * `dbname`, `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and `ssl=true`. Without sslmode it is `prefer`.
 *
 * With `prefer` and a host that is not this machine, asks the server over one short connection whether it can
 * encrypt. Throws an Error for an invalid URL, an unknown sslmode, or a certificate file that cannot be read.
 */
export async function postgresOptions(text: string): Promise<PostgresOptions> {
  const { url, query } = parseUrl(text)
  const host = query('host') ?? (decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost')
  const port = Number(query('port') ?? (url.port || '5432'))
  const user = query('user') ?? (decodeURIComponent(url.username) || 'postgres')
  const database = query('dbname') ?? (decodeURIComponent(url.pathname.slice(1)) || user)
  const password = query('password') ?? decodeURIComponent(url.password)
  const ssl = host.startsWith('/') ? false : await tlsOf(query, host, port)
  return { host, port, database, user, ssl, ...(password === '' ? {} : { password }) }
}

type Query = (name: string) => string | undefined

function parseUrl(text: string): { url: URL; query: Query } {
  // `user@/db?host=/socket` has no host: the URL standard refuses that, libpq accepts it.
  const withHost = text
    .replace(/^(\w+:\/\/[^/?#]*@)(?=[/?])/, '$1localhost')
    .replace(/^(\w+:\/\/)(?=[/?])/, '$1localhost')
  if (!URL.canParse(withHost)) throw new Error('The URL of the database cannot be read')
  const url = new URL(withHost)
  return { url, query: (name) => url.searchParams.get(name) || undefined }
}

async function tlsOf(query: Query, host: string, port: number): Promise<PostgresTls | false> {
  const mode = sslModeOf(query)
  if (mode === 'disable' || mode === 'allow') return false
  if (mode === 'prefer' && (isThisMachine(host) || !(await serverEncrypts(host, port)))) return false
  const files = {
    ...pem('ca', query('sslrootcert')),
    ...pem('cert', query('sslcert')),
    ...pem('key', query('sslkey'))
  }
  if (mode === 'verify-full') return { rejectUnauthorized: true, ...files }
  // As in libpq, `require` with a root certificate means verify-ca.
  if (mode === 'verify-ca' || (mode === 'require' && files.ca !== undefined)) {
    return { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...files }
  }
  return { rejectUnauthorized: false, ...files }
}

function sslModeOf(query: Query): SslMode {
  const text = query('sslmode')
  if (text === undefined) {
    const ssl = query('ssl')
    if (ssl === undefined) return 'prefer'
    return ssl === 'true' || ssl === '1' ? 'verify-full' : 'disable'
  }
  const mode = sslModes.find((known) => known === text)
  if (mode === undefined)
    throw new Error(`The sslmode of the database URL must be one of ${sslModes.join(', ')}`)
  return mode
}

function pem<Name extends string>(name: Name, path: string | undefined): { [Key in Name]?: string } {
  if (path === undefined || path === 'system') return {}
  // Safe: the computed key is Name.
  return { [name]: readFileSync(path, 'utf8') } as { [Key in Name]?: string }
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/**
 * Sends the protocol's SSLRequest; the server answers S or N. Rejects with the socket's error if nothing
 * answers.
 */
function serverEncrypts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: probeTimeoutMs })
    socket.on('connect', () => socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])))
    socket.on('data', (data) => {
      socket.destroy()
      resolve(data[0] === 0x53)
    })
    socket.on('timeout', () =>
      socket.destroy(Object.assign(new Error(`connect ETIMEDOUT ${host}:${port}`), { code: 'ETIMEDOUT' }))
    )
    socket.on('error', reject)
    socket.on('close', () => resolve(false))
  })
}
