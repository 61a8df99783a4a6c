/** Words of the page of tokens. */
export const tokenTexts = {
  title: 'Access tokens',
  hint: 'A token lets a program use the API, and lets a person sign in here. It is shown once, when it is created.',
  onlyAdmins: 'Only administrators manage tokens.',
  onlyAdminsHint: 'Ask one of them for a token, or sign in with a token of the scope admin.',
  create: 'Create a token',
  name: 'Name',
  nameHint: 'A name by which you will recognize it.',
  actor: 'Author of its changes',
  scope: 'What it may do',
  scopes: {
    read: 'Read',
    write: 'Read and write',
    admin: 'Everything, including tokens and all loads'
  },
  scopeName: (scopes: readonly string[]): string => scopes.join(', '),
  limit: 'Limit it to domains',
  limitTo: (names: readonly string[]): string =>
    `Only ${names.join(', ')} and the domains below ${names.length > 1 ? 'them' : 'it'}`,
  chooseDomains: 'Choose domains',
  expiry: 'Valid for',
  durations: {
    ONE_DAY: 'A day',
    ONE_WEEK: '7 days',
    ONE_MONTH: '30 days',
    THREE_MONTHS: '90 days',
    SIX_MONTHS: '180 days',
    ONE_YEAR: '365 days',
    NO_EXPIRY: 'Until it is revoked'
  },
  secretTitle: (name: string): string => `The token ${name}`,
  secretHint: 'Copy it now. It is not stored, and cannot be shown again.',
  secret: 'Token',
  tryIt: 'Try it with curl',
  haveCopied: 'I have copied it',
  done: 'Done',
  revoke: 'Revoke',
  revokeOf: (name: string): string => `Revoke ${name}`,
  revokeTitle: (name: string): string => `Revoke the token ${name}?`,
  revokeHint:
    'Programs that use it are refused within a second, and everyone who is signed in with it is signed out. This cannot be undone.',
  revoked: (name: string): string => `The token ${name} is revoked.`,
  none: 'There are no tokens.',
  hasNoRole: (name: string): string => `${name} has no role in this catalog any more.`,
  lastSeen: (days: number | null): string | undefined =>
    days === null || days === 0 ? undefined : `Last seen ${days === 1 ? 'a day' : `${days} days`} ago`,
  never: 'Never',
  neverHint: 'Whoever has it may do everything, forever. A token with an end is safer.',
  expired: 'Expired',
  isRevoked: 'Revoked',
  heads: {
    name: 'Name',
    id: 'Id',
    actor: 'Author',
    maker: 'Made by',
    scopes: 'Scopes',
    domain: 'Domains',
    created: 'Created',
    expires: 'Expires',
    revoke: 'Revoke'
  }
}
