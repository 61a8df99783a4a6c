/** The words of the REST reference. */
export const referenceTexts = {
  title: 'REST reference',
  intro: (version: string): string =>
    `The REST API of this server, version ${version}, from its OpenAPI description. GraphQL has an explorer of its own.`,
  back: 'Tributary',
  explorer: 'GraphQL explorer',
  description: 'OpenAPI description (JSON)',
  filter: 'Filter by path or words',
  count: (shown: number, total: number): string =>
    shown === total
      ? `${total.toLocaleString('en')} operations`
      : `${shown.toLocaleString('en')} of ${total.toLocaleString('en')} operations`,
  parameters: 'Parameters',
  name: 'Name',
  place: 'In',
  type: 'Type',
  meaning: 'Meaning',
  required: 'required',
  body: 'Body',
  answers: 'Answers',
  noTag: 'Other',
  loading: 'Loading',
  failed: 'The description could not be loaded.',
  retry: 'Try again'
}
