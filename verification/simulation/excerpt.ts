import type { History } from '../../packages/checker/src/history.ts'

const SHOWN_FIRES = 30

/** What a text is about: the schedules that it names, the fires near its instants, and all that happened to the fleet. */
export function about(history: History, text: string): History {
  const isNamed = (schedule: string): boolean => text === '' || new RegExp(`\\b${schedule}\\b`).test(text)
  const instants = [...text.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)].map(([instant]) => Date.parse(instant))
  const last = history.reads.at(-1)
  const near = (last?.fires ?? [])
    .filter(({ schedule }) => isNamed(schedule))
    .sort((one, other) => distance(one.dueAt, instants) - distance(other.dueAt, instants))
    .slice(0, SHOWN_FIRES)
  const keys = new Set(near.map(({ schedule, dueAt, nonce }) => `${schedule} ${dueAt} ${nonce}`))
  const entries = history.entries.filter((entry) => {
    if (entry.kind === 'operation') return isNamed(entry.schedule)
    return !('dueAt' in entry) || keys.has(`${entry.schedule} ${entry.dueAt} ${entry.nonce}`)
  })
  return { ...history, entries, reads: last === undefined ? [] : [{ ...last, fires: near }] }
}

function distance(at: number, instants: readonly number[]): number {
  return instants.reduce((least, instant) => Math.min(least, Math.abs(at - instant)), Number.MAX_SAFE_INTEGER)
}
