import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useKeys } from './core/keys.ts'
import { lazy } from './core/lazy.tsx'
import { startLive, toggleLive } from './core/live.ts'
import { goBack, place } from './core/router.ts'
import { screens } from './core/screens.ts'
import { access, isPassing, problem } from './core/session.ts'
import { Toast } from './parts/feedback.tsx'
import { Gate } from './parts/gate.tsx'
import { Header } from './parts/header.tsx'
import { Help } from './parts/help.tsx'
import { Nav } from './parts/nav.tsx'
import { Palette } from './parts/palette.tsx'
import { Patterns } from './parts/strip.tsx'
import { FireScreen } from './screens/fire.tsx'
import { FiresScreen } from './screens/fires.tsx'
import { OverviewScreen } from './screens/overview.tsx'
import { ScheduleScreen } from './screens/schedule.tsx'
import { SchedulesScreen } from './screens/schedules.tsx'

const Timeline = lazy(async () => (await import('./screens/timeline.tsx')).TimelineScreen)
const Calendar = lazy(async () => (await import('./screens/calendar.tsx')).CalendarScreen)
const Fleet = lazy(async () => (await import('./screens/fleet.tsx')).FleetScreen)
const Alerts = lazy(async () => (await import('./screens/alerts.tsx')).AlertsScreen)
const Activity = lazy(async () => (await import('./screens/activity.tsx')).ActivityScreen)
const Audit = lazy(async () => (await import('./screens/audit.tsx')).AuditScreen)

const LISTS: Readonly<Record<string, ComponentType>> = {
  '': OverviewScreen,
  schedules: SchedulesScreen,
  fires: FiresScreen,
  timeline: Timeline,
  calendar: Calendar,
  fleet: Fleet,
  alerts: Alerts,
  activity: Activity,
  audit: Audit,
}

export function App() {
  const [overlay, setOverlay] = useState<'palette' | 'help' | null>(null)
  useKeys({
    palette: () => setOverlay('palette'),
    '?': () => setOverlay('help'),
    l: toggleLive,
    Escape: goBack,
  })
  const close = (): void => setOverlay(null)
  return (
    <div class="app">
      <Patterns />
      <button type="button" class="skip" onClick={skip}>
        Skip to content
      </button>
      <Header onSearch={() => setOverlay('palette')} onHelp={() => setOverlay('help')} />
      {access.value === null ? (
        <Gate />
      ) : (
        <>
          <Nav />
          <Main />
        </>
      )}
      {overlay === 'palette' ? <Palette onClose={close} /> : null}
      {overlay === 'help' ? <Help onClose={close} /> : null}
      <Toast />
    </div>
  )
}

/** No link to `#main`: the part of the address behind `#` names the screen. */
function skip(): void {
  document.getElementById('main')?.focus()
}

function Main() {
  useEffect(startLive, [])
  const { path } = place.value
  const [first = '', name, dueAt] = path
  const title = screens().find((screen) => screen.path === first)?.title ?? 'cronce'
  useEffect(() => {
    document.title = name === undefined ? `${title} · cronce` : `${name} · cronce`
    document.getElementById('main')?.scrollTo(0, 0)
  }, [title, name])
  // Without access nothing is shown, also of what was read before.
  const isRefused = problem.value !== null && !isPassing(problem.value)
  return (
    <main id="main" tabIndex={-1}>
      {problem.value === null ? null : <Gate />}
      {isRefused ? null : <Chosen first={first} name={name} dueAt={dueAt} />}
    </main>
  )
}

function Chosen({ first, name, dueAt }: { first: string; name: string | undefined; dueAt: string | undefined }) {
  if (first === 'schedules' && name !== undefined) return <ScheduleScreen key={name} name={name} />
  if (first === 'fires' && name !== undefined && dueAt !== undefined)
    return <FireScreen key={`${name} ${dueAt}`} schedule={name} dueAt={dueAt} />
  const Screen = LISTS[first] ?? OverviewScreen
  return <Screen />
}
