/**
 * Every limit that a client can exceed, with its unit in its name and its reason in one line.
 *
 * The lowest layer: imports nothing. docs/configuration.md lists them, `GET /api/limits` prints them,
 * and a test compares the three.
 */
export const limits = {
  /** Bytes of UTF-8 in a URN; far below the size of a B-tree page. DataHub allows 512, percent-encoded. */
  urnMaxBytes: 1024,
  /** Bytes of a schemaField URN, which contains a dataset URN and a column path. */
  schemaFieldUrnMaxBytes: 2048,
  /** Nesting of parentheses in a URN: URNs within URNs, calls in column paths. Real ones stay below 5. */
  urnMaxNesting: 16,
  /** Characters of a domain's name, after trimming. */
  domainNameMaxChars: 255,
  /** Characters of a description, and of an asset name in a load. */
  descriptionMaxChars: 65_536,
  /** Levels of nested domains; keeps every check of the tree bounded. */
  domainMaxDepth: 50,
  /** Domain rules: every new asset is compared with each of them. */
  domainRulesMaxCount: 1_000,
  /** Characters of a pattern in a domain rule. */
  domainRulePatternMaxChars: 512,
  /** Containers shown above an entity, nearest first. */
  containerMaxDepth: 50,
  /** Bytes of one aspect as JSON. */
  aspectMaxBytes: 4 * 1024 * 1024,
  /** Nesting of objects and arrays in one JSON body or aspect. */
  jsonMaxDepth: 64,
  /** Keys of one JSON object. Parsing very many blocks other requests. */
  jsonObjectKeysMaxCount: 20_000,
  /** Different keys in the JSON of an aspect or a record. Each costs as much as several that are repeated. */
  jsonKeysMaxCount: 50_000,
  /** Different keys in one JSON body, which may have many aspects. */
  jsonBodyKeysMaxCount: 200_000,
  /** Values in the JSON of an aspect or a record, lists and objects included. */
  jsonValuesMaxCount: 250_000,
  /** Characters of a key of a JSON object. */
  jsonKeyMaxChars: 16_384,
  /** Versions of an aspect that can be read. */
  aspectVersionsKept: 20,
  /** Column records (fineGrainedLineages) in one aspect. */
  columnRecordsMaxCount: 10_000,
  /** Operations in one patch; each is checked several times before the patch is applied. */
  patchOperationsMaxCount: 5_000,
  /** Values that the operations of one patch copy, compare or move; about a tenth of a second of work. */
  patchValuesMaxCount: 250_000,
  /** Values that all patches of one call process, including the documents; a chunk of a load is split at this limit. */
  patchValuesPerChunkMaxCount: 2_000_000,
  /** Keyed arrays of a patch (arrayPrimaryKeys), keys per array, and steps per key. */
  patchKeysMaxCount: 16,
  /** Stored patches of the attributes of one lineage edge; setting a path again replaces the earlier patch. */
  patchesPerEdgeMaxCount: 100,
  /** Columns on one side of one column record. */
  columnsPerRecordMaxCount: 1_000,
  /** Inputs, and outputs, that one run of OpenLineage events shows; a run with more says so. */
  runDatasetsMaxCount: 1_000,
  /** Datasets, with the run and the job, by which one OpenLineage event is found. */
  openLineageSubjectsMaxCount: 1_000,
  /** Bytes of SQL in one question, or in one statement of a load. Reading a megabyte takes about half a second. */
  sqlMaxBytes: 1024 * 1024,
  /** Body of a question about SQL: JSON escapes some characters, and it may have the columns of tables. */
  sqlBodyMaxBytes: 4 * 1024 * 1024,
  /** Bytes of a load of SQL files, which is read completely before it is stored. */
  sqlLoadMaxBytes: 64 * 1024 * 1024,
  /** Warnings that a load of SQL files keeps. */
  sqlWarningsMaxCount: 1_000,
  /** How long one question about SQL, or one statement of a load, may be read. Then it is answered as not read. */
  sqlReadMaxMs: 1_600,
  /** Questions about SQL that wait for the one thread of a process. */
  sqlTasksWaitingMaxCount: 100,
  /** Tables of a question about SQL whose columns are looked up in the catalog. */
  sqlTablesMaxCount: 1_000,
  /** Changes in one call: edges of updateLineage, assets of batchSetDomain, all changes of submitChanges. Send more as a load. */
  edgesPerCallMaxCount: 5_000,
  /** Proposals in one ingestProposalBatch. DataHub's SDK sends at most 200. */
  proposalsPerBatchMaxCount: 1_000,
  /** Entities in one read of aspects: by URN (entitiesV2, batchGet), or a page of a scroll with aspects. */
  entitiesPerReadMaxCount: 1_000,
  /** Different aspects named in one read; there are about a hundred. */
  aspectsPerReadMaxCount: 200,
  /** Results of one page. */
  pageMaxCount: 10_000,
  /** Results of one page by default. */
  pageDefaultCount: 10,
  /** Hops of one walk; a longer one reports that it is incomplete. */
  walkMaxHops: 1_000,
  /** Entities that one walk reaches; a larger one reports that it is incomplete. */
  walkMaxEntities: 1_000_000,
  /** Milliseconds that one walk or one search in domains may take before it fails with DEADLINE_EXCEEDED. */
  walkDeadlineMs: 10_000,
  /** Entities in all paths of one page of results; paths can be as long as the graph is deep. */
  pathEntitiesMaxCount: 500_000,
  /** Nodes of one lineage graph; a larger diagram is unreadable. */
  graphNodesMaxCount: 2_000,
  /** Nodes of one lineage graph by default. */
  graphNodesDefaultCount: 200,
  /** Nodes at which one lineage graph is expanded, and nodes at which it is collapsed. */
  graphExpandsMaxCount: 500,
  /** Edges of one level listed in a lineage graph; the rest are counted. */
  graphEdgesMaxCount: 20_000,
  /** Columns of the assets in one lineage graph, if columns are requested. */
  graphColumnsMaxCount: 200_000,
  /** Columns listed for each node of a lineage graph; all nodes together list graphColumnsMaxCount. */
  graphColumnRowsMaxCount: 10_000,
  /** Hidden entities (jobs, soft-deleted ones) that a lineage graph or domain lineage bridges at a time. */
  hiddenEntitiesMaxCount: 250_000,
  /** Entities listed between the ends of one edge; the rest are counted. */
  edgeViaMaxCount: 100,
  /** Statements listed for one edge; the rest are counted. */
  edgeStatementsMaxCount: 100,
  /** Asset edges counted in one domain lineage. */
  domainEdgesMaxCount: 5_000_000,
  /** Assets that one list of the most connected ones returns. */
  mostConnectedMaxCount: 100,
  /** Milliseconds until an export is cut off; it holds a snapshot until it ends. */
  exportMaxMs: 300_000,
  /** Milliseconds an export waits for a client that reads nothing, before it is cut off. */
  exportStallMaxMs: 10_000,
  /** Exports that one process serves at once; each may hold a database connection. */
  exportsAtOnceMaxCount: 3,
  /** Exports of one token that one process serves at once, so that one client leaves a place for others. */
  exportsPerTokenMaxCount: 2,
  /** Shortest paths shown for one result. */
  pathsPerResultMaxCount: 100,
  /** Ids of all results that one process keeps for later pages; about 8 bytes each. */
  heldResultsMaxIds: 4_000_000,
  /** Seconds a result is kept after its last page was read. */
  heldResultMaxSeconds: 300,
  /** Groups of filters, at least one of which must match. */
  filterGroupsMaxCount: 20,
  /** Filters in a group, all of which must match. */
  filtersPerGroupMaxCount: 20,
  /** Values of a filter. */
  filterValuesMaxCount: 200,
  /** Values of all filters of one read; each result may be compared with each value. */
  filterValuesInAllMaxCount: 1_000,
  /** Units of work for the heavy reads of one request. A search is 1, a sorted one 6, a lineage graph of 2,000 nodes 22. */
  readWorkMaxUnits: 100,
  /** Milliseconds that all heavy reads of one request may take together. */
  readWorkMaxMs: 10_000,
  /** Heavy reads that wait for their turn in one process. */
  heavyReadsWaitingMaxCount: 500,
  /** Heavy reads of one token that wait for their turn. */
  heavyReadsWaitingPerTokenMaxCount: 50,
  /** Milliseconds a heavy read waits for its turn. */
  heavyReadWaitMaxMs: 10_000,
  /** Writing calls that wait in one process, for others that write the same entities or for a connection. */
  writesWaitingMaxCount: 1_000,
  /** Writing calls of one token that wait in one process. */
  writesWaitingPerTokenMaxCount: 250,
  /** Milliseconds a writing call waits for its turn. */
  writeWaitMaxMs: 10_000,
  /** Characters of a search text. */
  queryTextMaxChars: 1_000,
  /** Words of a search text. */
  queryWordsMaxCount: 100,
  /** Characters of a search word that are compared; the rest is ignored. */
  searchWordMaxChars: 100,
  /** Searchable words of one entity, names and columns first. */
  searchWordsMaxCount: 10_000,
  /** Matches of a search that are counted and sorted exactly; beyond that, counts are estimates. */
  searchExactMaxCount: 5_000,
  /** Results that a search by page number may skip; a scroll has no limit. */
  searchStartMaxCount: 100_000,
  /** Bytes of a GraphQL request. */
  graphqlBodyMaxBytes: 4 * 1024 * 1024,
  /** Values in the variables of a GraphQL request; each is checked against its type. */
  graphqlVariableValuesMaxCount: 50_000,
  /** Nesting of a GraphQL document. */
  graphqlMaxDepth: 20,
  /** Nested brackets of any kind in a GraphQL document. */
  graphqlMaxBrackets: 100,
  /** Pairs of fields with the same name in one place of a GraphQL document; validation compares each pair. */
  graphqlMaxFieldPairs: 50_000,
  /** Tokens of a GraphQL document. */
  graphqlMaxTokens: 5_000,
  /** Aliases of a GraphQL document. */
  graphqlMaxAliases: 30,
  /** Mutation fields in one GraphQL document. */
  graphqlMaxMutations: 5,
  /** Fields read and entities listed for one GraphQL request; lists within lists multiply, whatever the number of tokens. */
  graphqlMaxReads: 100_000,
  /** Fields of a GraphQL document with all fragments expanded. */
  graphqlMaxExpandedFields: 20_000,
  /** Fields that a GraphQL document would return if every list were full; far above the limit of an answer, since lists rarely are. */
  graphqlMaxEstimatedFields: 20_000_000,
  /** Fields of one GraphQL answer. */
  graphqlMaxFields: 500_000,
  /** Approximate bytes of one GraphQL answer. */
  graphqlAnswerMaxBytes: 32 * 1024 * 1024,
  /** Bytes of a proposal request. */
  proposalBodyMaxBytes: 16 * 1024 * 1024,
  /** Bytes of one line (record) of a load. */
  recordMaxBytes: 1024 * 1024,
  /** Columns of a CSV. Its header is read again for every chunk and view of the load. */
  csvColumnsMaxCount: 1_000,
  /** Bytes of one node of a dbt project, with its SQL. */
  dbtNodeMaxBytes: 4 * 1024 * 1024,
  /** Bytes kept of a dbt project while it arrives: names, columns and descriptions, and the SQL of its models, packed. 10,000 models take 20 to 60 MB. */
  dbtProjectMaxBytes: 64 * 1024 * 1024,
  /** How long all SQL of a dbt project may be read. What is then left counts as not read. */
  dbtSqlReadMaxMs: 300_000,
  /** Bytes of the different names that one load looks up, with their URNs; enough for 250,000 of 25 characters or 100,000 of 90. A name whose URN follows from its text is not looked up. */
  loadReferencesMaxBytes: 32 * 1024 * 1024,
  /** Records of one load. */
  loadMaxRecords: 10_000_000,
  /** Bytes of a load's uncompressed body; stops compression bombs. */
  loadMaxBytes: 16 * 1024 * 1024 * 1024,
  /** Uncompressed bytes per byte received; real NDJSON stays below 60, a compression bomb is near 1,000. */
  loadMaxCompressionRatio: 200,
  /** Records of one chunk; about a third of a second of work, so that a crash loses little. */
  chunkMaxRecords: 5_000,
  /** Records of one chunk of plain edges; about a quarter of a second of work. */
  edgeChunkMaxRecords: 20_000,
  /** OpenLineage events of one chunk; about half a second of work, for which single events wait. */
  eventChunkMaxRecords: 1_000,
  /** Uncompressed bytes of one chunk, so that large records make small chunks. */
  chunkMaxBytes: 4 * 1024 * 1024,
  /** Records of all loads that wait to be applied; beyond that new loads are refused with OVERLOADED. */
  waitingRecordsMaxCount: 30_000_000,
  /** Loads that wait to be applied; beyond that an asynchronous proposal waits, and after 10 s is refused with OVERLOADED. */
  waitingProposalLoadsMaxCount: 500,
  /** Bytes of one uncompressed OpenLineage event; the logical plan of a Spark job takes megabytes. */
  openLineageEventMaxBytes: 16 * 1024 * 1024,
  /** Uncompressed bytes of several OpenLineage events in one request. */
  openLineageBatchMaxBytes: 64 * 1024 * 1024,
  /** Entries of one page of Marquez' lists: namespaces, datasets, jobs, events. */
  openLineagePageMaxCount: 1_000,
  /** OpenLineage events in one request; at about a thousand a second its answer takes ten seconds. */
  openLineageBatchMaxCount: 10_000,
  /** Bytes of all bodies with OpenLineage events that one API process holds; more are refused with UNAVAILABLE, which clients try again. */
  openLineageWaitingMaxBytes: 128 * 1024 * 1024,
  /** Milliseconds that an OpenLineage event may have waited to be committed; then further ones of its token are refused with UNAVAILABLE. Clients give up after 5 s. */
  openLineageWaitMaxMs: 2_000,
  /** Rejects of one load that are kept with their record; the rest are only counted. */
  rejectsKeptMaxCount: 100_000,
  /** Bytes kept of a rejected record. */
  rejectRecordMaxBytes: 64 * 1024,
  /** Uploads that one process receives at once; more are refused with OVERLOADED before the body is read. */
  uploadsAtOnceMaxCount: 16,
  /** Uploads of one token that one process receives at once, so that one client leaves places for others. */
  uploadsPerTokenMaxCount: 12,
  /** Event streams (GET /loads/{id}/events) that one process serves at once. */
  loadEventStreamsMaxCount: 200,
  /** Event streams of one token that one process serves at once. */
  loadEventStreamsPerTokenMaxCount: 100,
  /** Seconds for `?wait=`; routers of hosting platforms cut off at 30. */
  loadWaitMaxSeconds: 25,
  /** Records of an atomic load or dry run; everything it changes is locked until it ends. */
  loadAtomicMaxRecords: 50_000,
  /** Bytes of the records of an atomic load or dry run; the API and a worker each hold them in memory. */
  loadAtomicMaxBytes: 32 * 1024 * 1024,
  /** Assets and domains listed in the report of a dry run; the rest are counted. */
  dryRunListMaxCount: 100,
  /** Characters of an Idempotency-Key. */
  idempotencyKeyMaxChars: 255,
  /** Seconds without a sign of life from the API process that receives an upload, until the upload counts as interrupted. */
  uploadSilentMaxSeconds: 60,
  /** Seconds between two heartbeats of a worker, on average. */
  workerHeartbeatSeconds: 5,
  /** Seconds without a heartbeat after which a worker counts as dead. */
  workerSilentMaxSeconds: 15,
  /** Seconds for which the row of a dead worker is kept. */
  workerKeptSeconds: 86_400,
  /** Workers listed by /health/detailed, those that started first. */
  workersListedMaxCount: 1_000,
  /** Characters of a source's name. */
  sourceNameMaxChars: 255,
  /** Characters of a token's name. */
  tokenNameMaxChars: 255,
  /** Domains that one token is limited to. */
  tokenDomainsMaxCount: 100,
  /** Bytes of a sign-in (POST /session). */
  signInBodyMaxBytes: 4_096,
  /** Sign-ins that one process checks at once; anyone may try one. */
  signInsAtOnceMaxCount: 10,
  /** Proofs of being itself (`GET /instance/proof`) that one process computes in a second; anyone on its machine may ask. */
  instanceProofsPerSecondMaxCount: 200,
  /** Seconds until the code of a sign-in link expires. */
  signInCodeMaxSeconds: 300,
  /** Sessions of one token; another one ends the one that was used least recently. */
  sessionsPerTokenMaxCount: 100,
  /** Seconds without a request until a session ends. */
  sessionIdleMaxSeconds: 43_200,
  /** Seconds until a session ends in any case. */
  sessionMaxSeconds: 604_800
} as const

export type LimitName = keyof typeof limits
