import { useEffect, useState } from 'preact/hooks'
import { toggleLive } from '../core/live.ts'
import { useLoad } from '../core/load.ts'
import { theme, zoneMode } from '../core/preferences.ts'
import { go, link, scheduleLink } from '../core/router.ts'
import { allSchedules } from '../core/schedules.ts'
import { screens } from '../core/screens.ts'
import { Dialog } from './dialog.tsx'

interface Choice {
  readonly title: string
  readonly kind: string
  readonly act: () => void
}

const MOST = 16
/** Also what has no place in the header of a phone. */
const SETTINGS: readonly Choice[] = [
  { title: 'Times in the zone of the schedule', kind: 'setting', act: () => (zoneMode.value = 'schedule') },
  { title: 'Times in my zone', kind: 'setting', act: () => (zoneMode.value = 'mine') },
  { title: 'Times in UTC', kind: 'setting', act: () => (zoneMode.value = 'utc') },
  { title: 'Light theme', kind: 'setting', act: () => (theme.value = 'light') },
  { title: 'Dark theme', kind: 'setting', act: () => (theme.value = 'dark') },
  { title: 'Theme of the system', kind: 'setting', act: () => (theme.value = 'system') },
  { title: 'Live updates on or off', kind: 'setting', act: toggleLive },
]

/** Finds a screen, a schedule or a setting by any part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { data } = useLoad('palette', allSchedules)
  const found = matching(text, data?.items.map(({ name }) => name) ?? [])
  useEffect(() => setAt(0), [text])
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    choice.act()
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
        placeholder="A schedule, a screen or a setting"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" class="choices" role="listbox" aria-label="Found">
        {found.map((choice, index) => (
          <button
            type="button"
            key={`${choice.kind} ${choice.title}`}
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
  const places = screens().map(({ path, title }) => ({
    title,
    kind: 'screen',
    act: () => go(link(path === '' ? [] : [path])),
  }))
  if (wanted === '') return [...places, ...SETTINGS]
  const schedules = names.filter(has).slice(0, MOST)
  return [
    ...places.filter(({ title }) => has(title)),
    ...schedules.map((title) => ({ title, kind: 'schedule', act: () => go(scheduleLink(title)) })),
    ...SETTINGS.filter(({ title }) => has(title)),
  ].slice(0, MOST)
}
