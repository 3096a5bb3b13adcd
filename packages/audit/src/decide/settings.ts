import type { FileTree } from '../discover/tree.ts'
import type { Unit } from '../facts/unit.ts'
import type { Finding, Level, Rule } from '../rules/rule.ts'

/** `cronce.audit.json`, or the key `cronce.audit` of package.json. */
export interface Settings {
  readonly rules: Readonly<Record<string, Level | 'off'>>
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Guards of one's own: `withClusterLock`, `src/lib/lock.ts#run`. */
  readonly guards: readonly string[]
  /** Units that the files do not join: what starts, and how many. */
  readonly units: readonly { readonly entry: string; readonly instances: number }[]
  readonly profile: 'default' | 'strict'
}

export const DEFAULT_SETTINGS: Settings = {
  rules: {},
  include: [],
  exclude: [],
  guards: [],
  units: [],
  profile: 'default',
}

const FILE = 'cronce.audit.json'
const LEVELS = ['error', 'warning', 'info', 'off']

/** A setting that cannot be used. */
export class SettingsError extends Error {}

export function settingsOf(tree: FileTree): Settings {
  const text = tree.has(FILE) ? tree.text(FILE) : null
  if (text !== null) return readSettings(parse(text, FILE), FILE)
  const pack = tree.has('package.json') ? tree.text('package.json') : null
  if (pack?.includes('"cronce.audit"') !== true) return DEFAULT_SETTINGS
  const json = parse(pack, 'package.json') as Readonly<Record<string, unknown>>
  return readSettings(json['cronce.audit'] ?? {}, 'package.json')
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SettingsError(`${file} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

export function readSettings(json: unknown, file: string): Settings {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new SettingsError(`${file} must hold an object.`)
  const given = json as Readonly<Record<string, unknown>>
  const problem = Object.entries(given).flatMap(([key, value]) => problemOf(key, value) ?? [])[0]
  if (problem !== undefined) throw new SettingsError(`${file}: ${problem}`)
  return { ...DEFAULT_SETTINGS, ...given } as Settings
}

function problemOf(key: string, value: unknown): string | null {
  switch (key) {
    case '$schema':
      return null
    case 'include':
    case 'exclude':
    case 'guards':
      return isTexts(value) ? null : `\`${key}\` must be a list of texts.`
    case 'units':
      return isUnits(value) ? null : '`units` must be a list of objects with `entry` and `instances`.'
    case 'profile':
      return value === 'default' || value === 'strict' ? null : '`profile` must be `default` or `strict`.'
    case 'rules':
      return levelProblem(value)
    default:
      return `\`${key}\` is not known. Known keys: ${Object.keys(DEFAULT_SETTINGS).join(', ')}.`
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isUnits(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item: { entry?: unknown; instances?: unknown } | null) =>
        typeof item?.entry === 'string' && typeof item.instances === 'number',
    )
  )
}

function levelProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return '`rules` must be an object of rules and levels.'
  const wrong = Object.entries(value).find(([, level]) => !LEVELS.includes(String(level)))
  return wrong === undefined
    ? null
    : `the level of ${wrong[0]} must be one of ${LEVELS.join(', ')}, but is ${String(wrong[1])}.`
}

/** Rules that are errors with `profile: "strict"`: see their pages. */
const STRICT = new Set(['APS002'])

export function applyLevels(findings: readonly Finding[], { rules, profile }: Settings): Finding[] {
  return findings.flatMap((finding) => {
    const level = rules[finding.rule] ?? (profile === 'strict' && STRICT.has(finding.rule) ? 'error' : finding.level)
    return level === 'off' ? [] : [{ ...finding, level }]
  })
}

export function unknownRules({ rules }: Settings, known: readonly Rule[]): string[] {
  const ids = new Set(known.map(({ id }) => id))
  return Object.keys(rules).filter((id) => !ids.has(id))
}

export function unitsOf({ units }: Settings): Unit[] {
  return units.map(({ entry, instances }) => ({
    kind: 'unit',
    place: { path: FILE, line: 1 },
    format: 'shell',
    name: entry,
    instances: instances > 1 ? 'many' : 'one',
    evidence: `instances: ${instances}`,
    command: null,
    entries: [entry],
    folder: '',
    image: null,
    build: null,
    startsBeforeStop: null,
  }))
}

/** Whether a path is left out by `include` and `exclude`: globs with `*`, `**` and `?`. */
export function isLeftOut(path: string, { include, exclude }: Settings): boolean {
  if (exclude.some((pattern) => matches(pattern, path))) return true
  return include.length > 0 && !include.some((pattern) => matches(pattern, path))
}

const patterns = new Map<string, RegExp>()

function matches(pattern: string, path: string): boolean {
  let test = patterns.get(pattern)
  if (test === undefined) {
    const source = pattern
      .replace(/\/$/, '/**')
      .split(/(\*\*\/|\*\*|\*|\?)/)
      .map(
        (part) =>
          ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[part] ??
          part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&'),
      )
      .join('')
    test = new RegExp(`^${source}(?:/.*)?$`)
    patterns.set(pattern, test)
  }
  return test.test(path)
}
