/** The process: configuration, log, metrics, start and stop. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { ConfigError, readConfig } from '../shared/platform/config.ts'
import {
  createService,
  runServices,
  startServices,
  stopServices,
  type ProcessHost,
  type Service
} from '../shared/platform/lifecycle.ts'
import { createLog } from '../shared/platform/log.ts'
import { withoutSecrets } from '../shared/platform/without-secrets.ts'
import { beforeScrape, metrics, renderMetrics } from '../shared/platform/metrics.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { postgresOptions } from '../shared/platform/postgres-url.ts'
import { clusterOptions, connectRedis, redisOptions } from '../shared/queue/redis-place.ts'
import { withRedisServer } from './support/redis.ts'
import { createTapFilter, readTapResults } from './support/tap-results.ts'
import { withResolver } from './support/with-resolver.ts'
import { workerPoolMax } from '../worker/start.ts'

t.test('configuration', async (t) => {
  t.test('an empty environment gives every default', async (t) => {
    const config = readConfig({})
    t.match(config, {
      databaseUrl: null,
      redisUrl: null,
      redisTlsVerify: false,
      port: 8080,
      workerPort: null,
      logLevel: 'info',
      dataDir: '.data',
      missingReferences: 'reject',
      databasePoolApi: 6,
      databasePoolWorker: 4,
      workerConcurrency: 2,
      shutdownSeconds: 20
    })
    t.ok(Object.isFrozen(config))
  })

  t.test('one API and three workers stay within 20 connections', async (t) => {
    const config = readConfig({})
    t.ok(config.databasePoolApi + 3 * workerPoolMax(config) <= 20)
    t.equal(workerPoolMax(config), config.databasePoolWorker, 'a worker uses as many as the key says')
  })

  t.test(
    'an embedded server listens on this machine only, one with DATABASE_URL everywhere, HOST wins',
    async (t) => {
      t.equal(readConfig({}).host, '127.0.0.1')
      t.equal(readConfig({ DATABASE_URL: 'postgres://db/x' }).host, '0.0.0.0')
      t.equal(readConfig({ DATABASE_URL: 'postgres://db/x', HOST: '::' }).host, '::')
    }
  )

  t.test('an empty value counts as absent', async (t) => {
    t.equal(readConfig({ PORT: '', DATABASE_URL: ' ' }).port, 8080)
  })

  t.test('all bad keys are reported at once, without their values', async (t) => {
    const env = {
      DATABASE_URL: 'mysql://root:hunter2@db',
      PORT: '80a',
      LOG_LEVEL: 'loud',
      REDIS_TLS_VERIFY: 'maybe',
      METRICS_TOKEN: 'short'
    }
    try {
      readConfig(env)
      t.fail('the configuration was accepted')
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      t.same(
        error.problems.map((problem) => problem.split(' ')[0]),
        Object.keys(env).toSorted((a, b) => error.message.indexOf(a) - error.message.indexOf(b))
      )
      t.equal(error.problems.length, 5)
      for (const value of Object.values(env)) t.notOk(error.message.includes(value), 'no value is repeated')
    }
  })

  t.test('numbers outside their range are refused', async (t) => {
    for (const PORT of ['65536', '-1', '1e3', '0x50', '8080.0'])
      t.throws(() => readConfig({ PORT }), /PORT must be a whole number from 0 to 65535/)
  })
})

function problemsOf(env: { [key: string]: string }): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

t.test('the address of Redis', async (t) => {
  const place = (env: { [key: string]: string }) => {
    const config = readConfig(env)
    return redisOptions({ ...config, redisUrl: config.redisUrl ?? '' })
  }

  t.test('is that of one server, or of Sentinels that know the primary by its name', async (t) => {
    t.match(place({ REDIS_URL: 'redis://cache:6380/2' }), { url: 'redis://cache:6380/2' })
    t.match(
      place({
        REDIS_URL: 'rediss://app:p%40ss@mymaster/2',
        REDIS_SENTINELS: 'one:26379, [::1]:26380',
        REDIS_SENTINEL_PASSWORD: 'other',
        REDIS_TLS_VERIFY: 'true'
      }),
      {
        url: undefined,
        sentinels: [
          { host: 'one', port: 26_379 },
          { host: '::1', port: 26_380 }
        ],
        name: 'mymaster',
        username: 'app',
        password: 'p@ss',
        sentinelPassword: 'other',
        db: 2,
        tls: { rejectUnauthorized: true },
        sentinelTLS: { rejectUnauthorized: true },
        enableTLSForSentinelMode: true
      }
    )
  })

  t.test('is looked up again when a former primary refuses a write, also that of a script', async (t) => {
    const { reconnectOnError } = place({ REDIS_URL: 'redis://mymaster', REDIS_SENTINELS: 'one:26379' })
    const refusal = "READONLY You can't write against a read only replica."
    t.equal(reconnectOnError(new Error(refusal)), true)
    t.equal(
      reconnectOnError(new Error(`ERR Error running script (call to f_1): @user_script:1: -${refusal}`)),
      true
    )
    t.equal(reconnectOnError(new Error('OOM command not allowed')), false)
  })

  t.test(
    'is that of some nodes of a Redis Cluster, all with the user and the encryption of the URL',
    async (t) => {
      const env = {
        REDIS_URL: 'rediss://app:p%40ss@[::1]:7000/0',
        REDIS_CLUSTER_NODES: 'two:7001, [::1]:7002',
        REDIS_TLS_VERIFY: 'true'
      }
      const { nodes, options } = clusterOptions(
        { ...readConfig(env), redisUrl: env.REDIS_URL },
        { commandTimeout: 1_000, retryStrategy: () => 7 }
      )
      t.strictSame(nodes, [
        { host: '::1', port: 7_000 },
        { host: 'two', port: 7_001 },
        { host: '::1', port: 7_002 }
      ])
      t.strictSame(options.redisOptions, {
        commandTimeout: 1_000,
        tls: { rejectUnauthorized: true },
        username: 'app',
        password: 'p@ss'
      })
      t.equal(options.maxRedirections, 10, 'sent again for no longer than it may take')
      let lookedUp: unknown
      options.dnsLookup('two', (_error, address) => {
        lookedUp = address
      })
      t.equal(lookedUp, 'two', 'the name stays, since the certificate is for it')
    }
  )

  t.test('needs the name of the primary, in the URL, if Sentinels are named', async (t) => {
    t.match(problemsOf({ REDIS_SENTINELS: 'one:26379' }), [
      /^REDIS_URL must be set if REDIS_SENTINELS is: its host is the name of the primary$/
    ])
    t.strictSame(problemsOf({ REDIS_SENTINELS: 'one:26379', REDIS_URL: 'redis://mymaster' }), [])
  })

  t.test('has a password that can be decoded', async (t) => {
    for (const REDIS_URL of ['redis://:50%@one', 'rediss://u%zz:secret@one/0'])
      t.match(
        problemsOf({ REDIS_URL }),
        [/^REDIS_URL must be a URL whose user and password have %25 for each %$/],
        REDIS_URL
      )
    t.match(problemsOf({ DATABASE_URL: 'postgres://u:50%@/x?host=/tmp' }), [/^DATABASE_URL must be/])
    t.strictSame(problemsOf({ REDIS_URL: 'redis://:50%25@one' }), [])
  })

  t.test('of a Redis Cluster contradicts no other key', async (t) => {
    const nodes = { REDIS_CLUSTER_NODES: 'one:6379,two:6379' }
    for (const [env, problem] of [
      [
        { REDIS_URL: 'redis://one', REDIS_SENTINELS: 's:26379' },
        /^REDIS_CLUSTER_NODES must be absent if REDIS_SENTINELS is set/
      ],
      [{}, /^REDIS_URL must be the URL of one of REDIS_CLUSTER_NODES/],
      [{ REDIS_URL: 'redis://:secret@/0' }, /^REDIS_URL must be the URL of one of REDIS_CLUSTER_NODES/],
      [{ REDIS_URL: 'redis://one/1' }, /^REDIS_URL must be without a database number/],
      [{ REDIS_URL: 'redis://one?db=1' }, /^REDIS_URL must be without a database number/],
      [{ REDIS_URL: 'http://one' }, /^REDIS_URL must be a URL that begins with/],
      [
        { REDIS_URL: 'redis://one', REDIS_CLUSTER_NODES: 'one' },
        /^REDIS_CLUSTER_NODES must be addresses such as node-1:6379/
      ]
    ] as const)
      t.match(problemsOf({ ...nodes, ...env }), [problem], JSON.stringify(env))
    for (const REDIS_URL of [
      'redis://one',
      'redis://one/',
      'redis://one/0',
      'rediss://:secret@one:7000?db=0'
    ])
      t.strictSame(problemsOf({ ...nodes, REDIS_URL }), [], REDIS_URL)
  })

  t.test('has a port for each Sentinel', async (t) => {
    for (const REDIS_SENTINELS of ['one', 'one:26379,', 'redis://one:26379', 'one:70000', 'one two:1'])
      t.throws(
        () => readConfig({ REDIS_SENTINELS }),
        /REDIS_SENTINELS must be addresses such as/,
        REDIS_SENTINELS
      )
  })
})

t.test('the URL of Postgres', async (t) => {
  t.test('a socket folder may be given in the query', async (t) => {
    const socket = { host: '/tmp/a b', port: 5432, database: 'x', user: 'u', ssl: false }
    t.match(await postgresOptions('postgresql://u@localhost/x?host=%2Ftmp%2Fa%20b'), socket)
    t.match(await postgresOptions('postgresql://u@/x?host=/tmp/a%20b'), socket)
    t.match(await postgresOptions('postgresql:///x?host=/tmp/a%20b&user=u'), socket)
    t.match(await postgresOptions('postgresql://u@%2Ftmp%2Fa%20b/x'), socket)
  })

  t.test('each sslmode encrypts and verifies as libpq does', async (t) => {
    const ca = packagePath('package.json')
    const modes: [string, unknown][] = [
      ['sslmode=disable', false],
      ['sslmode=allow', false],
      ['sslmode=require', { rejectUnauthorized: false }],
      ['sslmode=no-verify', { rejectUnauthorized: false }],
      ['sslmode=verify-ca', { rejectUnauthorized: true, checkServerIdentity: Function }],
      ['sslmode=verify-full', { rejectUnauthorized: true, checkServerIdentity: undefined }],
      [
        `sslmode=require&sslrootcert=${ca}`,
        { rejectUnauthorized: true, checkServerIdentity: Function, ca: String }
      ],
      ['ssl=true', { rejectUnauthorized: true }],
      ['ssl=false', false]
    ]
    for (const [query, ssl] of modes)
      t.match((await postgresOptions(`postgres://u:p@db.example/x?${query}`)).ssl, ssl, query)
    await t.rejects(postgresOptions('postgres://db.example/x?sslmode=maybe'), /sslmode .* must be one of/)
  })

  t.test('names and passwords are decoded, and this machine is not asked for encryption', async (t) => {
    t.match(await postgresOptions('postgres://a%40b:p%2Fw@127.0.0.1:6000/my%20db'), {
      user: 'a@b',
      password: 'p/w',
      host: '127.0.0.1',
      port: 6000,
      database: 'my db',
      ssl: false
    })
    t.match(await postgresOptions('postgres://[::1]/x'), { host: '::1', user: 'postgres', ssl: false })
  })

  t.test('an unreachable server is named by the error of the socket', async (t) => {
    await t.rejects(postgresOptions('postgres://tributary.invalid/x'), { code: /ENOTFOUND|EAI_AGAIN/ })
  })
})

t.test('log', async (t) => {
  function capture(): { lines: string[]; log: ReturnType<typeof createLog> } {
    const lines: string[] = []
    return {
      lines,
      log: createLog(
        { logLevel: 'info' },
        {
          write: (line) => {
            lines.push(line)
          }
        }
      )
    }
  }

  t.test('secrets are taken out, in fields at any depth and inside texts', async (t) => {
    const { lines, log } = capture()
    const secret = 'hunter2-hunter2'
    log.info(
      {
        token: secret,
        req: {
          headers: { authorization: `Bearer ${secret}`, cookie: secret, 'set-cookie': [secret, secret] }
        },
        config: {
          databaseUrl: `postgres://u:${secret}@db/x`,
          redisUrl: `${secret}\\ "quoted" ${secret}`,
          bootstrapToken: secret,
          deep: { deeper: { still: { password: secret } } }
        },
        env: { DATABASE_URL: secret, REDIS_URL: secret },
        err: new Error(`connect failed: rediss://default:${secret}@redis.example:6379`),
        note: `sent Authorization: Bearer ${secret}`
      },
      'a message'
    )
    const text = lines.join('')
    t.notOk(text.includes(secret), text)
    t.match(JSON.parse(text), {
      level: 'info',
      msg: 'a message',
      req: { headers: { authorization: '[redacted]' } }
    })
  })

  t.test('a password that Redis refuses is not logged, even if a node of a cluster refuses it', async (t) => {
    const { lines, log } = capture()
    const server = await withRedisServer(t)
    if (server === null) return
    const admin = connectRedis({ ...readConfig({}), redisUrl: server.url }, {})
    await admin.config('SET', 'requirepass', 'right')
    admin.disconnect()
    const secret = 'hunter2]hunter2'
    const redisUrl = server.url.replace('//', `//:${encodeURIComponent(secret)}@`)
    for (const redisClusterNodes of [null, [{ host: '127.0.0.1', port: Number(new URL(redisUrl).port) }]]) {
      const client = connectRedis({ ...readConfig({}), redisUrl, redisClusterNodes }, {})
      log.error({ err: await new Promise((resolve) => client.once('error', resolve)) })
      client.disconnect()
    }
    const text = lines.join('')
    t.notOk(text.includes('hunter2'), text)
    t.match(
      lines.map((line) => JSON.parse(line)),
      [
        { err: { message: /WRONGPASS/, command: 'hello' } },
        { err: { lastNodeError: { message: /WRONGPASS/, command: 'auth' } } }
      ]
    )
  })

  t.test('a URN and an ordinary URL stay whole', async (t) => {
    const urn = 'urn:li:dataset:(urn:li:dataPlatform:snowflake,sales.orders@eu,PROD)'
    t.equal(withoutSecrets(`${urn} http://host:8080/a@b`), `${urn} http://host:8080/a@b`)
  })

  t.test('messages below the level are not logged', async (t) => {
    const { lines, log } = capture()
    log.debug('quiet')
    t.same(lines, [])
  })
})

t.test('metrics', async (t) => {
  t.test('every name has the prefix and says its unit', async (t) => {
    const { text } = await renderMetrics()
    const names = [...text.matchAll(/^# TYPE (tributary_\S+) (\S+)$/gm)]
    t.ok(names.length >= Object.keys(metrics).length)
    for (const [, name = '', kind] of names) {
      if (kind === 'counter') t.match(name, /_total$/)
      if (kind === 'histogram') t.match(name, /_seconds$/)
    }
    t.match(text, /^process_cpu_seconds_total /m, 'the process is measured too')
  })

  t.test('a collector that fails costs its own metric only', async (t) => {
    const end = beforeScrape(() => Promise.reject(new Error('away')))
    metrics.queueUp.set(1)
    t.match((await renderMetrics()).text, /^tributary_queue_up 1$/m)
    end()
  })
})

t.test('start and stop', async (t) => {
  function recorded(names: readonly string[], failing = ''): { calls: string[]; services: Service[] } {
    const calls: string[] = []
    const services = names.map((name) =>
      createService(name, {
        start: async () => {
          calls.push(`start ${name}`)
          if (name === failing) throw new Error(`${name} failed`)
        },
        stop: async () => {
          calls.push(`stop ${name}`)
        }
      })
    )
    return { calls, services }
  }

  t.test('services start in order and stop in reverse', async (t) => {
    const { calls, services } = recorded(['a', 'b'])
    await startServices(services)
    await stopServices(services)
    t.same(calls, ['start a', 'start b', 'stop b', 'stop a'])
  })

  t.test('a service may be stopped twice, and before it has started', async (t) => {
    const {
      calls,
      services: [service]
    } = recorded(['a'])
    await service?.stop()
    await service?.stop()
    t.same(calls, [])
    await t.rejects(service?.start() ?? Promise.resolve(), /a has been stopped/)
  })

  t.test('a stop during the start waits for the start', async (t) => {
    const calls: string[] = []
    const service = createService('slow', {
      start: async () => {
        await new Promise((resolve) => {
          setTimeout(resolve, 20)
        })
        calls.push('started')
      },
      stop: async () => {
        calls.push('stopped')
      }
    })
    const starting = service.start()
    await service.stop()
    await starting
    t.same(calls, ['started', 'stopped'])
  })

  t.test('when one fails to start, those before it are stopped and its error is thrown', async (t) => {
    const { calls, services } = recorded(['a', 'b', 'c'], 'b')
    await t.rejects(startServices(services), /b failed/)
    t.same(calls, ['start a', 'start b', 'stop b', 'stop a'])
  })

  /** A process that receives signals and reports its exit code instead of ending. */
  function fakeProcess(): {
    host: ProcessHost
    send: (event: string, reason?: unknown) => void
    exited: Promise<number>
  } {
    const emitter = new EventEmitter()
    const { promise: exited, resolve } = withResolver<number>()
    return {
      host: { on: (event, listener) => emitter.on(event, listener), exit: resolve },
      send: (event, reason = event) => {
        emitter.emit(event, reason)
      },
      exited
    }
  }

  const log = createLog({ logLevel: 'silent' })

  t.test('SIGTERM stops the services and ends with 0', async (t) => {
    const { calls, services } = recorded(['a'])
    const { host, send, exited } = fakeProcess()
    await runServices(services, { log, shutdownMs: 1_000, host })
    send('SIGTERM')
    t.equal(await exited, 0)
    t.same(calls, ['start a', 'stop a'])
  })

  t.test('a second signal, or the deadline, ends a stop that hangs', async (t) => {
    const hanging = (): Service =>
      createService('hangs', { start: async () => {}, stop: () => new Promise(() => {}) })
    const impatient = fakeProcess()
    await runServices([hanging()], { log, shutdownMs: 500, host: impatient.host })
    impatient.send('SIGINT')
    impatient.send('SIGINT')
    t.equal(await impatient.exited, 130)
    const late = fakeProcess()
    await runServices([hanging()], { log, shutdownMs: 20, host: late.host })
    late.send('SIGTERM')
    t.equal(await late.exited, 1)
  })

  t.test(
    'an unhandled rejection, or the end of a server that is needed, stops the services and ends with 1',
    async (t) => {
      const unhandled = recorded(['a'])
      const first = fakeProcess()
      await runServices(unhandled.services, { log, shutdownMs: 1_000, host: first.host })
      first.send('unhandledRejection', new Error('nobody looked'))
      t.equal(await first.exited, 1)
      t.same(unhandled.calls, ['start a', 'stop a'])
      const second = fakeProcess()
      await runServices(recorded(['b']).services, {
        log,
        shutdownMs: 1_000,
        host: second.host,
        failed: Promise.resolve('ended')
      })
      t.equal(await second.exited, 1)
    }
  )
})

