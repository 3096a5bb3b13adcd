import { slug, uniqueNames } from '../job-names.ts'
import { type FoundTask, type FoundTasks, findTasks, type Load } from './find-tasks.ts'
import { Unreadable } from './tokens.ts'

/** `coordinator`: node-cron stays, and asks who runs. `drop-in`: its import becomes that of cronce. */
export type Way = 'coordinator' | 'drop-in'

export interface SourceFile {
  readonly file: string
  readonly text: string
}

export interface TaskPlan {
  readonly file: string
  readonly line: number
  /** The expression, if it is a literal. */
  readonly expression: string | null
  /** The name that it has or gets; `null`: it has none, or one that is computed. */
  readonly name: string | null
  /** The code that computes its name. */
  readonly nameCode: string | null
  /** `edit`: it is changed. `done`: nothing is missing. `own`: it is to run in every process. `by-hand`: it needs its author. */
  readonly action: 'edit' | 'done' | 'own' | 'by-hand'
  /** What to do by hand. */
  readonly why: string | null
  /** Options that it has and that mean something else in a fleet. */
  readonly fleetOptions: readonly FleetOption[]
}

export type FleetOption = 'maxExecutions' | 'noOverlap'

export interface FilePlan extends SourceFile {
  /** As it would be. */
  readonly edited: string
  readonly changes: readonly LineChange[]
}

export interface LineChange {
  readonly line: number
  readonly before: string
  /** May be several lines. */
  readonly after: string
}

export interface NodeCronPlan {
  readonly tasks: readonly TaskPlan[]
  /** Those that would change. */
  readonly files: readonly FilePlan[]
  /** Files that import node-cron and can't be read. */
  readonly unreadable: readonly { readonly file: string; readonly line: number; readonly why: string }[]
  readonly hasCoordinator: boolean
  readonly hasSetup: boolean
  /** How files load node-cron. */
  readonly loads: ReadonlySet<Load>
  /** The copies of node-cron that have a coordinator. */
  readonly coordinates: ReadonlySet<Load>
}

interface Edit {
  readonly at: number
  readonly until: number
  readonly text: string
}

/** What is to be changed so that every task has a name and, with a coordinator, is distributed. Changes nothing. */
export function planEdits(sources: readonly SourceFile[], way: Way): NodeCronPlan {
  const unreadable: { file: string; line: number; why: string }[] = []
  const read = sources.flatMap((source) => {
    const found = tryFind(source, unreadable)
    return found === null ? [] : [{ source, found }]
  })
  const nameFor = uniqueNames()
  // Names that are there are kept, whatever would be called so.
  for (const { found } of read) for (const task of found.tasks) reserve(task, nameFor)
  const shared = sharedCalls(read.flatMap(({ found }) => found.tasks))
  const tasks: TaskPlan[] = []
  const files: FilePlan[] = []
  for (const { source, found } of read) {
    const edits: Edit[] = way === 'drop-in' ? found.modules.map(moduleEdit) : []
    for (const task of found.tasks) {
      const { plan, edit } = planTask(task, source, { way, nameFor, shared, isShared: sharesOptions(task, found) })
      tasks.push(plan)
      if (edit !== null) edits.push(edit)
    }
    if (edits.length === 0) continue
    const edited = apply(source.text, edits)
    demandSame(source, edited, found)
    files.push({ ...source, edited, changes: changesOf(source.text, edits) })
  }
  const all = read.map(({ found }) => found)
  return {
    ...{ tasks, files, unreadable },
    hasCoordinator: all.some(({ coordinators }) => coordinators > 0),
    hasSetup: all.some(({ hasSetup }) => hasSetup),
    loads: new Set(all.flatMap(({ loads }) => [...loads])),
    coordinates: new Set(all.flatMap(coordinatedBy)),
  }
}

/** A file that sets the coordinator twice does so for both copies. */
function coordinatedBy({ coordinators, loads }: FoundTasks): readonly Load[] {
  if (coordinators > 1) return ['import', 'require']
  return coordinators === 0 ? [] : [...loads]
}

/** Functions that several tasks call: none of them is named after one. */
function sharedCalls(tasks: readonly FoundTask[]): ReadonlySet<string> {
  const names = tasks.flatMap(({ calls }) => calls?.name ?? [])
  return new Set(names.filter((name, index) => names.indexOf(name) !== index))
}

/** Whether another task of the file has the same variable as its options. */
function sharesOptions({ options }: FoundTask, { tasks }: FoundTasks): boolean {
  if (options.kind !== 'other') return false
  return tasks.filter(({ options: other }) => other.kind === 'other' && other.text === options.text).length > 1
}

function tryFind(
  { file, text }: SourceFile,
  unreadable: { file: string; line: number; why: string }[],
): FoundTasks | null {
  try {
    return findTasks(text)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    unreadable.push({ file, line: lineOf(text, error.at), why: error.message })
    return null
  }
}

function reserve({ options }: FoundTask, nameFor: (wanted: string) => string): void {
  const name = options.kind === 'none' ? null : nameIn(options.properties?.get('name'))
  if (name !== null) nameFor(name)
}

