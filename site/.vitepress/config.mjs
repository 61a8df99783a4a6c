/** The docs site: built from docs/ as it is, for any web server, also below a path: `npm run site -- --base /docs/`. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { checkSite } from '../check-site.mjs'
import { contentsOf } from '../contents.mjs'
import {
  beginAtHome,
  breakableCells,
  drawDiagrams,
  emptyCorners,
  followTheme,
  isFirstPage,
  leadToIndexes,
  nameCells,
  slugOf
} from '../markdown.mjs'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
const contents = contentsOf(docs)
const home = fileURLToPath(new URL('../home.md', import.meta.url))

/** Pages become modules that import Vue, which no folder above docs/ needs to have. */
function resolvesVueFromHere() {
  const here = fileURLToPath(import.meta.url)
  return {
    name: 'resolves-vue-from-here',
    enforce: 'pre',
    resolveId(id, importer, { ssr }) {
      if (!/^(?:vue|@vue\/[\w-]+)(?:\/|$)/.test(id)) return null
      // What renders the pages runs below this folder, and imports Vue itself.
      if (ssr) return { id, external: true }
      return importer?.startsWith(docs) ? this.resolve(id, here, { skipSelf: true }) : null
    }
  }
}

const hero = {
  name: 'Tributary',
  text: 'Where data comes from, and what depends on it',
  tagline:
    'A metadata catalog for domains and lineage, down to columns. It runs on Postgres alone and takes what DataHub’s and OpenLineage’s clients send.',
  actions: [
    { theme: 'brand', text: 'Start in ten minutes', link: '/tutorial.html' },
    { theme: 'alt', text: 'Concepts in pictures', link: '/concepts.html' },
    { theme: 'alt', text: 'Compare', link: '/comparison.html' }
  ]
}

const waysIn = [
  {
    title: 'A dbt project',
    details: 'One command loads its models, columns, exposures and groups.',
    link: '/guides/dbt.html',
    linkText: 'Load dbt'
  },
  {
    title: 'OpenLineage',
    details: 'Airflow, Spark, Flink and Trino need an address and a token.',
    link: '/openlineage.html',
    linkText: 'Send events'
  },
  {
    title: 'A database',
    details: 'One recipe for DataHub’s connectors: Postgres, Snowflake, BigQuery.',
    link: '/guides/database.html',
    linkText: 'Load a database'
  },
  {
    title: 'From DataHub',
    details: 'Its clients, recipes and URNs stay. A plan, a recipe for the export, and a way back.',
    link: '/how-to/move-from-datahub.html',
    linkText: 'Move'
  }
]

export default defineConfig({
  title: 'Tributary',
  description: 'A metadata catalog for domains and lineage, on Postgres',
  lang: 'en-GB',
  srcDir: docs,
  outDir: fileURLToPath(new URL('../dist/', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../node_modules/.vitepress/', import.meta.url)),
  // Any server of files finds page.html; page alone needs one that is set up for it.
  cleanUrls: false,
  // A link to a page that is not there fails the build; anchors and pictures are checked by checkSite.
  ignoreDeadLinks: false,
  rewrites: { 'README.md': 'index.md', 'decisions/README.md': 'decisions/index.md' },
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      beginAtHome(md, home)
      leadToIndexes(md)
      nameCells(md)
      emptyCorners(md)
      breakableCells(md)
      drawDiagrams(md)
      followTheme(md, docs)
    }
  },
  vite: {
    publicDir: fileURLToPath(new URL('../public/', import.meta.url)),
    plugins: [resolvesVueFromHere()]
  },
  themeConfig: {
    siteTitle: 'Tributary',
    logo: '/logo.svg',
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Concepts', link: '/concepts' },
      { text: 'Load', link: '/guides/database' },
      { text: 'Run', link: '/how-to/deploy' },
      { text: 'API', link: '/api' },
      { text: 'Compare', link: '/comparison' }
    ],
    sidebar: contents,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        // The first page leads to the others, which are what a reader looks for.
        _render: (text, env, md) => {
          const html = md.render(text, env)
          return isFirstPage(env) ? '' : html
        },
        miniSearch: {
          options: {
            // MISSING_REFERENCES is a word of its own, beside its parts.
            tokenize: (text) => [
              ...text.split(/[\n\r\p{Z}\p{P}]+/u),
              ...(text.match(/[A-Za-z]\w*_\w+/g) ?? [])
            ]
          },
          searchOptions: {
            // Who types a key or a code looks for it, and not for its parts.
            tokenize: (text) => text.match(/[A-Za-z]\w*_\w+/g) ?? text.split(/[\n\r\p{Z}\p{P}]+/u),
            fuzzy: 0.15,
            prefix: true,
            boost: { title: 6, titles: 2, text: 1 },
            // A key or a code is explained where all of them are.
            boostDocument: (id, term) =>
              term.includes('_') && /\/(?:configuration|errors)\.html/.test(id) ? 4 : 1
          }
        }
      }
    },
    docFooter: { prev: 'Previous', next: 'Next' }
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md')
      Object.assign(page.frontmatter, { layout: 'home', hero, features: waysIn })
  },
  transformHead: ({ siteData }) => [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${siteData.base}logo.svg` }]
  ],
  buildEnd: ({ outDir, site }) => checkSite(outDir, site.base)
})