t.test('the results of a test run', async (t) => {
  const stream = [
    'TAP version 14',
    '# Subtest: a.test.js',
    '    # Subtest: outer',
    '        ok 1 - inner one',
    '        not ok 2 - inner two',
    '          ---',
    '          not ok 9 - quoted in the details',
    '          ...',
    '        1..2',
    '    not ok 1 - outer # time=3ms',
    '      ---',
    '      at: a',
    '      ...',
    '    ok 2 - needs a tool # SKIP the tool is not installed',
    'printed by a test',
    'not ok 1 - a.test.js # time=9ms',
    'ok 2 - b.test.js # time=1ms',
    '1..2'
  ]

  t.test('the innermost points are counted, and the skipped ones named', async (t) => {
    t.same(readTapResults(stream.join('\n')), {
      passed: 2,
      failed: 1,
      skipped: [{ name: 'needs a tool', reason: 'the tool is not installed' }]
    })
  })

  t.test('a file whose process is killed within a test counts as failed', async (t) => {
    const killed = [
      '        ok 1 - inner',
      '    not ok 0 - the process ended by SIGTERM',
      'not ok 1 - a.test.js'
    ]
    t.match(readTapResults(killed.join('\n')), { passed: 1, failed: 1 })
  })

  t.test('failures are shown, the innermost with their details', async (t) => {
    t.same(
      stream.filter(createTapFilter()).map((line) => line.trim()),
      [
        'not ok 2 - inner two',
        '---',
        'not ok 9 - quoted in the details',
        '...',
        'not ok 1 - outer # time=3ms',
        'printed by a test',
        'not ok 1 - a.test.js # time=9ms',
        'ok 2 - b.test.js # time=1ms'
      ]
    )
  })
})
