/** The side bar: the sections and links of docs/README.md, so that there is one list of the pages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One group for each heading, with an item for each line of its list, named as the line's first link. */
export function contentsOf(docs) {
  const sections = readFileSync(join(docs, 'README.md'), 'utf8').split(/^## /m).slice(1)
  return sections.map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)#]+)\.md\)/gm)].map(([, text, page]) => ({
      text,
      link: `/${page.replace(/README$/, '')}`
    }))
  }))
}
