/**
 * Builds the web UI into dist/site: names with hashes, and for each text file a copy compressed with Brotli
 * and one with gzip.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const outDir = join(import.meta.dirname, '..', 'dist', 'site')

/** A smaller file is not worth a compressed copy. */
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

/**
 * GraphiQL's style contains fonts as data, which the policy of the pages forbids. Without them, the fonts of
 * the system are used.
 */
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
  // Every page is one segment below /ui/, so relative addresses are right below any prefix.
  base: './',
  plugins: [withoutFonts(), compress()],
  build: {
    outDir,
    emptyOutDir: true,
    // The names, versions and licences of the libraries in the bundle, because they require that their
    // notices are kept.
    license: { fileName: 'licenses.json' },
    rolldownOptions: {
      onLog(level, log, report) {
        // A hint for React's own compiler, which has no meaning in a bundle.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      }
    },
    target: 'es2022',
    // The policy of the pages allows only files, not data, for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The explorer is this large, and is only loaded on request.
    chunkSizeWarningLimit: 2_000
  },
  // For `npm run dev` in web: the API is another process.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/session', '/loads', '/lineage', '/domains', '/search', '/openapi'].map((path) => [
        path,
        'http://127.0.0.1:8080'
      ])
    )
  }
})
