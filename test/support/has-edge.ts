/** Whether a catalog has an edge, according to its GraphQL API. */
export async function hasEdge(
  { url, token }: { url: string; token: string },
  up: string,
  down: string
): Promise<boolean> {
  const answer = await fetch(`${url}/api/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query:
        'query ($up: String!, $down: String!) { lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { statementCount } }',
      variables: { up, down }
    })
  })
  const { data } = (await answer.json()) as { data?: { lineageEdge: object | null } }
  return (data?.lineageEdge ?? null) !== null
}
