/** The words of the REST reference. */
import { number } from './numbers.ts'

export const referenceTexts = {
  title: 'REST reference',
  intro: (version: string): string =>
    `The REST API of this server, version ${version}, from its OpenAPI description. GraphQL has an explorer of its own.`,
  description: 'OpenAPI description (JSON)',
  groups: 'Groups',
  filter: 'Filter by path or words',
  count: (shown: number, total: number): string =>
    shown === total ? `${number(total)} operations` : `${number(shown)} of ${number(total)} operations`,
  parameters: 'Parameters',
  name: 'Name',
  place: 'In',
  type: 'Type',
  meaning: 'Meaning',
  required: 'required',
  body: 'Body',
  answers: 'Answers',
  noTag: 'Other'
}
