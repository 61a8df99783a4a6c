/** Builds the web UI into dist/site: hashed names, and beside each text file what a browser gets that takes br or gzip. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import preact from '@preact/preset-vite'
import { defineConfig, type Plugin } from 'vite'

const outDir = join(import.meta.dirname, '..', 'dist', 'site')

/** Smaller files are not worth a second answer. */
const compressedMinBytes = 1_000

function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(html|js|css|svg|json)$/.test(entry.name)) continue
        const path = join(entry.parentPath, entry.name)
        const text = readFileSync(path)
        if (text.length < compressedMinBytes) continue
        writeFileSync(`${path}.br`, brotliCompressSync(text))
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }))
      }
    }
  }
}

/** GraphiQL's style carries fonts as data, which the policy of the pages forbids; the fonts of the system do. */
function withoutFonts(): Plugin {
  return {
    name: 'without-fonts',
    enforce: 'pre',
    transform: (code, id) =>
      id.includes('graphiql/dist/style.css')
        ? { code: code.replaceAll(/@font-face\s*\{[^}]*\}/g, ''), map: null }
        : null
  }
}

export default defineConfig({
  root: import.meta.dirname,
  // Every page is one segment below /ui/, so that relative addresses hold below any prefix.
  base: './',
  // React is that of the explorer alone, which Preact does not stand in for.
  plugins: [
    preact({ devToolsEnabled: false, prefreshEnabled: false, reactAliasesEnabled: false }),
    withoutFonts(),
    compress()
  ],
  build: {
    outDir,
    emptyOutDir: true,
    // The names, versions and licences of the libraries in the bundle: they ask for their notices to be kept.
    license: { fileName: 'licenses.json' },
    rolldownOptions: {
      onLog(level, log, report) {
        // A hint of React's compiler to itself, of no meaning in a bundle.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
      input: ['index.html', 'explorer.html', 'reference.html'].map((name) => join(import.meta.dirname, name))
    },
    target: 'es2022',
    // The policy of the pages allows files alone, no data: scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The explorer is that large, and loaded when it is asked for.
    chunkSizeWarningLimit: 2_000
  },
  // `npm run dev` in web: the API answers beside it.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/session', '/loads', '/lineage', '/domains', '/search', '/openapi'].map((path) => [
        path,
        'http://127.0.0.1:8080'
      ])
    )
  }
})
