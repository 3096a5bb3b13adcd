import type { FileTree } from '../discover/tree.ts'
import type { Fact } from '../facts/fact.ts'
import type { Schedule } from '../facts/schedule.ts'
import type { Unit } from '../facts/unit.ts'
import { folderOf, join } from '../read/javascript/resolve-path.ts'
import { pythonFile, reachableFrom } from './reach.ts'

/** A unit together with the schedules that its processes register. */
export interface RunningUnit {
  readonly unit: Unit
  readonly isMany: boolean
  readonly schedules: readonly Schedule[]
}

/** Joins what is deployed with the code that it runs. A unit whose entry is not found holds no schedule. */
export function joinUnits(tree: FileTree, facts: readonly Fact[]): RunningUnit[] {
  const units = facts.filter((fact): fact is Unit => fact.kind === 'unit')
  const schedules = facts.filter((fact): fact is Schedule => fact.kind === 'schedule' && fact.runner === 'process')
  if (schedules.length === 0) return []
  const byPath = Map.groupBy(schedules, ({ place }) => place.path)
  return units.flatMap((unit) => {
    const entries = entriesOf(tree, unit, units)
    if (entries.length === 0) return []
    const reached = reachableFrom(tree, entries)
    const found = [...byPath].flatMap(([path, list]) => (reached.has(path) ? list : []))
    return found.length === 0
      ? []
      : [
          {
            unit,
            isMany: unit.instances === 'many' || hasWorkers(tree, commandOf(unit, units), folderOfCommand(unit, units)),
            schedules: found,
          },
        ]
  })
}

/** The command of a unit, or that of the image that it runs. */
function commandOf(unit: Unit, units: readonly Unit[]): readonly string[] | null {
  return unit.command ?? imageOf(unit, units)?.command ?? null
}

function imageOf(unit: Unit, units: readonly Unit[]): Unit | null {
  const images = units.filter(({ format }) => format === 'dockerfile')
  if (unit.format === 'dockerfile') return null
  if (unit.build !== null)
    return images.find(({ folder, place }) => folder === unit.build || folderOf(place.path) === unit.build) ?? null
  if (unit.image === null) return null
  const name = unit.image
    .replace(/[:@][^/]*$/, '')
    .split('/')
    .at(-1)
  const named = images.find(({ place }) => folderOf(place.path).split('/').at(-1) === name)
  // An image without a registry is a public one: its Dockerfile is not here.
  return named ?? (images.length === 1 && unit.image.includes('/') ? images[0]! : null)
}

function folderOfCommand(unit: Unit, units: readonly Unit[]): string {
  return unit.command === null ? (imageOf(unit, units)?.folder ?? unit.folder) : unit.folder
}

function hasWorkers(tree: FileTree, command: readonly string[] | null, folder: string): boolean {
  const server = command?.find((word) => /(?:^|\/)(?:gunicorn|uvicorn|hypercorn)$/.test(word))
  if (command === null || server === undefined) return false
  const text = command.join(' ')
  const settings = server.endsWith('gunicorn') ? (tree.text(settingsOf(text, folder)) ?? '') : ''
  // The code is loaded once, before the workers are forked, and threads do not survive that.
  if (/\s--preload\b/.test(text) || /^preload_app\s*=\s*True\b/m.test(settings)) return false
  const count = /(?:^|\s)(?:-w|--workers)[=\s]?(\d+)/.exec(text)?.[1]
  return count === undefined ? hasManyWorkers(settings) : Number(count) > 1
}

/** `-c FILE`, or the file that gunicorn reads by itself. */
function settingsOf(text: string, folder: string): string {
  const named = /(?:^|\s)(?:-c|--config)[=\s](?:file:)?(\S+)/.exec(text)?.[1]
  return join(folder, (named ?? 'gunicorn.conf.py').replace(/^\/(?:app|usr\/src\/app|code|workspace)\//, ''))
}

/** `workers = 4`, `workers = cpu_count() * 2 + 1`, or the default of an environment variable. */
function hasManyWorkers(settings: string): boolean {
  const value = /^workers\s*=\s*(.+)$/m.exec(settings)?.[1]?.replace(/#.*$/, '').trim()
  if (value === undefined) return false
  if (/cpu_count\s*\(/.test(value)) return true
  const number = /^(?:int\()?(\d+)\)?$/.exec(value)?.[1] ?? /,\s*['"]?(\d+)['"]?\s*\)/.exec(value)?.[1]
  return number !== undefined && Number(number) > 1
}

function entriesOf(tree: FileTree, unit: Unit, units: readonly Unit[]): string[] {
  const named = unit.entries.flatMap((entry) => sourceOf(tree, entry))
  if (named.length > 0) return named
  const command = commandOf(unit, units)
  return command === null ? [] : entriesOfCommand(tree, command, folderOfCommand(unit, units), 3)
}

function entriesOfCommand(tree: FileTree, command: readonly string[], folder: string, depth: number): string[] {
  const words = command
    .flatMap((word) => word.split(/\s+/))
    .filter(
      (word) => !/^(?:exec|sh|bash|-c|&&|\/bin\/sh|cross-env|npx|dumb-init|tini|--)$/.test(word) && !/^\w+=/.test(word),
    )
  const text = words.join(' ')
  const script = /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?([\w:.-]+)/.exec(text)?.[1]
  if (script !== undefined && depth > 0) {
    const line = scriptOf(tree, folder, script)
    if (line !== null) return entriesOfCommand(tree, line.split(/\s+/), folder, depth - 1)
  }
  const python = words.find((word) => /^[\w.]+:\w+(?:\(\))?$/.test(word))
  if (python !== undefined && /gunicorn|uvicorn|hypercorn/.test(text))
    return pythonFile(tree, join(folder, python.split(':')[0]!.replaceAll('.', '/')))
  return words.flatMap((word) =>
    /\.(?:[cm]?[jt]s|py)$/.test(word) || /^(?:\.\/)?dist\//.test(word)
      ? sourceOf(tree, join(folder, word.replace(/^\/(?:app|usr\/src\/app|code|workspace)\//, '')))
      : [],
  )
}

function scriptOf(tree: FileTree, folder: string, name: string): string | null {
  try {
    const json = JSON.parse(tree.text(join(folder, 'package.json')) ?? '{}') as { scripts?: Record<string, string> }
    return json.scripts?.[name] ?? null
  } catch {
    return null
  }
}

/** A file as it is written: what is built from `src/server.ts` is started as `dist/server.js`. */
function sourceOf(tree: FileTree, path: string): string[] {
  const plain = join('', path)
  const bare = plain.replace(/\.[cm]?js$/, '')
  const source = bare.replace(/(^|\/)(?:dist|build|lib|out)\//, '$1src/')
  const flat = bare.replace(/(^|\/)(?:dist|build|lib|out)\//, '$1')
  for (const base of [bare, source, flat]) {
    for (const file of [
      base === bare ? plain : '',
      `${base}.ts`,
      `${base}.js`,
      `${base}.mjs`,
      `${base}/index.js`,
      `${base}/index.ts`,
    ]) {
      if (file !== '' && tree.has(file)) return [file]
    }
  }
  return []
}
