/**
 * One lineage view: toolbar, status, drawing and overlays. The address has its state; the stage has the
 * viewport.
 */
import { Button } from '../parts/fields.tsx'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { assetAddress } from '../address.ts'
import { lineageGraph } from '../api/lineage-queries.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CardMark, WholeName } from '../parts/card-line.tsx'
import { AssetTabs } from '../parts/asset-tabs.tsx'
import { tellError } from '../parts/toasts.tsx'
import { lineageTexts as words } from '../texts/lineage.ts'
import { AsList, useIsNarrow } from './as-list.tsx'
import { coloursOf } from './colours.ts'
import { download } from './download.ts'
import { Drawer } from './drawer.tsx'
import { EdgePanel, edgesAt, hold } from './edge-panel.tsx'
import { Find } from './find.tsx'
import { Graph, type GraphActions } from './graph.tsx'
import { commandOf, nextItem } from './keyboard.ts'
import { Legend } from './legend.tsx'
import { MiniMap } from './mini-map.tsx'
import {
  bounds,
  collapsed,
  commandOf as viewCommand,
  expanded,
  expandedAlong,
  expandedBy,
  expandedToColumns,
  questionOf,
  recentred,
  type Direction,
  type ViewState
} from './model.ts'
import { groupId, pictureOf, type CardItem, type GraphAnswer } from './picture.ts'
import { sceneOf, type Scene } from './scene.ts'
import { StackList } from './stack-list.tsx'
import { createStage, placedOf, type Placed } from './stage.ts'
import { ColumnFocus, ColumnStatus, InView, PathChip, Status } from './status.tsx'
import { Toolbar } from './toolbar.tsx'
import { scales } from './visible.ts'
import type { Viewport } from './viewport.ts'

type Props = {
  answer: GraphAnswer
  state: ViewState
  isLoading: boolean
  /** Whether the link of the view is longer than some programs accept. */
  isLong: boolean
  /** Where the picture has the whole window; null if it has it. */
  large: string | null
  /** A problem, shown above everything else. */
  notice: ComponentChildren
  go: (next: ViewState, options?: { replace?: boolean }) => void
  leave: (address: string) => void
  /** Shown if there is no lineage. */
  empty: ComponentChildren
}

/** The factor of one press of a zoom key. */
const zoomStep = 1.25

