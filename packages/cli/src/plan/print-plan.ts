import type { Io } from '../io.ts'
import { Labelled } from '../labelled.ts'
import { type Color, columnsOf, sanitize } from '../terminal.ts'
import type { ChangeKind } from './find-changes.ts'
import type { Plan } from './make-plan.ts'
import {
  countWords,
  crowdWords,
  fireWords,
  hasOtherTimes,
  kindWords,
  loadWords,
  MARKS,
  nextRows,
  spreadWords,
} from './plan-words.ts'
import type { PlannedChange } from './planned-change.ts'

const COLORS: Readonly<Record<ChangeKind, Color>> = {
  ...{ added: 'green', returned: 'green', changed: 'yellow', renamed: 'cyan' },
  ...{ retired: 'red', undeclared: 'yellow', refused: 'red' },
}
const LABEL = 16

/** The plan for people. */
export function printPlan(plan: Plan, where: string, io: Io): void {
  const { app, deployment, isIdAssumed, changes, remarks } = plan
  const release = isIdAssumed ? 'a new release' : `release ${deployment}`
  io.out(`${io.paint('bold', sanitize(`App ${app}, ${release}, on ${where}`))}\n`)
  if (changes.length === 0) io.out('\nNothing changes: the store has what the code declares.\n')
  for (const change of changes) printChange(change, plan, io)
  if (changes.length === 0 && remarks.length === 0) return
  const page = new Labelled(io, LABEL)
  if (remarks.length > 0) page.heading('To look at')
  for (const { level, code, message, hint } of remarks) page.row(level, `${message} ${hint} (${code})`)
  if (changes.length > 0) addLoad(plan, page)
  page.print()
}

function addLoad(plan: Plan, page: Labelled): void {
  const [crowds, spread] = [crowdWords(plan), spreadWords(plan)]
  page.heading('Load')
  for (const line of [...loadWords(plan), ...crowds]) page.line(`  ${sanitize(line)}`)
  if (crowds.length > 0 && spread.length > 0) {
    page.heading('To spread them')
    for (const line of spread) page.line(`  ${sanitize(line)}`)
  }
  page.line('')
  page.line(`${countWords(plan)}.`)
}

function printChange(change: PlannedChange, plan: Plan, io: Io): void {
  const { kind, name, differences } = change
  const head = `${MARKS[kind]} ${name}`
  io.out(`\n${io.paint(COLORS[kind], sanitize(head))}  ${sanitize(kindWords(change, plan))}\n`)
  const text = new Labelled(io, LABEL)
  for (const { what, before, after } of differences) text.row(`  ${what}`, `${before} → ${after}`)
  const fires = fireWords(change)
  text.row('  due times', fires)
  for (const words of change.clockChanges) text.row('  clock changes', words)
  if (hasOtherTimes(change)) text.lines('  next', nextLines(change))
  if (differences.length > 0 || fires !== null || change.clockChanges.length > 0 || hasOtherTimes(change)) text.print()
}

/** Two columns, or one if there is only one side. */
function nextLines(change: PlannedChange): readonly string[] {
  const rows = nextRows(change)
  if (change.next.before.length === 0 || change.next.after.length === 0) return rows.map(([was, is]) => was + is)
  const width = Math.max('before'.length, ...rows.map(([was]) => columnsOf(was)))
  return [['before', 'after'] as const, ...rows].map(([was, is]) => `${was.padEnd(width)}  ${is}`)
}
