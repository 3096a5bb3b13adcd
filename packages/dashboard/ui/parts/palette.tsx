import { useEffect, useState } from 'preact/hooks'
import { useLoad } from '../core/load.ts'
import { go, link, scheduleLink } from '../core/router.ts'
import { allSchedules } from '../core/schedules.ts'
import { screens } from '../core/screens.ts'
import { Dialog } from './dialog.tsx'

interface Choice {
  readonly title: string
  readonly kind: string
  readonly to: string
}

const MOST = 12

/** Finds a screen or a schedule by any part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { data } = useLoad('palette', allSchedules)
  const found = matching(text, data?.items.map(({ name }) => name) ?? [])
  useEffect(() => setAt(0), [text])
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    go(choice.to)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') choose(found[at])
    else if (step !== undefined) setAt((old) => Math.min(found.length - 1, Math.max(0, old + step)))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        class="palette"
        type="search"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        placeholder="A schedule or a screen"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" class="choices" role="listbox" aria-label="Found">
        {found.map((choice, index) => (
          <button
            type="button"
            key={choice.to}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(choice)}
          >
            <span>{choice.title}</span>
            <span class="muted">{choice.kind}</span>
          </button>
        ))}
        {found.length === 0 ? <p class="muted">Nothing has this in its name.</p> : null}
      </div>
    </Dialog>
  )
}

function matching(text: string, names: readonly string[]): readonly Choice[] {
  const wanted = text.trim().toLowerCase()
  const has = (title: string): boolean => title.toLowerCase().includes(wanted)
  const places = screens().map(({ path, title }) => ({ title, kind: 'screen', to: link(path === '' ? [] : [path]) }))
  const schedules = names.filter(has).slice(0, MOST)
  return [
    ...places.filter(({ title }) => has(title)),
    ...schedules.map((title) => ({ title, kind: 'schedule', to: scheduleLink(title) })),
  ].slice(0, MOST)
}
