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
  for (const key of Object.keys(given)) {
    if (key !== '$schema' && !Object.hasOwn(DEFAULT_SETTINGS, key)) {
      throw new SettingsError(
        `${file} has the unknown key \`${key}\`. Known keys: ${Object.keys(DEFAULT_SETTINGS).join(', ')}.`,
      )
    }
  }
  for (const key of ['include', 'exclude', 'guards'] as const) {
    const list = given[key] ?? []
    if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
      throw new SettingsError(`${file}: \`${key}\` must be a list of texts.`)
    }
  }
  for (const [rule, level] of Object.entries((given['rules'] ?? {}) as object)) {
    if (!LEVELS.includes(String(level))) {
      throw new SettingsError(
        `${file}: the level of ${rule} must be one of ${LEVELS.join(', ')}, but is ${String(level)}.`,
      )
    }
  }
  const profile = given['profile'] ?? 'default'
  if (profile !== 'default' && profile !== 'strict')
    throw new SettingsError(`${file}: \`profile\` must be \`default\` or \`strict\`.`)
  return { ...DEFAULT_SETTINGS, ...given } as Settings
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
