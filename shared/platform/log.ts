/** The log: JSON lines on standard output, with secrets taken out. Messages are constant sentences, data are fields. */
import { pino, type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'

export type Log = Logger

const secretFields = ['authorization', 'cookie', 'token', 'password', 'secret', 'databaseUrl', 'redisUrl', 'clientToken',
  'bootstrapToken', 'metricsToken', 'DATABASE_URL', 'REDIS_URL', 'TRIBUTARY_TOKEN', 'TRIBUTARY_BOOTSTRAP_TOKEN', 'METRICS_TOKEN',
  '["set-cookie"]', '["x-api-key"]']

/** pino redacts by path: each field at the top, and up to three levels below. */
const redactedPaths = secretFields.flatMap(field => {
  const below = field.startsWith('[') ? field : `.${field}`
  return [field, `*${below}`, `*.*${below}`, `*.*.*${below}`]
})

/** Passwords in URLs and bearer tokens inside a text, such as the message of a driver's error. */
const passwordInUrl = /([a-z][a-z0-9+.-]*:\/\/[^\s:@/"\\]*):[^\s@/"\\]+@/gi
const bearerInText = /\b(bearer\s+)[\w.~+/=-]{6,}/gi

/** Takes passwords and bearer tokens out of a text that goes to people or logs. */
export function withoutSecrets(text: string): string {
  return text.replace(passwordInUrl, '$1:[redacted]@').replace(bearerInText, '$1[redacted]')
}

/** `destination` is standard output unless a test wants the lines. */
export function createLog(config: Pick<Config, 'logLevel'>, destination?: DestinationStream): Log {
  return pino({
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    redact: { paths: redactedPaths, censor: '[redacted]' },
    hooks: { streamWrite: withoutSecrets }
  }, destination ?? pino.destination({ fd: 1, sync: true }))
}
