/** The results of "Copy as GraphQL" and "Copy as command": bodies of requests, and texts for a shell. */

export type GraphqlQuestion = { text: string; variables: object }

/** The whole document, so that it can be pasted into a request. */
export const printGraphql = ({ text, variables }: GraphqlQuestion): string =>
  JSON.stringify({ query: text.trim().replaceAll(/\s+/g, ' '), variables }, null, 2)

export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A command that takes the address and the token from the environment, as `tributary` does. */
export const curlCommand = (path: string): string =>
  `curl -sSf "$TRIBUTARY_URL/"${quoted(path)} -H "Authorization: Bearer $TRIBUTARY_TOKEN"`

/** A command for a question for which `tributary` has no option. */
export const graphqlCommand = (question: GraphqlQuestion): string =>
  `${curlCommand('api/graphql')} -H 'content-type: application/json' -d ${quoted(printGraphql(question))}`
