/**
 * The table of threats, and what shows that each is met: attacks and probes of this folder, by how their names
 * begin, and tests, by file and title. A test holds it against what exists.
 *
 * S-… are our own rows; API… are those of the OWASP API Security Top 10 (2023).
 */

/** `tests` has `file: title` for each. */
export type ThreatRow = { threat: string; attacks?: readonly string[]; tests?: readonly string[] }

export const threats: { readonly [id: string]: ThreatRow } = {
  // Tokens
  'S-01': {
    threat: 'a token that is mistyped, or not one',
    attacks: ['Authorization: '],
    tests: [
      'test/auth.test.ts: a mistyped token costs no query',
      'test/auth.test.ts: is refused when any character behind the prefix is mistyped'
    ]
  },
  'S-02': {
    threat: 'tokens in the database or the log',
    attacks: [
      'a token in the query string',
      'a path that cannot be decoded',
      'a secret in a path that is logged'
    ],
    tests: ['test/auth.test.ts: the catalog keeps no token']
  },
  'S-03': {
    threat: 'answers that tell how near a guess is',
    tests: [
      'test/auth.test.ts: every reason to refuse a token has the same answer',
      'test/bad-input.test.ts: B003d'
    ]
  },
  'S-04': {
    threat: 'a token that is revoked or expired',
    attacks: ['a revoked token', 'an expired token'],
    tests: [
      'test/auth.test.ts: a verdict is remembered for a second at most',
      'test/load-pressure.test.ts: whose token is revoked meanwhile are refused, and nothing of them is applied'
    ]
  },
  'S-05': {
    threat: 'a scope that does not cover the operation',
    attacks: ['a token for reading writes', 'a token for reading reads', 'a token for writing'],
    tests: ['test/auth.test.ts: scopes']
  },
  'S-06': {
    threat: 'a first token that somebody else knows',
    tests: [
      'test/auth.test.ts: is made once, however many processes start together',
      'test/auth.test.ts: is the one that the operator chose'
    ]
  },
  'S-07': {
    threat: 'access while the database cannot check the token',
    tests: ['test/auth.test.ts: requests are refused while the database does not answer']
  },
  'S-08': {
    threat: 'a spelling of a path, or a method, that passes the check',
    attacks: [
      'a path spelt',
      'the address of another server as the path',
      'the method ',
      'another method in',
      'an open tunnel'
    ],
    tests: ['test/auth.test.ts: no way of writing a path reaches a route without a token']
  },
  'S-09': {
    threat: 'work before the token is checked',
    attacks: ['introspection without a token', 'a misspelt field without a token'],
    tests: ['test/auth.test.ts: a bad token is refused before the body is read']
  },
  'S-10': {
    threat: 'an actor that a header or a body names',
    attacks: [
      'a header that names an actor',
      'an actor in a header beside a token',
      'an actor in a proposal'
    ],
    tests: ['test/auth.test.ts: only the token decides who acts']
  },
  'S-11': {
    threat: 'loads of another token',
    attacks: [
      'a load of another token',
      'the writer sees its own load',
      'the list of loads',
      'an id of a load',
      'an idempotency key of another token',
      'a cursor of loads'
    ],
    tests: [
      'test/load-routes.test.ts: a load is undone over REST and over GraphQL, by tokens that may control it'
    ]
  },
  'S-12': {
    threat: 'system fields that a client sets',
    attacks: [
      'system fields in a record',
      'a system field in an input',
      'a system field in the query of a load',
      'an undo as a record',
      'the form of undos',
      'rights in the request of a session'
    ]
  },

  // Resources
  'S-13': {
    threat: 'deep GraphQL documents, also by fragments',
    attacks: [
      'a document: nested',
      'a document: introspection nested',
      'a document: a field named __schema',
      'a list literal nested'
    ],
    tests: ['test/strange-input.test.ts: a GraphQL document has a limited number of open brackets at once']
  },
  'S-14': {
    threat: 'aliases, repeated fields, and documents that multiply',
    attacks: [
      'a document: 31 aliases',
      'a document: 5,000 aliases',
      'a document: 6,000 times',
      'a document: fragments that double',
      'a field repeated 1,200 times',
      'parentDomains by',
      'lineage by 4 aliases'
    ]
  },
  'S-15': {
    threat: 'floods of directives and of errors',
    attacks: ['a document: 3,000 unknown directives', '2,500 wrong fields']
  },
  'S-16': {
    threat: 'batches of GraphQL requests',
    attacks: ['a body of GraphQL'],
    tests: ['test/bad-input.test.ts: B009']
  },
  'S-17': {
    threat: 'introspection, suggestions and query pages for everybody',
    attacks: ['introspection without a token', 'a page of GraphQL']
  },
  'S-18': { threat: 'many mutations in one document', attacks: ['a document: 6 mutations'] },
  'S-19': {
    threat: 'bodies and variables that are too large',
    attacks: ['a variable of 300,000 keys', 'a variable with a key', 'a list of 2,000,000'],
    tests: [
      'test/api.test.ts: a body over the limit is answered with 413, whether its length is declared or not'
    ]
  },
  'S-20': {
    threat: 'many changes in one call',
    attacks: ['5,001 edges in one call', '1,000 patches of a wide aspect']
  },
  'S-21': {
    threat: 'large pages and walks',
    attacks: ['a page of ', 'one page of 10,000 results', '30 walks with facets']
  },
  'S-22': {
    threat: 'connections that are slow or silent',
    attacks: ['heads that never end', 'bodies that never end', 'loads that never end', 'streams of events'],
    tests: ['test/load-routes.test.ts: that stalls or drips is timed out']
  },
  'S-23': {
    threat: 'compressed bodies that are wrong, or bombs',
    attacks: ['a compressed load', 'a compressed body'],
    tests: [
      'test/load-routes.test.ts: that is a bomb of 10 GB is stopped early and in little memory, whatever its bytes are'
    ]
  },
  'S-24': {
    threat: 'places for uploads, streams and exports that one client takes',
    attacks: ['loads that never end', 'streams of events'],
    tests: [
      'test/load-pressure.test.ts: of one token leave places for others',
      'test/export.test.ts: is refused while its token has as many as one may, and another token has a place'
    ]
  },

  // What comes from the input, and what goes out
  'S-25': {
    threat: 'addresses in the input that the service would call',
    attacks: ['a value: ', 'addresses in an event']
  },
  'S-26': {
    threat: 'answers without the headers that restrict browsers',
    tests: [
      'test/api.test.ts: every answer has the request id, security headers, and no trace of the framework',
      'test/web-site.test.ts: has a policy that lets nothing run but its own scripts, and is in no frame'
    ]
  },
  'S-27': {
    threat: 'pages of other origins',
    attacks: [
      'a preflight',
      'an answer to another origin',
      'a redirect to another site',
      'the address of another host'
    ],
    tests: [
      'test/cors.test.ts: without CORS_ORIGINS no page of another origin may use the API',
      'test/web-session.test.ts: is refused from a page of another site'
    ]
  },
  'S-28': {
    threat: 'errors that tell how the service is made',
    attacks: ['framing: ', 'a file at '],
    tests: ['test/api.test.ts: the answer of a handler that fails has the request id and nothing else']
  },
  'S-29': {
    threat: 'lines of the log that a client writes',
    attacks: ['a line of the log', 'a header: ', 'a request id that is not one']
  },
  'S-30': {
    threat: 'methods, content types and framing that two readers understand differently',
    attacks: [
      'a content type',
      'a method of GraphQL',
      'framing: ',
      'two requests in one packet',
      'JSON in UTF-16',
      'an upgrade',
      'a WebSocket'
    ]
  },
  'S-31': {
    threat: 'keys of prototypes, and keys that are there twice',
    attacks: [
      'a prototype in',
      'a key twice',
      'an operation named like a prototype',
      'JSON of 100,000 levels'
    ]
  },
  'S-32': {
    threat: 'routes that nobody knows of',
    tests: ['test/rest-reference.test.ts: has every route except those with a reason to be left out']
  },
  'S-33': {
    threat: 'forged entries of the queue',
    tests: [
      'test/queue.test.ts: a forged job is dropped, and the next one is looked at',
      'test/queue.test.ts: a job names its chunk, and data that is not a job of ours is dropped'
    ]
  },
  'S-34': {
    threat: 'SQL and patterns in parameters',
    attacks: [
      'a comment of SQL in',
      'a union of SQL in',
      'a pause of SQL in',
      'a wildcard in',
      'the filter field',
      'a cursor of loads: SQL',
      'a scroll id'
    ]
  },
  'S-35': { threat: 'files outside of the web UI', attacks: ['a file at ', 'U+0000 in a path'] },
  'S-36': {
    threat: 'a token that is limited to a domain and writes elsewhere',
    attacks: [
      'a limited token writes elsewhere',
      'a limited administrator',
      'a load of a limited token',
      'a snapshot of a limited token',
      'changes submitted by',
      'asynchronous writes of',
      'events of OpenLineage in a load'
    ],
    tests: [
      'test/auth.test.ts: a token limited to a domain moves nothing out of it and nothing into it, through any interface'
    ]
  },
  'S-37': {
    threat: 'patches that are short and make much',
    attacks: [
      '40 copies of a list',
      '4999 moves',
      '4999 entries',
      '4999 patches',
      'a patch of 5001 operations',
      'an object of 20001 keys',
      'keys for an array',
      'a key of a million characters'
    ],
    tests: [
      'test/strange-input.test.ts: an object of too many keys, and too many values, are found in the text'
    ]
  },
  'S-38': {
    threat: 'formulas, markup and templates in values',
    attacks: [
      'a formula in',
      'markup in',
      'a template in',
      'a look-up in',
      'a command in',
      'an external entity in'
    ],
    tests: [
      'test/web-site.test.ts: has a policy that lets nothing run but its own scripts, and is in no frame'
    ]
  },
  'S-39': {
    threat: 'expensive reads that many clients send at once',
    attacks: [
      'one search of 100 prefixes',
      'a sorted search with facets',
      '30 sorted searches',
      '30 lineageGraph',
      'filtered assets of 30 domains',
      'one lineageGraph of 2,000 nodes',
      '80,000 filter values'
    ]
  },
  'S-40': {
    threat: 'dependencies without a licence or a fixed version',
    tests: [
      'test/rules/licences.test.ts: every dependency of the program has a licence that is allowed',
      'test/rules/deploy-files.test.ts: no file has a secret: they are asked for, generated or referred to'
    ]
  },
  'S-41': {
    threat: 'requests that a page of another site makes a browser send',
    attacks: ['a content type: text/plain', 'a content type: form', 'a token in a cookie'],
    tests: [
      'test/web-session.test.ts: is refused from a page of another site',
      'test/web-session.test.ts: is ignored if the request has a header Authorization',
      'test/web-session.test.ts: has the rights of its token, and no more'
    ]
  },
  'S-42': {
    threat: 'forged sign-ins and JSON Web Tokens',
    attacks: ['Authorization: a JSON Web Token without a signature'],
    tests: [
      'test/oidc.test.ts: is sent to the provider with PKCE, a state and a nonce of its own',
      'test/oidc.test.ts: comes back to the page it wanted, and to no other site',
      'test/oidc.test.ts: without the claim has no groups, even if the claim is named constructor'
    ]
  },
  'S-43': {
    threat: 'URNs and texts that take long to read, or that cannot be stored',
    attacks: ['U+0000 in a path', 'a path that cannot be decoded'],
    tests: [
      'test/urn.test.ts: time grows no faster than length, and what is over the limit is not looked at',
      'test/strange-input.test.ts: a number that would be changed is refused by its place, and nothing is stored',
      'test/fuzz.test.ts: random requests get no 5xx and no INTERNAL, and no record ends with one'
    ]
  },
  'S-44': {
    threat: 'too many requests of one client',
    tests: [
      'test/rate-limits.test.ts: failed attempts count by address, and refuse nobody who has a valid token',
      'test/rate-limits.test.ts: two processes count together'
    ]
  },
  'S-45': {
    threat: 'work of one client that is allowed, and slows all others',
    attacks: [
      'searches by CONTAIN with 200 values',
      'an ingestion with 15 threads',
      'lists of 10,000 domains',
      'writers of one asset'
    ]
  },
  'S-46': {
    threat: 'SQL that takes seconds or gigabytes to read',
    attacks: ['questions about large SQL'],
    tests: ['test/sql-lineage.test.ts: a statement that is too much ends, and its thread with it']
  },

  // OWASP API Security Top 10 (2023)
  API1: {
    threat: 'broken object level authorization',
    attacks: ['a load of another token', 'an id of a load', 'an idempotency key of another token']
  },
  API2: {
    threat: 'broken authentication',
    attacks: [
      'Authorization: ',
      'two Authorization headers',
      'a token in',
      'a revoked token',
      'an expired token'
    ]
  },
  API3: {
    threat: 'broken object property level authorization',
    attacks: [
      'system fields in a record',
      'a system field in',
      'a version in a proposal',
      'a body where none is read'
    ]
  },
  API4: {
    threat: 'unrestricted resource consumption',
    attacks: [
      'loads that never end',
      'bodies that never end',
      '30 searches of',
      '5 lineageGraph',
      'a document: ',
      '300 headers',
      'headers of 20 KB',
      'a path of 15 KB'
    ]
  },
  API5: {
    threat: 'broken function level authorization',
    attacks: [
      'a token for reading writes',
      'a token for writing administers',
      'a limited administrator lists tokens'
    ]
  },
  API6: {
    threat: 'sensitive business flows',
    attacks: [
      'a token for writing makes an administrator',
      'a limited administrator writes elsewhere: createAccessToken'
    ]
  },
  API7: {
    threat: 'server side request forgery',
    attacks: [
      'a value: the metadata of a cloud',
      'a value: a server on this machine',
      'addresses in an event',
      'an open tunnel'
    ]
  },
  API8: {
    threat: 'security misconfiguration',
    attacks: ['a page of GraphQL', 'a preflight', 'the method TRACE', 'no Host', 'HTTP/0.9']
  },
  API9: {
    threat: 'improper inventory management',
    attacks: ['a page of GraphQL'],
    tests: [
      'test/rest-reference.test.ts: has every route except those with a reason to be left out',
      'test/rest-reference.test.ts: says which routes need no token, and they do not'
    ]
  },
  API10: {
    threat: 'unsafe consumption of other services',
    tests: [
      'test/queue.test.ts: a forged job is dropped, and the next one is looked at',
      'test/oidc.test.ts: is let in only with what it began itself, once'
    ]
  }
}
