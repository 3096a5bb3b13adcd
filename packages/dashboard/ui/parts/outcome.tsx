import type { State } from '../core/types.ts'

/** Each state has a colour and a shape, so that it is readable without colours. */
const SHAPES: Readonly<Record<State, string>> = {
  succeeded: 'M2 8.5l4 4 8-9',
  failed: 'M3 3l10 10M13 3L3 13',
  missed: 'M8 3a5 5 0 100 10A5 5 0 008 3',
  skipped: 'M3 13L13 3M3 8l5-5M8 13l5-5',
  abandoned: 'M8 2v4M8 10v4M2 8h4M10 8h4',
  cancelled: 'M3 8h10',
  open: 'M5 3l7 5-7 5z',
  running: 'M5 3l7 5-7 5z',
  cancelling: 'M5 3l7 5-7 5z',
  parked: 'M5 3v10M11 3v10',
}

export function OutcomeMark({ state }: { state: State }) {
  return (
    <svg class={`mark is-${state}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[state]} />
    </svg>
  )
}

export function OutcomeBadge({ state, reason }: { state: State; reason?: string | null | undefined }) {
  const isPlain = reason === undefined || reason === null || reason === 'completed'
  return (
    <span class={`badge is-${state}`}>
      <OutcomeMark state={state} />
      {state}
      {isPlain ? null : <span class="reason">{reason}</span>}
    </span>
  )
}

const SCHEDULE_TONES: Readonly<Record<string, string>> = {
  active: 'is-succeeded',
  paused: 'is-missed',
  retired: 'is-skipped',
  finished: 'is-skipped',
  live: 'is-succeeded',
  draining: 'is-missed',
  silent: 'is-failed',
  dead: 'is-failed',
  left: 'is-skipped',
}

/** Of a schedule or an instance. */
export function StateBadge({ state }: { state: string }) {
  return <span class={`badge dot ${SCHEDULE_TONES[state] ?? 'is-skipped'}`}>{state}</span>
}
