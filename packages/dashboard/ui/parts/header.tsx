import { now, skewMs } from '../core/clock.ts'
import { formatDuration, formatTime, formatWall } from '../core/format.ts'
import { liveState, toggleLive } from '../core/live.ts'
import { shownZone, type Theme, theme, type ZoneMode, zoneMode } from '../core/preferences.ts'
import { access, settings, store } from '../core/session.ts'
import { Icon } from './icons.tsx'

/** A clock that is this far off is worth a word. */
const SKEW_MS = 1_000
const LIVE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  paused: 'Paused',
  hidden: 'Paused',
  broken: 'Reconnecting',
} as const

export function Header({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  return (
    <header class="top">
      <a class="brand" href="#/">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="16" r="13" />
          <path d="M16 8v8l6 4" />
        </svg>
        cronce
      </a>
      <EnvironmentBadge />
      <button type="button" class="search" onClick={onSearch} aria-label="Search ⌘K">
        <Icon name="search" />
        <span>Search</span>
        <kbd>⌘K</kbd>
      </button>
      {access.value === null ? null : <LiveButton />}
      <Clock />
      <ZoneSwitch />
      <ThemeButton />
      <button type="button" class="quiet help" onClick={onHelp} aria-label="Keyboard shortcuts">
        ?
      </button>
    </header>
  )
}

function EnvironmentBadge() {
  const { environment } = settings
  if (environment === null) return null
  return (
    <span class={`environment is-${environment.tone}`} title={environment.label}>
      {environment.label}
    </span>
  )
}

function LiveButton() {
  const state = liveState.value
  const words = LIVE_WORDS[state]
  return (
    <button type="button" class={`quiet live is-${state}`} aria-pressed={state !== 'paused'} onClick={toggleLive}>
      <span class="pulse" aria-hidden="true" />
      <span>{words}</span>
    </button>
  )
}

/** The store's clock decides, so it is the one to look at. */
function Clock() {
  if (store.value === null) return null
  const zone = shownZone(undefined)
  const skew = skewMs.value
  const isOff = Math.abs(skew) > SKEW_MS
  const title = `The clock of ${store.value.name}: ${formatWall(now.value, zone)} ${zone}`
  return (
    <span class="clock" title={title}>
      <time dateTime={new Date(now.value).toISOString()}>{formatTime(now.value, zone)}</time>
      <span class="muted"> {zone}</span>
      {isOff ? (
        <span class="skew">
          your clock is {formatDuration(skew)} {skew > 0 ? 'behind' : 'ahead'}
        </span>
      ) : null}
    </span>
  )
}

function ZoneSwitch() {
  return (
    <label class="zone">
      <span class="hidden">Times in</span>
      <select value={zoneMode.value} onChange={(event) => (zoneMode.value = event.currentTarget.value as ZoneMode)}>
        <option value="schedule">Zone of schedule</option>
        <option value="mine">My zone</option>
        <option value="utc">UTC</option>
      </select>
    </label>
  )
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const

function ThemeButton() {
  const words = `Theme: ${theme.value}`
  return (
    <button
      type="button"
      class="quiet theme"
      title={words}
      aria-label={words}
      onClick={() => (theme.value = NEXT[theme.value])}
    >
      <Icon name={ICONS[theme.value]} />
    </button>
  )
}
