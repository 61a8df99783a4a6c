/** Everything upstream and downstream of a card or a column in a picture, and the edges on the way. */

export type Link = { id: string; from: string; to: string }

export type Closure = { members: ReadonlySet<string>; links: ReadonlySet<string> }

/** Links by their ends, made once per picture, so that hovering only needs a walk. */
export type Links = { from: ReadonlyMap<string, readonly Link[]>; to: ReadonlyMap<string, readonly Link[]> }

export function linksOf(links: readonly Link[]): Links {
  const from = new Map<string, Link[]>()
  const to = new Map<string, Link[]>()
  const add = (by: Map<string, Link[]>, end: string, link: Link): void => {
    const own = by.get(end)
    if (own) own.push(link)
    else by.set(end, [link])
  }
  for (const link of links) {
    add(from, link.from, link)
    add(to, link.to, link)
  }
  return { from, to }
}

/** The start, its ancestors and descendants, and every link on a path between the start and one of them. */
export function closureOf(links: Links, start: string): Closure {
  const members = new Set([start])
  const crossed = new Set<string>()
  const walk = (by: ReadonlyMap<string, readonly Link[]>, farEnd: (link: Link) => string): void => {
    const seen = new Set([start])
    const open = [start]
    for (let near = open.pop(); near !== undefined; near = open.pop()) {
      for (const link of by.get(near) ?? []) {
        crossed.add(link.id)
        const far = farEnd(link)
        if (seen.has(far)) continue
        seen.add(far)
        members.add(far)
        open.push(far)
      }
    }
  }
  walk(links.from, ({ to }) => to)
  walk(links.to, ({ from }) => from)
  return { members, links: crossed }
}

/** The members on the links of the given paths, one list in order for each path. */
export function closureOfPaths(links: Links, paths: readonly (readonly string[])[]): Closure {
  const members = new Set(paths.flat())
  const crossed = new Set<string>()
  for (const path of paths) {
    for (const [index, member] of path.entries()) {
      const next = path[index + 1]
      for (const link of links.from.get(member) ?? []) if (link.to === next) crossed.add(link.id)
    }
  }
  return { members, links: crossed }
}

const jobTypes: ReadonlySet<string> = new Set(['DATA_JOB', 'DATA_PROCESS_INSTANCE'])

/** Paths as a view shows them: if it hides jobs, each path once, without the jobs between its ends. */
export function shownPaths(
  paths: readonly (readonly { urn: string; type: string }[])[],
  { hidesJobs }: { hidesJobs: boolean }
): string[][] {
  const shown = paths.map((path) =>
    path
      .filter(
        ({ type }, place) => !hidesJobs || place === 0 || place === path.length - 1 || !jobTypes.has(type)
      )
      .map(({ urn }) => urn)
  )
  return [...new Map(shown.map((path) => [path.join(' '), path])).values()]
}
