import type { FileTree } from '../../discover/tree.ts'
import { isAside } from '../paths.ts'
import type { Reader } from '../reader.ts'
import { apschedulerFacts } from './apscheduler.ts'
import { celeryFacts } from './celery.ts'
import { djangoCrontabFacts } from './django-crontab.ts'
import { moduleOf } from './module.ts'
import { preparePython, withPython } from './parser.ts'
import { pyScheduleFacts } from './py-schedule.ts'
import { type SchedulerObject, schedulersOf } from './scheduler-objects.ts'

const WORDS =
  /apscheduler|\.add_job\(|\.scheduled_job\(|SCHEDULER_JOB|\bimport schedule\b|\bfrom schedule\b|celery|CELERY_?BEAT|beat_schedule|\bCRONJOBS\b/

const MAX_TEXT = 1_000_000

export const pythonReader: Reader = {
  name: 'Python',
  reads: (path) => path.endsWith('.py') && !isAside(path),
  mayHoldFacts: (text) => WORDS.test(text),
  prepare: preparePython,
  read: ({ path, text }, tree) => {
    if (text.length > MAX_TEXT)
      throw new Error(`The module has ${text.length} characters; at most ${MAX_TEXT} are read.`)
    // Other modules are parsed first: a tree is freed before the next one is made.
    const schedulers = new Map<string, readonly SchedulerObject[]>()
    for (const candidate of importedFiles(text, path, tree)) schedulers.set(candidate, schedulersIn(candidate, tree))
    return withPython(text, (root) => {
      const module = moduleOf(path, root)
      const elsewhere = (dotted: string) =>
        filesOf(dotted.replace(/\.\w+$/, ''), path, tree).flatMap((file) => schedulers.get(file) ?? [])
      return [
        ...apschedulerFacts(module, elsewhere),
        ...pyScheduleFacts(module),
        ...celeryFacts(module),
        ...djangoCrontabFacts(module),
      ]
    })
  },
}

const IMPORT = /^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+([^\n]*sched[^\n]*)/gim
const MAX_IMPORTS = 5

/** Files from which this one imports something that is named like a scheduler. */
function importedFiles(text: string, path: string, tree: FileTree): readonly string[] {
  if (!/\.(?:add_job|scheduled_job)\(/.test(text)) return []
  const modules = [...text.matchAll(IMPORT)].slice(0, MAX_IMPORTS).map((match) => match[1]!)
  return modules.flatMap((dotted) => filesOf(dotted, path, tree)).filter((file) => file !== path)
}

function schedulersIn(path: string, tree: FileTree): readonly SchedulerObject[] {
  const text = tree.text(path)
  if (text === null || !/scheduler/i.test(text)) return []
  return withPython(text, (root) => schedulersOf(moduleOf(path, root)))
}

/** The file of a dotted name: from the root, or from a folder around the importing file. */
export function filesOf(dotted: string, from: string, tree: FileTree): readonly string[] {
  const dots = /^\.*/.exec(dotted)![0].length
  const parts = dotted
    .slice(dots)
    .split('.')
    .filter((part) => part !== '')
  const folder = from.split('/').slice(0, -1)
  const bases =
    dots > 0
      ? [folder.slice(0, folder.length - dots + 1)]
      : folder.map((_, index) => folder.slice(0, index)).concat([folder])
  for (const base of bases.reverse()) {
    const stem = [...base, ...parts].join('/')
    const found = [`${stem}.py`, `${stem}/__init__.py`].filter((path) => tree.has(path))
    if (found.length > 0) return found
  }
  return []
}