/** A name that is written as a literal. */
function nameIn(value: string | undefined): string | null {
  return /^(['"`])([^'"`$\\]+)\1$/.exec(value ?? '')?.[2] ?? null
}

function moduleEdit({ start, end, text }: FoundTasks['modules'][number]): Edit {
  const [quote] = text
  return { at: start, until: end, text: `${quote}cronce/node-cron${quote}` }
}

interface Planning {
  readonly way: Way
  readonly nameFor: (wanted: string) => string
  readonly shared: ReadonlySet<string>
  /** Another task has the same options. */
  readonly isShared: boolean
}

function planTask(
  task: FoundTask,
  { file, text }: SourceFile,
  { way, nameFor, shared, isShared }: Planning,
): { readonly plan: TaskPlan; readonly edit: Edit | null } {
  const { options, expression } = task
  const known = options.kind === 'none' ? NO_PROPERTIES : (options.properties ?? NO_PROPERTIES)
  const code = known.get('name')
  const named = nameIn(code)
  const about = {
    ...{ file, line: lineOf(text, task.at), expression },
    ...{ name: named, nameCode: named === null && code !== undefined ? code : null, why: null },
    fleetOptions: FLEET_OPTIONS.filter((option) => !/^(undefined|false)?$/.test(known.get(option) ?? '')),
  }
  if (known.get('distributed') === 'false') return { plan: { ...about, action: 'own' }, edit: null }
  const missing = missingIn(known, way)
  if (missing.length === 0 && !isShared) return { plan: { ...about, action: 'done' }, edit: null }
  const why = isShared ? SHARED_OPTIONS : byHand(task, missing, known)
  if (why !== null) return { plan: { ...about, action: 'by-hand', why }, edit: null }
  const name = code === undefined ? nameFor(proposeName(task, file, shared)) : null
  const added = missing.map((option) => (option === 'name' ? `name: '${name}'` : 'distributed: true'))
  return { plan: { ...about, name: name ?? named, action: 'edit' }, edit: insertion(task, added, text) }
}

function missingIn(known: ReadonlyMap<string, string>, way: Way): readonly string[] {
  const isDistributed = way === 'drop-in' || known.get('distributed') === 'true'
  return [...(known.has('name') ? [] : ['name']), ...(isDistributed ? [] : ['distributed'])]
}

const FLEET_OPTIONS = ['maxExecutions', 'noOverlap'] as const
const NO_PROPERTIES: ReadonlyMap<string, string> = new Map()
const SHARED_OPTIONS = 'several tasks share its options: each needs a name of its own'

/** `null`: it can be edited. */
function byHand(
  { options, isRepeated }: FoundTask,
  missing: readonly string[],
  known: ReadonlyMap<string, string>,
): string | null {
  const what = missing.join(' and ')
  if (options.kind === 'other') return `its options are ${options.text}: add ${what} there`
  if (options.kind === 'literal' && !options.isWhole) {
    return `some of its options come from elsewhere (...): add ${what} unless it is there`
  }
  if (isRepeated && missing.includes('name'))
    return 'it is made several times: give each task a name of its own, such as report: and an id'
  return missing.includes('distributed') && known.has('distributed')
    ? 'whether it is distributed is decided at run time'
    : null
}

const LONGEST_NAME = 60

function proposeName({ hints, calls }: FoundTask, file: string, shared: ReadonlySet<string>): string {
  const base = file.replace(/^.*\//, '').replace(/(\.\w+)+$/, '')
  const called = calls === null ? [] : shared.has(calls.name) ? [calls.text ?? '', base, calls.name] : [calls.name]
  const words = [...hints, ...called, base, 'task'].map((text) =>
    slug(text.replace(/([a-z\d])([A-Z])/g, '$1-$2'), LONGEST_NAME),
  )
  return (
    words.find((text) => text.length > 1 && !/^(job|task|fn|cb|handler|callback|index|main)$/.test(text)) ??
    words.at(-1)!
  )
}

/** Behind the function, or as the first properties of the object that is there. */
function insertion({ afterTarget, options }: FoundTask, added: readonly string[], text: string): Edit {
  if (options.kind !== 'literal') return { at: afterTarget, until: afterTarget, text: `, { ${added.join(', ')} }` }
  const { start, first } = options
  if (first === null) return { at: start, until: start, text: ` ${added.join(', ')} ` }
  const gap = text.slice(start, first)
  const indent = /\n([ \t]*)$/.exec(gap)?.[1]
  const between = indent === undefined ? ' ' : `\n${indent}`
  return { at: start, until: start, text: added.map((property) => `${between}${property},`).join('') }
}

function apply(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((one, other) => other.at - one.at)
    .reduce((edited, { at, until, text: added }) => edited.slice(0, at) + added + edited.slice(until), text)
}

/** The lines that the edits change. No edit goes beyond its line. */
function changesOf(text: string, edits: readonly Edit[]): readonly LineChange[] {
  const byLine = Map.groupBy(edits, ({ at }) => text.lastIndexOf('\n', at - 1) + 1)
  return [...byLine]
    .toSorted(([one], [other]) => one - other)
    .map(([start, own]) => {
      const end = text.indexOf('\n', start)
      const before = text.slice(start, end < 0 ? text.length : end)
      const after = apply(
        before,
        own.map((edit) => ({ ...edit, at: edit.at - start, until: edit.until - start })),
      )
      return { line: lineOf(text, start), before, after }
    })
}

/** What is written must read as before, with all tasks in their order: else the file is not understood, and stays as it is. */
function demandSame({ file }: SourceFile, edited: string, before: FoundTasks): void {
  const after = findTasks(edited.replaceAll(/(['"])cronce\/node-cron\1/g, '$1node-cron$1'))
  const same = after.tasks.length === before.tasks.length
  const expressions = after.tasks.every((task, index) => task.expression === before.tasks[index]?.expression)
  if (!same || !expressions) throw new Error(`The edits of ${file} changed more than they should have.`)
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
