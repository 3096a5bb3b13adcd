import type { Slot } from './fleet.ts'
import { SLOTS } from './fleet.ts'
import type { Evidence, Ledger } from './ledger.ts'
import { reasons, totalOf } from './picture.ts'
import type { Style } from './style.ts'

/** The end of the demo, in full. */
export function report(
  ledger: Ledger,
  evidence: Evidence,
  slotOf: (instance: string) => Slot | undefined,
  style: Style,
): string {
  const by = SLOTS.map((slot) => `${slot} ${evidence.runs.filter(({ instance }) => slotOf(instance) === slot).length}`)
  const { overtaken } = ledger
  const late =
    overtaken === 1 ? ', as was 1 run that had been overtaken' : `, as were ${overtaken} that had been overtaken`
  const seen = `seen to end by their own files${overtaken === 0 ? '' : late}`
  const why = (counts: ReadonlyMap<string, number>): string => reasons(counts).replace(/^\d+ ?\(?|\)$/g, '')
  const rows: (readonly [name: string, count: number, note: string, isZero?: boolean])[] = [
    ['due', ledger.due, `by arithmetic alone, of schedules that are due every 1, 2 and 5 seconds`],
    ['ran', ledger.ran, seen],
    ['skipped', totalOf(ledger.skipped), why(ledger.skipped)],
    ['missed', totalOf(ledger.missed), why(ledger.missed)],
    ['failed', ledger.failed, ''],
    [
      'run again',
      totalOf(ledger.again),
      [...ledger.again].map(([reason, count]) => `${count} ${AGAIN[reason] ?? reason}`).join(', '),
    ],
    ['paid', evidence.payments.length, `rows in the user's table, one for each fire of ${evidence.paying}`],
    ['early', ledger.early.length, '', true],
    ['duplicates', ledger.duplicates.length, '', true],
    ['lost', ledger.lost.length, '', true],
  ]
  const lines = rows.map(([name, count, note, isZero]) => {
    const number = String(count).padStart(5)
    const shown = isZero === true ? style(count === 0 ? 'green' : 'red', number) : number
    return `   ${name.padEnd(11)}${shown}   ${style('dim', note)}`.trimEnd()
  })
  const title = " The ledger, from two witnesses: the handlers' files and the store's records"
  return [style('bold', title), '', ...lines, '', ` runs by process: ${by.join(', ')}`].join('\n')
}

const AGAIN: Readonly<Record<string, string>> = {
  error: 'after an error',
  crashed: 'taken over',
  'handed-back': 'handed back',
}

/** What was promised and not kept, in words, and the exit code. A fault that did not happen proves nothing. */
export function verdict(
  ledger: Ledger,
  isStoryDone: boolean,
): { readonly problems: readonly string[]; readonly code: 0 | 1 } {
  const { duplicates, lost, early } = ledger
  const problems = [...duplicates, ...lost, ...early]
  if (!isStoryDone)
    problems.push('Not all faults could be made to happen: this machine is too slow, or something hangs.')
  return { problems, code: problems.length === 0 ? 0 : 1 }
}
