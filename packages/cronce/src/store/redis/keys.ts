/**
 * Every key there is. All of them begin with the key of the namespace, `cronce:{namespace}`: what stands in braces decides
 * where a key lives in a Redis Cluster, so a namespace is always in one place, and one script can change all of it.
 *
 * Names stand in keys and members as `encodeName` writes them: without control characters, so a line feed can stand between two.
 * A fire is `dueAt:nonce` within its schedule, and `schedule LF dueAt:nonce` beside others; a run is its token, or `schedule LF token`.
 */
export const KEYS_LUA = `
local call, match = redis.call, string.match
-- hash: epoch, run (of the server), mark, bases, held, floor, format, ends (how many were logged)
local META = KEYS[1]
-- by schedule, hash: what it is, and all that is on record of it, by a letter and a name. The records outlive the schedule.
--   h -> version, tokens, revision, wakeAt, job, tenant, app
--   s -> state
--   d -> definition
--   F fire -> open, range, whether it is on record (a run may be without its fire), endedAt, number, tokens
--   f fire -> record
--   R token -> open, fire, instance, slots
--   r token -> record
--   n nonce -> fire, for those that have one
--   m token -> what the run told
local SCHEDULE = META .. ':schedule:'
-- sorted by name: all schedules, those of a job, of a tenant, and those that the code of an app declares
local NAMES = META .. ':names'
local NAMES_OF_JOB = META .. ':names:job:'
local NAMES_OF_TENANT = META .. ':names:tenant:'
local NAMES_OF_APP = META .. ':names:app:'
-- by job, sorted by wakeAt: bucket in two hexadecimal digits, and the schedule
local DUE = META .. ':due:'
-- sorted by dueAt: all fires, those of a schedule; those that stand for a range; those that are open
local FIRES = META .. ':fires'
local FIRES_OF = META .. ':fires:'
local RANGES = META .. ':ranges'
local RANGES_OF = META .. ':ranges:'
local OPEN = META .. ':open'
-- by schedule, sorted by number: fires that have ended
local ENDED = META .. ':ended:'
-- stream: the latest ends of runs (schedule LF token) and of fires that no run ended (schedule LF fire), numbered in the order of commits
local ENDS = META .. ':ends'
-- sorted by when they may go: fires that have ended
local EXPIRING = META .. ':expiring'
-- sorted by startedAt: all runs, those of a schedule
local RUNS = META .. ':runs'
local RUNS_OF = META .. ':runs:'
-- by instance, set: open runs; and the set of those instances
local HELD = META .. ':held:'
local HOLDERS = META .. ':holders'
-- hash: slot -> how many open runs count against it
local SLOTS = META .. ':slots'
-- by schedule, LF, fire: hash of steps; and by schedule the set of fires that have some
local STEPS = META .. ':steps:'
local STEPPED = META .. ':stepped:'
-- hash: what an instance is and when it renewed; the set of those that live; those that are over, sorted by when
local INSTANCE = META .. ':instance:'
local LIVE = META .. ':live'
local GONE = META .. ':gone'
-- hash: version, record
local APP = META .. ':app:'
`

/** The key that all others of the namespace begin with. */
export function namespaceKey(prefix: string, namespace: string): string {
  return `${prefix}:{${encodeName(namespace).replace(/[{}]/g, (brace) => (brace === '{' ? '%7B' : '%7D'))}}`
}

/**
 * Never there. While a slot is moving to another server of a Cluster, its keys are in two places, and a script that names one key is begun
 * wherever that one is and fails at the first that is not. One that names two, of which one is not there, is refused before it begins.
 */
export function neverKey(namespace: string): string {
  return `${namespace}:never`
}

/** Where one process wakes the others. */
export function wakeChannel(namespace: string): string {
  return `${namespace}:wake`
}

/** What an instance listens to for as long as its process lives. */
export function aliveChannel(namespace: string, instance: string): string {
  return `${namespace}:alive:${encodeName(instance)}`
}

/** Nearly every name stays as it is. Half characters would all become the same one on the way to the server. */
export function encodeName(name: string): string {
  if (!SPECIAL.test(name) && name.isWellFormed()) return name
  return [...name].map(encodeCharacter).join('')
}

const SPECIAL = /[\p{Cc}%]/u

function encodeCharacter(character: string): string {
  if (!SPECIAL.test(character) && character.isWellFormed()) return character
  return `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function decodeName(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

export function fireName({ dueAt, nonce }: { readonly dueAt: number; readonly nonce: string }): string {
  return nonce === '' ? `${dueAt}:` : `${dueAt}:${encodeName(nonce)}`
}

export function readFireName(text: string): { readonly dueAt: number; readonly nonce: string } {
  const colon = text.indexOf(':')
  return { dueAt: Number(text.slice(0, colon)), nonce: decodeName(text.slice(colon + 1)) }
}
