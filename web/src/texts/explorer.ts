/** The words of the GraphQL explorer. */
export const explorerTexts = {
  title: 'GraphQL explorer',
  logo: 'GraphQL',
  firstQuery: `# What depends on an asset? Press Ctrl+Enter to ask, Ctrl+Space to complete a name.
query assets {
  searchAcrossEntities(input: { query: "*", types: [DATASET], count: 10 }) {
    total
    searchResults { entity { urn type } }
  }
}
`
}
