/** The keys of this machine's environment by which npm reaches its registry: through a proxy, or past a certificate of one. */
const names = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE'
]

export const registryEnv: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && names.includes(name.toUpperCase()) ? [[name, value]] : []
  )
)
