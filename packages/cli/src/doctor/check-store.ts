import type { StoreView } from 'cronce'
import { judgeFleet, THRESHOLDS } from 'cronce/internal'
import { counted } from '../steer/say.ts'
import type { Facts, StoreFacts, Trouble } from './facts.ts'
import { type CheckName, type Finding, finding, type Level } from './finding.ts'

const OFFSET_MS = THRESHOLDS.clock.offsetMs
const MEGABYTE = 1_000_000

export function checkStore({ store }: Facts): Finding[] {
  const { trouble, name, checks } = store
  if (trouble !== null) return [...warned(store), troubled(trouble)]
  const [first] = checks
  const epoch = first === undefined ? '' : `, in epoch ${first.epoch}`
  return [
    finding('store', 'ok', `${name} answers${epoch}.`),
    ...(first === undefined ? [] : [checkLatency(checks), checkClock(checks)]),
    ...checkSchema(store),
    checkPrivileges(store),
    ...warned(store),
    ...checkPlace(store),
  ]
}

/** Which check it is that a store fails that can't be opened. */
const TROUBLES: Readonly<Record<string, CheckName>> = {
  STORE_NOT_MIGRATED: 'schema',
  STORE_SCHEMA_NEWER: 'schema',
  STORE_SCHEMA_OLDER: 'schema',
  STORE_FORBIDDEN: 'privileges',
  STORE_VIEWS_ONLY: 'privileges',
  STORE_READONLY: 'privileges',
  STORE_COPIED: 'copy',
  STORE_ON_NETWORK: 'file-system',
  STORE_EPHEMERAL: 'file-system',
  STORE_LINKED: 'file-system',
  STORE_NO_LOG: 'file-system',
}

function troubled({ code, message, hint }: Trouble): Finding {
  return finding(TROUBLES[code] ?? 'store', 'fail', `${message} (${code})`, hint)
}

function checkLatency(checks: readonly StoreView[]): Finding {
  const sorted = checks.map(({ latencyMs }) => latencyMs).sort((one, other) => one - other)
  const median = sorted[Math.floor(sorted.length / 2)]!
  const words = `It answers in ${round(median)}ms (median of ${sorted.length}, slowest ${round(sorted.at(-1)!)}ms)`
  const store = { latencyMs: median, away: null, rolledBackAt: null, prunableSince: null, warnings: new Map() }
  const problems = judgeFleet({ now: 0, app: '', instances: [], dead: [], store }, THRESHOLDS)
  if (problems.length === 0) return finding('latency', 'ok', `${words}.`)
  return finding(
    'latency',
    'warn',
    `${words}: every start and end of a run waits for that.`,
    'Move instances nearer to the store, or look what keeps it busy.',
  )
}

function checkClock(checks: readonly StoreView[]): Finding {
  // The quickest answer knows best: its uncertainty is half of the time it took.
  const best = checks.reduce((one, other) => (other.latencyMs < one.latencyMs ? other : one))
  const unsure = best.latencyMs / 2
  const size = Math.abs(best.offsetMs)
  const words = `This machine's clock is ${round(size)}ms ${best.offsetMs < 0 ? 'behind' : 'ahead of'} the store's, give or take ${round(unsure)}ms`
  if (size - unsure <= OFFSET_MS) return finding('clock', 'ok', `${words}.`)
  return finding(
    'clock',
    'warn',
    `${words}. Fires, and the times that cronce shows, go by the store's clock.`,
    'Synchronise both machines by NTP.',
  )
}

function checkSchema({ migration }: StoreFacts): Finding[] {
  if (migration === null) return []
  const { schema, state, applied, pending } = migration
  const last = applied.at(-1)
  const at = last === undefined ? '' : `, at migration ${last.number}`
  switch (state) {
    case 'current':
      return [finding('schema', 'ok', `Schema "${schema}" is up to date${at}.`)]
    case 'newer':
      return [
        finding(
          'schema',
          'note',
          `Schema "${schema}" was migrated by a newer version${at}, with which this one works.`,
          'Update this command.',
        ),
      ]
    case 'too-new':
      return [
        finding(
          'schema',
          'fail',
          `Schema "${schema}" was migrated by a newer version${at}, with which this one can't work.`,
          'Update cronce here.',
        ),
      ]
    case 'none':
    case 'behind':
      return [
        finding(
          'schema',
          'fail',
          `Schema "${schema}" lacks ${counted(pending.length, 'migration')}.`,
          'Run: cronce migrate up',
        ),
      ]
  }
}

function checkPrivileges({ write, kind }: StoreFacts): Finding {
  if (write !== null) return finding('privileges', 'fail', `${write.message} (${write.code})`, write.hint)
  const who = kind === 'postgres' ? 'This role' : kind === 'sqlite' ? 'This user' : 'This command'
  return finding('privileges', 'ok', `${who} may read and write it.`)
}

/** What the store itself warns about when it is opened. */
const WARNINGS: Readonly<Record<string, readonly [check: CheckName, level: Level]>> = {
  STORE_SETTING_UNSAFE: ['settings', 'warn'],
  STORE_EVICTS: ['settings', 'warn'],
  STORE_NOT_DURABLE: ['settings', 'warn'],
  STORE_REPLICAS_ASYNC: ['settings', 'warn'],
  STORE_NEARLY_FULL: ['settings', 'warn'],
  STORE_POOLED: ['settings', 'warn'],
  STORE_NO_LOCK: ['settings', 'warn'],
  STORE_ROW_NEWER: ['versions', 'warn'],
  STORE_PROMOTED: ['copy', 'warn'],
  STORE_MACHINE_CHANGED: ['copy', 'warn'],
  STORE_ADOPTED: ['copy', 'note'],
  STORE_IDENTITY_UNKNOWN: ['copy', 'note'],
  STORE_ON_NETWORK: ['file-system', 'warn'],
}

function warned({ warnings, trouble }: StoreFacts): Finding[] {
  const found = warnings.map(({ code, message }) => {
    const [check, level] = WARNINGS[code] ?? ['settings', 'warn']
    return finding(check, level, `${message} (${code})`)
  })
  if (trouble !== null) return found
  const has = (name: CheckName): boolean => found.some(({ check }) => check === name)
  return [
    ...found,
    ...(has('settings') ? [] : [finding('settings', 'ok', 'No setting of it endangers fires, as far as it tells.')]),
    ...(has('copy') ? [] : [finding('copy', 'ok', 'It does not look like a copy.')]),
  ]
}

function checkPlace({ place }: StoreFacts): Finding[] {
  if (place === null) return []
  const free = `${Math.floor(place.freeBytes / MEGABYTE)} MB are free`
  if (place.freeBytes < 10 * MEGABYTE) {
    return [
      finding('file-system', 'fail', `${free} for ${place.file}.`, 'Free some: nothing can be put on record soon.'),
    ]
  }
  if (place.fileSystem !== null) {
    const message = `${place.file} is on ${place.fileSystem}: it vanishes with its container or machine.`
    return [finding('file-system', 'warn', message, 'Put it on a volume; in production it is refused there.')]
  }
  if (place.freeBytes < 200 * MEGABYTE) {
    return [finding('file-system', 'warn', `Only ${free} for ${place.file}.`, 'Free some before it is full.')]
  }
  return [finding('file-system', 'ok', `${place.file} is on a local disk; ${free}.`)]
}

function round(ms: number): string {
  return ms < 10 ? String(Math.round(ms * 10) / 10) : String(Math.round(ms))
}
