/**
 * Removes secrets from texts. Separate from the log, so that the command line can use it without starting
 * one.
 */

const passwordInUrl = /:\/\/([^\s:@/"\\]*):[^\s@/"\\]+@/g
const bearerInText = /\b(bearer\s+)[\w.~+/=-]{6,}/gi

/** Removes passwords and bearer tokens from a text for people or logs. */
export function withoutSecrets(text: string): string {
  return text.replace(passwordInUrl, '://$1:[redacted]@').replace(bearerInText, '$1[redacted]')
}
