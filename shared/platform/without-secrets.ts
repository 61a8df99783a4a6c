/** Takes secrets out of texts. Apart from the log, so that the command line need not start one. */

const passwordInUrl = /:\/\/([^\s:@/"\\]*):[^\s@/"\\]+@/g
const bearerInText = /\b(bearer\s+)[\w.~+/=-]{6,}/gi

/** Takes passwords and bearer tokens out of a text that goes to people or logs. */
export function withoutSecrets(text: string): string {
  return text.replace(passwordInUrl, '://$1:[redacted]@').replace(bearerInText, '$1[redacted]')
}
