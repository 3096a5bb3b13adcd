import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const tested = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/calendar.test.ts',
  names,
})
const byOracle: CaughtBy = {
  judge: 'tests',
  file: 'packages/cronce/test/trigger/calendar-properties.test.ts',
  names: [
    'what fires, and what is excluded, is what the oracle says: random calendars and expressions around zone changes',
  ],
}

/** Mistakes about business calendars. */
export const CALENDAR_MUTANTS: readonly Mutant[] = [
  {
    name: 'closed-days-leave-no-record',
    rule: 'P5',
    breaks: 'What a calendar excludes is passed over without a record.',
    edits: [edit('policy/plan/plan.ts', '    if (!isOnRecord) found.push({ dueAt: at, readyAt: at, isApart })\n', '')],
    caughtBy: { judge: 'simulation', names: ['C10', 'S13'] },
  },
  {
    name: 'closed-days-collapse',
    rule: 'P5',
    breaks: 'A fire that moves to a day with fires of its own is neither run nor recorded.',
    edits: [edit('trigger/moved-days.ts', ' || this.#isNamed(target)', '')],
    caughtBy: byOracle,
  },
  {
    name: 'closed-days-fire',
    rule: 'P1',
    breaks: 'A closed day fires although its fires have moved.',
    edits: [edit('trigger/moved-days.ts', 'this.#isOpen(day) && (this.#isNamed(day)', '(this.#isNamed(day)')],
    caughtBy: { judge: 'simulation', names: ['C4', 'C10', 'S8'] },
  },
  {
    name: 'nearest-is-later',
    rule: 'P1',
    breaks: 'Of two open days that are equally near, the later one counts.',
    edits: [edit('trigger/moved-days.ts', 'day - before <= after - day', 'day - before < after - day')],
    caughtBy: byOracle,
  },
  {
    name: 'last-workday-by-weekday',
    rule: 'P1',
    breaks: 'W and LW do not know the calendar.',
    edits: [edit('trigger/cron-days.ts', '  if (closed !== null) return nearestOpen(day, length, closed)\n', '')],
    caughtBy: byOracle,
  },
  {
    name: 'closed-day-supersedes',
    rule: 'rule 28',
    breaks: 'The latest late fire ends as superseded, although only closed days follow.',
    edits: [edit('policy/plan/plan.ts', 'leavesLate ? hasNewer(stretch) :', 'leavesLate ||')],
    caughtBy: tested('after an outage the latest fire runs, though what the calendar excludes comes after it'),
  },
  {
    name: 'skip-passes-closed-days',
    rule: 'P5',
    breaks: 'If an operator skips the next fire, what the calendar excludes before it is on no record.',
    edits: [edit('policy/operate/skip-next.ts', 'hasCalendar(state.definition) ? markOf(state) : dueAt', 'dueAt')],
    caughtBy: tested('a skip of the next fire leaves what the calendar excludes before it to be recorded'),
  },
  {
    name: 'closed-days-beyond-the-limit',
    rule: 'P5',
    breaks: 'A schedule whose limit is used up goes on to record what its calendar excludes.',
    edits: [
      edit(
        'policy/plan/excluded.ts',
        'return hasCalendar(definition) && !isUsedUp(definition, fired)',
        'return hasCalendar(definition) && fired >= 0',
      ),
    ],
    caughtBy: tested('what the calendar excludes does not count against the limit, and nothing is recorded beyond it'),
  },
  {
    name: 'shortcut-over-closed-days',
    rule: 'P5',
    breaks: 'The shortcut for the common case moves the mark past what the calendar excludes.',
    edits: [edit('policy/plan/plain-fire.ts', '  if (hasCalendar(definition)) return false\n', '')],
    caughtBy: tested('two times that come to one day are one fire and one record, which names the other'),
  },
]
