/** What "Copy as GraphQL" and "Copy as command" give: bodies of requests, and texts for a shell. */

export type GraphqlQuestion = { text: string; variables: object }

/** The whole document, so that it can be pasted into a request. */
export const printGraphql = ({ text, variables }: GraphqlQuestion): string =>
  JSON.stringify({ query: text.trim().replaceAll(/\s+/g, ' '), variables }, null, 2)

export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Takes the address and the token from the environment, as `tributary` does. */
export const curlCommand = (path: string): string =>
  `curl -sSf "$TRIBUTARY_URL/"${quoted(path)} -H "Authorization: Bearer $TRIBUTARY_TOKEN"`

/** For a question that `tributary` has no option for. */
export const graphqlCommand = (question: GraphqlQuestion): string =>
  `${curlCommand('api/graphql')} -H 'content-type: application/json' -d ${quoted(printGraphql(question))}`
