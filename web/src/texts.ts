/** All texts of the UI, by page; functions if they contain a number or a name. */
import { counted, number } from './texts/numbers.ts'

/** What a field that matched is called before its text. */
const matchedFields: { readonly [field: string]: string } = {
  description: 'Description',
  fieldPaths: 'Column',
  customProperties: 'Property',
  tags: 'Tag',
  glossaryTerms: 'Term',
  owners: 'Owner'
}

export const texts = {
  product: 'Tributary',
  undo: 'Undo',
  justNow: 'just now',
  placeholder: 'not described yet',
  count: number,
  assets: (value: number): string => counted(value, 'asset', 'assets'),
  shell: {
    skip: 'Skip to the content',
    places: 'Main',
    home: 'Home',
    search: 'Search',
    asset: 'Asset',
    lineage: 'Lineage',
    editLineage: 'Edit lineage',
    domains: 'Domains',
    map: 'Map',
    loads: 'Loads',
    sql: 'SQL',
    tokens: 'Tokens',
    explorer: 'GraphQL',
    reference: 'REST',
    dark: 'Dark theme',
    light: 'Light theme',
    account: 'Account',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
    signedInAs: (actor: string): string => `Signed in as ${actor}`,
    mayChange: (domains: readonly string[]): string =>
      domains.length > 3
        ? `May change: ${domains.slice(0, 3).join(', ')} and ${domains.length - 3} more`
        : `May change: ${domains.join(', ')}`,
    notFound: 'This page does not exist',
    notFoundHint:
      'Its address may be mistyped or from another version. What you look for may be found by its name in the field above.',
    toHome: 'Go to the start page'
  },
  search: {
    label: 'Search assets, columns and domains',
    placeholder: 'Search by name, or paste a URN',
    all: (text: string): string => `Search for “${text}”`,
    options: (count: number): string => counted(count, 'suggestion', 'suggestions'),
    results: (total: number, isEstimate: boolean): string =>
      `${isEstimate ? 'About ' : ''}${counted(total, 'result', 'results')}`,
    none: (text: string): string => `Nothing matches “${text}”.`,
    didYouMean: 'Did you mean',
    noneHint: (isFiltered: boolean): string =>
      `Names, descriptions, columns, tags and owners were searched, and all words must occur. Try fewer words, or a beginning with a star (ord*)${isFiltered ? ', or remove a filter' : ''}.`,
    unfiltered: 'Search without filters',
    alike: (beginning: string): string => `Names that begin with “${beginning}”`,
    allAssets: 'Everything:',
    filters: 'Filters',
    filtersChosen: (count: number): string => (count === 0 ? 'Filters' : `Filters (${number(count)})`),
    remove: (name: string): string => `Remove filter ${name}`,
    about: (count: number, isEstimate: boolean): string => `${isEstimate ? '≈ ' : ''}${number(count)}`,
    noDomain: 'No domain',
    lineage: 'Lineage',
    hasLineage: (value: string): string => (value === 'true' ? 'Has lineage' : 'No lineage'),
    sort: 'Sort by',
    sortBy: (name: string): string =>
      name === 'name' ? 'Name' : name === 'changed' ? 'Last change' : 'Best match',
    unsorted: 'Show these results without sorting',
    owners: (names: readonly string[]): string => `Owners: ${names.join(', ')}`,
    matchedIn: (field: string): string => matchedFields[field] ?? 'Found in',
    more: 'Show more',
    tooMany: (maximum: number): string =>
      `The list ends after ${number(maximum)} results. Add a word or a filter to see others.`,
    valuesCut: (maximum: number): string =>
      `Only the ${number(maximum)} most frequent values are listed and counted.`
  },
  rows: {
    noOwner: 'No owner',
    usedBy: (count: number): string => (count === 0 ? 'Not used' : `Used by ${number(count)}`),
    usedByHint: 'The assets that are made from it directly'
  },
  home: {
    title: (total: number, isEstimate: boolean): string =>
      `${isEstimate ? 'About ' : ''}${counted(total, 'asset', 'assets')} in the catalog`,
    recent: 'Opened last',
    connected: 'Most connected',
    neighbours: (up: number, down: number): string => `${number(up)} upstream, ${number(down)} downstream`,
    noLineage: 'No asset has lineage yet.',
    domains: 'Domains',
    noDomains: 'There are no domains yet.',
    createDomain: 'Create the first',
    allDomains: (total: number): string => `All ${number(total)} domains`,
    mine: 'Yours',
    allMine: (total: number): string => `All ${number(total)} of yours`,
    domainHas: (assets: number, domains: number): string =>
      domains === 0
        ? counted(assets, 'asset', 'assets')
        : `${counted(assets, 'asset', 'assets')} · ${counted(domains, 'sub-domain', 'sub-domains')}`,
    failedRuns: 'Runs that failed',
    failedLoads: 'Loads that need attention',
    loadOf: (source: string, count: number): string => `${source}: ${counted(count, 'record', 'records')}`,
    all: 'Show everything'
  },
  copy: {
    page: 'Copy this page',
    copy: 'Copy',
    done: 'Copied.',
    failed: 'The browser does not allow copying here. Select the text and copy it yourself.',
    urn: 'Copy URN',
    link: 'Copy link',
    graphql: 'Copy as GraphQL',
    cli: 'Copy as command',
    where: 'Write npx tributary for tributary in a checkout, or in a folder with the package.'
  },
  firstLoad: {
    title: 'The catalog is empty',
    how: 'Load lineage in the format you have. It appears here as soon as the load is done. Write npx tributary for tributary in a checkout, or in a folder with the package.',
    choose: 'Format',
    command: (format: string): string => `How to load ${format}`,
    formats: [
      {
        name: 'CSV',
        text: 'One line for each edge: an upstream asset, and what is made from it.',
        command: (server: string): string =>
          `cat > lineage.csv <<'END'
upstream,downstream
"urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)","urn:li:dataset:(urn:li:dataPlatform:hive,shop.revenue,PROD)"
END
tributary load lineage.csv --missing-references create --url ${server}`
      },
      {
        name: 'dbt',
        text: 'The manifest that every dbt command writes. With catalog.json, columns have types.',
        command: (server: string): string =>
          `tributary load target/manifest.json --catalog target/catalog.json --url ${server}`
      },
      {
        name: 'OpenLineage',
        text: 'Airflow, Spark, Flink and others send their lineage once they have this address and a token.',
        command: (server: string): string =>
          `export OPENLINEAGE_URL=${server}
export OPENLINEAGE_API_KEY="$TRIBUTARY_TOKEN"`
      },
      {
        name: 'A database',
        text: 'DataHub’s connectors read a database, a warehouse or a BI tool. A recipe that you have works unchanged: only its sink changes.',
        command: (server: string): string =>
          `pip install 'acryl-datahub[postgres,datahub-rest]==1.7.0.17'
cat > recipe.yml <<'END'
source:
  type: postgres
  config:
    host_port: localhost:5432
    database: shop
    username: reader
    password: \${POSTGRES_PASSWORD}
sink:
  type: datahub-rest
  config:
    server: ${server}
    token: \${TRIBUTARY_TOKEN}
END
datahub ingest -c recipe.yml`
      }
    ]
  },
  state: {
    loading: 'Loading',
    failed: 'This could not be loaded.',
    unloaded:
      'The script of the page could not be loaded: the server cannot be reached, or has been upgraded. Trying again reloads the page.',
    retry: 'Try again',
    close: 'Close',
    showAll: (isWhole: boolean, count: number): string =>
      isWhole ? 'Show fewer' : `Show all ${number(count)}`
  },
  signIn: {
    title: 'Sign in',
    signedIn: 'Welcome back',
    already: (actor: string): string => `You are signed in as ${actor}.`,
    goOn: 'Continue',
    token: 'Access token',
    hint: 'An administrator creates tokens with “tributary token create”. After “tributary up” or “npm start”, the token is in the file .data/token.',
    submit: 'Sign in',
    show: 'Show the token',
    hide: 'Hide the token',
    withCode: 'Signing you in …',
    withProvider: 'Sign in with your organization',
    orToken: 'or with an access token',
    problems: {
      ended: 'Your session has expired or was revoked. Sign in again.',
      busy: 'Too many people are signing in at once. Try again.',
      expired: 'The sign-in took too long, or began in another browser. Try again.',
      failed: 'Your organization did not sign you in. Try again, or ask the administrator: the log says why.',
      'no-role':
        'You are signed in with your organization, but have no role in this catalog. Ask its administrator.',
      unavailable: 'Your organization’s sign-in does not answer. Try again in a minute.'
    },
    codeFailed:
      'This link has been used or has expired. Print a new one with “tributary sign-in”, or use a token.'
  },
  types: {
    DATASET: 'Dataset',
    DATA_JOB: 'Job',
    DATA_FLOW: 'Flow',
    CHART: 'Chart',
    DASHBOARD: 'Dashboard',
    CONTAINER: 'Container',
    MLMODEL: 'Model',
    MLMODEL_GROUP: 'Model group',
    MLFEATURE: 'Feature',
    MLFEATURE_TABLE: 'Feature table',
    MLPRIMARY_KEY: 'Primary key',
    METRIC: 'Metric',
    SEMANTIC_MODEL: 'Semantic model',
    DATA_PROCESS_INSTANCE: 'Run',
    DOMAIN: 'Domain',
    SCHEMA_FIELD: 'Column',
    CORP_USER: 'User',
    CORP_GROUP: 'Group',
    TAG: 'Tag',
    GLOSSARY_TERM: 'Term',
    GLOSSARY_NODE: 'Term group',
    DATA_PRODUCT: 'Data product',
    DATA_PLATFORM: 'Platform',
    APPLICATION: 'Application',
    DOCUMENT: 'Document',
    NOTEBOOK: 'Notebook'
  } as { readonly [type: string]: string }
}

export const typeName = (type: string): string => texts.types[type] ?? type.toLowerCase().replaceAll('_', ' ')
