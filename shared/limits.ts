/**
 * Every number a caller can hit, with its unit in its name and one line of why.
 *
 * The ground floor: imports nothing. docs/configuration.md lists them, `GET /api/limits` prints them,
 * and a test holds the three together.
 */
export const limits = {
  /** Bytes of UTF-8 in a URN; keeps any key far below what a B-tree page takes. DataHub allows 512 encoded. */
  urnMaxBytes: 1024,
  /** Bytes of a schemaField URN: a dataset URN and a column path within. */
  schemaFieldUrnMaxBytes: 2048,
  /** How deep parentheses may nest in a URN: URNs within URNs, calls in column paths. Real ones stay below 5. */
  urnMaxNesting: 16,
  /** Characters of a domain's name, after trimming. */
  domainNameMaxChars: 255,
  /** Characters of a description, and of a name that a load gives an asset. */
  descriptionMaxChars: 65_536,
  /** Levels of nested domains; a reader can still take in 50, and every check of the tree is bounded. */
  domainMaxDepth: 50,
  /** Containers above an entity that are shown, the nearest first. */
  containerMaxDepth: 50,
  /** Bytes of one aspect as JSON. */
  aspectMaxBytes: 4 * 1024 * 1024,
  /** Nesting of objects and arrays in one JSON body or aspect. */
  jsonMaxDepth: 64,
  /** Keys of one JSON object. Reading very many takes long, and others wait meanwhile. */
  jsonObjectKeysMaxCount: 20_000,
  /** Values in the JSON of an aspect or a record, lists and objects included. */
  jsonValuesMaxCount: 250_000,
  /** Characters of a key of a JSON object. */
  jsonKeyMaxChars: 16_384,
  /** Versions of an aspect that are kept and can be read. */
  aspectVersionsKept: 20,
  /** Column records (fineGrainedLineages) in one aspect. */
  columnRecordsMaxCount: 10_000,
  /** Operations in one patch: each is looked at several times before any of them is carried out. */
  patchOperationsMaxCount: 5_000,
  /** Values that the operations of one patch copy, compare or move along: a tenth of a second of work. */
  patchValuesMaxCount: 250_000,
  /** Values that the patches of one call work on together, the documents included; a chunk of a load is split at it. */
  patchValuesPerChunkMaxCount: 2_000_000,
  /** Arrays that a patch gives keys for (arrayPrimaryKeys), keys of one array, and steps of one key. */
  patchKeysMaxCount: 16,
  /** Patches of what one lineage edge says beside its ends that are kept; setting a path again replaces the patch before. */
  patchesPerEdgeMaxCount: 100,
  /** Columns on one side of one column record. */
  columnsPerRecordMaxCount: 1_000,
  /** Changes in one call: edges of updateLineage, assets of batchSetDomain, everything of submitChanges; more belongs into a load. */
  edgesPerCallMaxCount: 5_000,
  /** Proposals in one ingestProposalBatch. DataHub's SDK sends at most 200. */
  proposalsPerBatchMaxCount: 1_000,
  /** Entities in one read of their aspects: named by URN (entitiesV2, batchGet), or a page of a scroll that shows aspects. */
  entitiesPerReadMaxCount: 1_000,
  /** Different aspects named in one read; there are about a hundred. */
  aspectsPerReadMaxCount: 200,
  /** Results of one page. */
  pageMaxCount: 10_000,
  /** Results of one page when none is asked for. */
  pageDefaultCount: 10,
  /** Hops of one walk, before it says that it is not complete. */
  walkMaxHops: 1_000,
  /** Entities one walk may reach before it says that it is not complete. */
  walkMaxEntities: 1_000_000,
  /** Milliseconds one walk, or one search in domains, may take before it fails with DEADLINE_EXCEEDED. */
  walkDeadlineMs: 10_000,
  /** Entities in all paths of one page of results: a path is as long as the graph is deep. */
  pathEntitiesMaxCount: 500_000,
  /** Nodes of one lineage graph; nobody reads a picture of more. */
  graphNodesMaxCount: 2_000,
  /** Nodes of one lineage graph when no count is asked for. */
  graphNodesDefaultCount: 200,
  /** Nodes that one lineage graph is expanded at. */
  graphExpandsMaxCount: 500,
  /** Edges of one level that a lineage graph lists; the others are counted. */
  graphEdgesMaxCount: 20_000,
  /** Columns of the assets that one lineage graph shows, where columns are asked for. */
  graphColumnsMaxCount: 200_000,
  /** Hidden entities (jobs, soft-deleted ones) that a lineage graph or domain lineage looks through at a time. */
  hiddenEntitiesMaxCount: 250_000,
  /** Entities listed as standing between the ends of one edge; the others are counted. */
  edgeViaMaxCount: 100,
  /** Statements listed of one edge; the others are counted. */
  edgeStatementsMaxCount: 100,
  /** Asset edges that one domain lineage adds up. */
  domainEdgesMaxCount: 5_000_000,
  /** Milliseconds an export may take to be taken whole, before it is cut off: it holds a snapshot meanwhile. */
  exportMaxMs: 300_000,
  /** Milliseconds an export waits for a client that takes nothing, before it is cut off. */
  exportStallMaxMs: 10_000,
  /** Exports that one process answers at once; each may hold a connection to the database. */
  exportsAtOnceMaxCount: 3,
  /** Shortest paths shown for one result. */
  pathsPerResultMaxCount: 100,
  /** Ids in all results that one process holds for the pages to come: about 8 bytes each. */
  heldResultsMaxIds: 4_000_000,
  /** Seconds a result is held after its last page was asked for. */
  heldResultMaxSeconds: 300,
  /** Groups of filters, of which one must hold. */
  filterGroupsMaxCount: 20,
  /** Filters in a group, all of which must hold. */
  filtersPerGroupMaxCount: 20,
  /** Values of a filter. */
  filterValuesMaxCount: 200,
  /** Values of all filters of one read: each result may have to be compared with each. */
  filterValuesInAllMaxCount: 1_000,
  /** Units of work that the heavy reads of one request may take. A search is 1, a sorted one 6, a lineage graph of 2,000 nodes 22. */
  readWorkMaxUnits: 100,
  /** Milliseconds that the heavy reads of one request may take together, one after the other. */
  readWorkMaxMs: 10_000,
  /** Heavy reads that wait for others to end, in one process. */
  heavyReadsWaitingMaxCount: 500,
  /** Heavy reads of one token that wait for others to end. */
  heavyReadsWaitingPerTokenMaxCount: 50,
  /** Milliseconds a heavy read waits for others to end. */
  heavyReadWaitMaxMs: 10_000,
  /** Characters of a search text. */
  queryTextMaxChars: 1_000,
  /** Words of a search text. */
  queryWordsMaxCount: 100,
  /** Characters of a word that are looked at when it is searched for. */
  searchWordMaxChars: 100,
  /** Words of one entity that it is found by, names and columns first. */
  searchWordsMaxCount: 10_000,
  /** Matches of a search that are counted and put in order one by one; of more the counts are estimates. */
  searchExactMaxCount: 5_000,
  /** Results that a search by number passes over; a scroll goes on for ever. */
  searchStartMaxCount: 100_000,
  /** Bytes of a GraphQL request. */
  graphqlBodyMaxBytes: 4 * 1024 * 1024,
  /** Values in the variables of a GraphQL request: each is checked against its type. */
  graphqlVariableValuesMaxCount: 50_000,
  /** Nesting of a GraphQL document. */
  graphqlMaxDepth: 20,
  /** Brackets of any kind that stand open at once in a GraphQL document. */
  graphqlMaxBrackets: 100,
  /** Pairs of fields of the same name that stand in one place of a GraphQL document: each is compared with each. */
  graphqlMaxFieldPairs: 50_000,
  /** Tokens of a GraphQL document. */
  graphqlMaxTokens: 5_000,
  /** Aliases of a GraphQL document. */
  graphqlMaxAliases: 30,
  /** Mutation fields in one GraphQL document. */
  graphqlMaxMutations: 5,
  /** Fields read and entities listed for one GraphQL request: lists in lists multiply, and no count of tokens sees it. */
  graphqlMaxReads: 100_000,
  /** Fields of a GraphQL document with its fragments written out wherever they are spread. */
  graphqlMaxExpandedFields: 20_000,
  /** Fields that a GraphQL document asks for by its counts, when every list is full: more than ever fits, for hardly any are. */
  graphqlMaxEstimatedFields: 20_000_000,
  /** Fields of one GraphQL answer. */
  graphqlMaxFields: 500_000,
  /** Bytes of one GraphQL answer, about. */
  graphqlAnswerMaxBytes: 32 * 1024 * 1024,
  /** Bytes of a proposal request. */
  proposalBodyMaxBytes: 16 * 1024 * 1024,
  /** Bytes of one line (record) of a load. */
  recordMaxBytes: 1024 * 1024,
  /** Short references of one load that are looked up, each once. */
  loadReferencesMaxCount: 10_000,
  /** Short references of one load that mean nothing; after so many the others are refused without a search. */
  loadReferenceFailuresMaxCount: 100,
  /** Records of one load. */
  loadMaxRecords: 10_000_000,
  /** Bytes of a load's body, unpacked: what stops a compression bomb. */
  loadMaxBytes: 16 * 1024 * 1024 * 1024,
  /** Bytes unpacked per byte received; real NDJSON stays below 60, a bomb is near 1,000. */
  loadMaxCompressionRatio: 200,
  /** Records one chunk holds; about a third of a second of work, so that a kill loses little. */
  chunkMaxRecords: 5_000,
  /** Edges given by their ends alone that one chunk holds; about a quarter of a second of work. */
  edgeChunkMaxRecords: 20_000,
  /** OpenLineage events that one chunk holds; about half a second of work, which events that come one by one wait for. */
  eventChunkMaxRecords: 1_000,
  /** Bytes one chunk holds before it is compressed, so that large records make small chunks. */
  chunkMaxBytes: 4 * 1024 * 1024,
  /** Records accepted and not yet applied, over all loads, before a new load is refused with OVERLOADED. */
  waitingRecordsMaxCount: 30_000_000,
  /** Loads accepted and not yet applied, before an asynchronous proposal waits for them; after 10 s it is refused with OVERLOADED. */
  waitingProposalLoadsMaxCount: 500,
  /** Bytes of one OpenLineage event, unpacked: the logical plan of a Spark job takes megabytes. */
  openLineageEventMaxBytes: 16 * 1024 * 1024,
  /** Bytes of several OpenLineage events in one request, unpacked. */
  openLineageBatchMaxBytes: 64 * 1024 * 1024,
  /** OpenLineage events that wait in one API process to be committed; more are refused with UNAVAILABLE, which clients try again. */
  openLineageWaitingMaxCount: 10_000,
  /** Rejects of one load that are kept with their record; beyond that they are counted only. */
  rejectsKeptMaxCount: 100_000,
  /** Bytes of a rejected record that are kept. */
  rejectRecordMaxBytes: 64 * 1024,
  /** Uploads that one process receives at once; more are refused with OVERLOADED before their body is read. */
  uploadsAtOnceMaxCount: 16,
  /** Streams of events (GET /loads/{id}/events) that one process serves at once. */
  loadEventStreamsMaxCount: 200,
  /** Seconds `?wait=` may ask for: routers of hosting platforms cut at 30. */
  loadWaitMaxSeconds: 25,
  /** Records of one load that is atomic or a dry run: what it changes is locked until all of it is applied. */
  loadAtomicMaxRecords: 50_000,
  /** Bytes of the records of such a load: they are held in memory, once by the API and once by a worker. */
  loadAtomicMaxBytes: 32 * 1024 * 1024,
  /** Assets, and domains, that the report of a dry run lists; the others are counted. */
  dryRunListMaxCount: 100,
  /** Characters of an Idempotency-Key. */
  idempotencyKeyMaxChars: 255,
  /** Seconds without a sign of life from the API process that receives an upload, before it counts as cut off. */
  uploadSilentMaxSeconds: 60,
  /** Characters of a source's name. */
  sourceNameMaxChars: 255,
  /** Characters of a token's name. */
  tokenNameMaxChars: 255
} as const

export type LimitName = keyof typeof limits
