import type { FireView, Outcome, RunView } from 'cronce'
import { OUTCOMES } from 'cronce'
import type { Args, Flags } from './args.ts'
import { formatDuration } from './format.ts'
import type { Color, Paint } from './terminal.ts'
import { UsageError } from './usage-error.ts'

export type State = Outcome | 'open' | 'running' | 'cancelling' | 'parked'

/** One character an outcome: the higher, the better, so that it can be read without colours. */
export const MARKS: Readonly<Record<State, string>> = {
  succeeded: '█',
  failed: '▄',
  abandoned: '▂',
  missed: '▁',
  skipped: '░',
  cancelled: '▒',
  open: '▸',
  running: '▸',
  cancelling: '▸',
  parked: '▸',
}

export const MARK_WORDS = '█ succeeded  ▄ failed  ▂ abandoned  ▁ missed  ░ skipped  ▒ cancelled  ▸ open'

const COLORS: Readonly<Record<State, Color>> = {
  succeeded: 'green',
  failed: 'red',
  abandoned: 'red',
  missed: 'yellow',
  skipped: 'dim',
  cancelled: 'dim',
  open: 'cyan',
  running: 'cyan',
  cancelling: 'yellow',
  parked: 'cyan',
}

export function stateColor(state: State): Color {
  return COLORS[state]
}

export const OUTCOME_FLAGS = {
  outcome: {
    type: 'string',
    value: 'OUTCOME',
    choices: [...OUTCOMES, 'open'],
    list: true,
    help: `Only those with this outcome: ${[...OUTCOMES].join(', ')}, or open; several with commas`,
  },
  failed: { type: 'boolean', help: 'The same as --outcome failed,abandoned' },
} as const satisfies Flags

/** `null`: whatever the outcome. */
export function readOutcomes(args: Args): readonly (Outcome | 'open')[] | null {
  const text = args.text('outcome')
  if (args.has('failed')) {
    if (text !== undefined) throw new UsageError('--failed and --outcome are two choices.', 'Leave out one.')
    return ['failed', 'abandoned']
  }
  // The choices of the flag were checked.
  return text === undefined ? null : ([...new Set(text.split(','))] as (Outcome | 'open')[])
}

/** The latest on the right. A range of instants that ended alike is as many characters as there is room for. */
export function strip(latestFirst: readonly Pick<FireView, 'state' | 'range'>[], length: number): string {
  let marks = ''
  for (const { state, range } of latestFirst) {
    if (marks.length >= length) break
    marks += MARKS[state].repeat(Math.min(range?.count ?? 1, length - marks.length))
  }
  return [...marks].reverse().join('').padStart(length)
}

export function paintStrip(text: string, paint: Paint): string {
  const states = Object.entries(MARKS) as [State, string][]
  return Array.from(text, (mark) => {
    const state = states.find(([, known]) => known === mark)?.[0]
    return state === undefined ? mark : paint(COLORS[state], mark)
  }).join('')
}

/** `failed (timeout)`; a reason that says no more than the outcome is left out. */
export function endingWords({ state, reason }: Pick<FireView | RunView, 'state' | 'reason'>): string {
  return reason === null || reason === 'completed' ? state : `${state} (${reason})`
}

/** `, 23 s late (room)`; nothing of less than a second. */
export function lateWords({ latenessMs, cause }: Pick<RunView, 'latenessMs' | 'cause'>): string {
  if (latenessMs < 1_000) return ''
  return `, ${formatDuration(latenessMs)} late${cause === null ? '' : ` (${cause})`}`
}