export function View({ answer, state, isLoading, isLong, large, notice, go, leave, empty }: Props) {
  const stage = useMemo(createStage, [])
  const former = useRef<Scene | null>(null)
  const held = useRef<string | null>(null)
  const viewport = useRef<Viewport | null>(null)
  const [isReady, setReady] = useState(false)
  const [stack, setStack] = useState<{ id: string; element: Element } | null>(null)
  const [showsKeys, setShowsKeys] = useState(false)
  const isNarrow = useIsNarrow()

  const { group, toggledGroups, column, showsColumns } = state
  const placed = useMemo((): Placed => {
    const picture = pictureOf(answer, { group, toggledGroups, column, showsColumns })
    const scene = sceneOf(picture, former.current, held.current ?? state.urn)
    former.current = scene
    held.current = null
    return placedOf(picture, scene)
  }, [answer, group, toggledGroups.join(' '), column, showsColumns])
  const { picture, scene } = placed
  const cardById = useMemo(() => new Map(picture.cards.map((card) => [card.id, card])), [picture])
  const colours = useMemo(
    () =>
      coloursOf(
        picture.cards.map(({ node }) => node),
        state.colour
      ),
    [picture, state.colour]
  )
  const legible = showsColumns || column !== null ? scales.rows : scales.legible
  const toOpen = useRef<string | null>(null)
  /** What the view is fitted around after groups have changed, or the columns of a path were added. */
  const toFit = useRef<string | null>(null)
  const start = answer.nodes[0]?.card ?? { urn: state.urn, name: state.urn }

  useLayoutEffect(() => {
    stage.placed.value = placed
    requestAnimationFrame(() => {
      setTimeout(() => performance.mark('graph:paint'))
    })
  }, [placed])
  useEffect(() => {
    stage.lockedColumn.value = column
  }, [column])

  // The first picture of a start is shown as a whole, or centred on its start; later pictures keep the
  // viewport.
  const shownStart = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (!viewport.current || shownStart.current === start.urn) return
    const box = scene.byId.get(start.urn)?.box
    if (shownStart.current === null) viewport.current.fit(scene.bounds, box, legible, scales.reading)
    else if (box) viewport.current.reveal(box)
    shownStart.current = start.urn
  }, [isReady, start.urn, placed])

  // The drawer takes a part of the drawing.
  const selectedBox = state.selected === null ? undefined : scene.byId.get(state.selected)?.box
  useLayoutEffect(() => {
    if (selectedBox) viewport.current?.reveal(selectedBox)
  }, [state.selected, isReady])

  const change = (next: Partial<ViewState>, options?: { replace?: boolean }): void => {
    go({ ...state, ...next }, options)
  }
  const focusItem = (id: string): void => {
    const box = scene.byId.get(id)?.box
    if (!box) {
      const group = cardById.get(id)?.group
      if (group == null) return
      // The item is in a closed group: it gets the focus once the group is open.
      toOpen.current = id
      toggleGroup(group)
      return
    }
    stage.focused.value = id
    viewport.current?.reveal(box)
    // The item may not be drawn yet.
    requestAnimationFrame(() => {
      setTimeout(() => {
        const name = CSS.escape(id)
        document
          .querySelector<SVGGElement>(`.graph :is([data-node="${name}"], [data-item="${name}"]) > .card`)
          ?.focus({ preventScroll: true })
      })
    })
  }
  const cardOf = (urn: string): CardItem | null => cardById.get(urn) ?? null
  const expand = (urn: string, direction: Direction, { all = false } = {}): void => {
    const hidden = cardOf(urn)?.sides[direction].hidden ?? 0
    const isCollapsed = state.collapsed.some((each) => each.urn === urn && each.direction === direction)
    if (hidden === 0 && !isCollapsed) return
    held.current = urn
    go(expanded(state, { urn, direction }, { hidden, all }))
  }
  const collapse = (urn: string, direction: Direction): void => {
    const side = cardOf(urn)?.sides[direction]
    if (!side?.isOpen) return
    held.current = urn
    go(collapsed(state, { urn, direction }))
  }
  const toggleColumns = (): void => {
    change({ showsColumns: !showsColumns, column: null })
  }
  const toggleGroup = (id: string): void => {
    toFit.current = id
    change({
      toggledGroups: toggledGroups.includes(id)
        ? toggledGroups.filter((each) => each !== id)
        : [...toggledGroups, id]
    })
  }
  const choose = (urn: string): void => {
    change({ selected: state.selected === urn ? null : urn }, { replace: true })
  }
  const chooseColumn = (urn: string): void => {
    if (urn.startsWith('urn:')) change({ column: column === urn ? null : urn })
  }
  const activate = (id: string): void => {
    const item = scene.byId.get(id)?.item
    if (item?.kind === 'card') choose(id)
    else if (item?.kind === 'group') toggleGroup(item.group)
    else if (item) {
      const element = document.querySelector(`.graph [data-item="${CSS.escape(id)}"]`)
      if (element) setStack({ id, element })
    }
  }
  useEffect(() => {
    const id = toFit.current
    const box =
      id === null
        ? null
        : (scene.groups.find((each) => each.id === id) ?? scene.byId.get(groupId(id)) ?? scene.byId.get(id))
    if (box) viewport.current?.fit(scene.bounds, box.box, legible)
    toFit.current = null
    if (toOpen.current === null || !scene.byId.has(toOpen.current)) return
    focusItem(toOpen.current)
    toOpen.current = null
  }, [placed])
  const tableAddress = assetAddress(state.urn, { tab: 'impact', dir: state.sides === 'up' ? 'up' : null })
  const keyDown: GraphActions['keyDown'] = (event, focused) => {
    const command = commandOf(event)
    if (!command) return
    // Enter presses the buttons and rows within a card.
    const isCard = event.target instanceof Element && event.target.classList.contains('card')
    if (command.kind === 'choose' && !isCard) {
      event.preventDefault()
      if (event.target instanceof Element)
        event.target.dispatchEvent(new MouseEvent('click', { bubbles: true }))
      return
    }
    event.preventDefault()
    // The shell has its own list of keys.
    event.stopPropagation()
    const id = focused !== null && scene.byId.has(focused) ? focused : start.urn
    switch (command.kind) {
      case 'move': {
        const next = nextItem(scene, id, command.arrow)
        if (next !== null) focusItem(next)
        break
      }
      case 'expand':
        expand(id, command.direction)
        break
      case 'collapse':
        collapse(id, command.direction)
        break
      case 'choose':
        activate(id)
        break
      case 'edges': {
        const [first] = edgesAt(placed, id)
        if (first !== undefined) hold(stage, first, id)
        break
      }
      case 'columns':
        toggleColumns()
        break
      case 'fit':
        fit()
        break
      case 'table':
        leave(tableAddress)
        break
      case 'keys':
        setShowsKeys(true)
        break
      case 'clear':
        stage.pointed.value = null
        change({ selected: null, column: null, pathTo: null }, { replace: true })
        break
      case 'zoomIn':
        viewport.current?.zoomBy(zoomStep)
        break
      case 'zoomOut':
        viewport.current?.zoomBy(1 / zoomStep)
        break
      case 'zoomReset':
        viewport.current?.zoomBy(1 / stage.view.peek().scale)
        break
    }
  }
  const fit = (): void => {
    const middle = scene.byId.get(state.selected ?? state.urn) ?? scene.byId.get(state.urn)
    viewport.current?.fit(scene.bounds, middle?.box, legible)
  }
  const actions: GraphActions = {
    choose,
    chooseColumn,
    expand,
    collapse,
    toggleGroup,
    keyDown,
    openStack: (id, element) => {
      setStack({ id, element })
    },
    showColumnsOf: (urn) => {
      change({ selected: urn }, { replace: true })
    },
    reveal: (id) => {
      const box = scene.byId.get(id)?.box
      if (box) viewport.current?.reveal(box)
    }
  }
  const selected = state.selected === null ? null : cardOf(state.selected)
  const openStack = stack === null ? null : scene.byId.get(stack.id)?.item
  const drawer = selected && (
    <Drawer
      key={selected.id}
      item={selected}
      start={start}
      showsColumns={showsColumns}
      hidesJobs={state.hidesJobs}
      column={column}
      chooseColumn={chooseColumn}
      recentre={() => {
        held.current = selected.id
        go(recentred(state, selected.id))
      }}
      showPaths={(paths) => {
        go(expandedAlong({ ...state, pathTo: selected.id, selected: null }, paths))
      }}
      expand={(direction) => {
        expand(selected.id, direction)
      }}
      collapse={(direction) => {
        collapse(selected.id, direction)
      }}
      close={() => {
        change({ selected: null }, { replace: true })
        focusItem(selected.id)
      }}
    />
  )
  const isTooBig = answer.nodes.length >= state.maxCards && picture.counts.shown < picture.counts.total
  return (
    <div class="lineage" data-testid="lineage" aria-busy={isLoading}>
      {large === null && (
        <div class="picture-head">
          <h1 class="picture-title" aria-label={words.title(start.name)}>
            {'type' in start && <CardMark card={start} />}
            <a href={assetAddress(start.urn)}>{'type' in start ? <WholeName card={start} /> : start.name}</a>
          </h1>
          {'type' in start && <AssetTabs card={start} current="lineage" hasAspects={start.exists} />}
        </div>
      )}
      {notice}
      <Toolbar
        state={state}
        isNarrow={isNarrow}
        change={(next) => {
          if (next.group !== undefined) toFit.current = state.urn
          change(next)
        }}
        tableAddress={tableAddress}
        large={large}
        fit={fit}
        showKeys={() => {
          setShowsKeys(true)
        }}
        exportAs={(format) => {
          download(placed, words.title(start.name), colours, format).catch(tellError)
        }}
      />
      <div class="status">
        <Status answer={answer} placed={placed} />
        {!isNarrow && <InView stage={stage} />}
        {answer.timeRule !== null && <span data-testid="time-rule">{answer.timeRule}</span>}
        {showsColumns && <ColumnStatus placed={placed} />}
        {column !== null && (
          <ColumnFocus
            placed={placed}
            column={column}
            state={state}
            show={(edges) => {
              toFit.current = state.urn
              go(expandedToColumns(state, cardById.keys(), edges))
            }}
            clear={() => {
              change({ column: null })
            }}
          />
        )}
        {state.pathTo !== null && (
          <PathChip
            key={`${state.urn} ${state.pathTo}`}
            state={state}
            answer={answer}
            show={(paths) => {
              go(expandedAlong(state, paths), { replace: true })
            }}
            setPaths={(paths) => {
              stage.paths.value = paths
            }}
            clear={() => {
              change({ pathTo: null })
            }}
          />
        )}
        {isTooBig && (
          <span class="row" data-testid="too-big">
            <strong>{words.tooBig.title(picture.counts.shown, picture.counts.total)}</strong>{' '}
            {words.tooBig.text}
            <a class="button" href={tableAddress}>
              {words.tooBig.table}
            </a>
            {group === 'none' && (
              <Button run={() => change({ group: 'domain' })}>{words.tooBig.group}</Button>
            )}
            {state.maxCards < bounds.cardsMost && (
              <Button run={() => change({ maxCards: bounds.cardsMost })}>
                {words.tooBig.all(bounds.cardsMost)}
              </Button>
            )}
          </span>
        )}
        {isLong && <span data-testid="long-link">{words.longLink(location.href.length)}</span>}
        <span class="row end">
          <Find picture={picture} goTo={focusItem} />
          <CopyAs
            graphql={{
              text: lineageGraph.text,
              variables: { input: questionOf(state), columns: state.showsColumns }
            }}
            command={viewCommand(state)}
          />
        </span>
      </div>
      {isNarrow ? (
        <div class="canvas narrow">
          <AsList picture={picture} choose={choose} selected={state.selected} expand={expand} />
          {drawer}
        </div>
      ) : (
        <div class={selected ? 'canvas with-drawer' : 'canvas'}>
          <Graph
            stage={stage}
            name={start.name}
            colours={colours}
            selected={state.selected}
            column={column}
            actions={actions}
            ready={(made) => {
              viewport.current = made
              setReady(true)
            }}
          />
          <MiniMap stage={stage} viewport={isReady ? viewport.current : null} />
          <EdgePanel
            stage={stage}
            close={(card) => {
              stage.pointed.value = null
              if (scene.byId.has(card)) focusItem(card)
            }}
          />
          {openStack?.kind === 'stack' && stack && (
            <StackList
              key={stack.id}
              stack={openStack}
              anchor={stack.element}
              state={state}
              shown={new Set(answer.nodes.map(({ card }) => card.urn))}
              add={(urns) => {
                setStack(null)
                held.current = openStack.urn
                go(expandedBy(state, openStack, urns))
              }}
              next={(options) => {
                setStack(null)
                expand(openStack.urn, openStack.direction, options)
              }}
              close={() => {
                setStack(null)
                focusItem(stack.id)
              }}
            />
          )}
          {drawer}
          {empty}
        </div>
      )}
      {!isNarrow && (
        <Legend
          stage={stage}
          cards={picture.cards}
          colours={colours}
          colouring={state.colour}
          goTo={focusItem}
          choose={(colour) => {
            change({ colour })
          }}
        />
      )}
      {showsKeys && (
        <Dialog
          title={words.keys.title}
          close={() => {
            setShowsKeys(false)
          }}
        >
          <dl class="keys">
            {words.keys.rows.map(([key, meaning]) => (
              <div key={key} class="row apart">
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <Button run={() => setShowsKeys(false)}>{words.keys.close}</Button>
        </Dialog>
      )}
    </div>
  )
}
