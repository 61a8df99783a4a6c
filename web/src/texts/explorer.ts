/** The words of the GraphQL explorer. */
export const explorerTexts = {
  title: 'GraphQL explorer',
  logo: 'GraphQL',
  firstQuery: `# The first datasets by name.
# Ctrl+Enter asks, Ctrl+Space completes.
query datasets {
  searchAcrossEntities(
    input: { query: "*", types: [DATASET], count: 10 }
  ) {
    total
    searchResults {
      entity { urn type }
    }
  }
}
`
}
