import { isRecord, readFields, readInstant } from '../client/read-option.ts'
import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { decodeHeader } from '../signature/headers.ts'
import type { Authenticated } from './handle-fire-auth.ts'

/** The fire that a delivery names. */
export interface FireIdentity {
  readonly schedule: string
  /** The due time, the caller's id of the fire, or `auto` for the nearest instant. */
  readonly when: { readonly dueAt: number } | { readonly id: string } | 'auto'
  readonly input: Json | undefined
}

/** Part of the identity, from one place of the request. */
interface Found {
  readonly schedule?: unknown
  readonly due?: unknown
  readonly id?: unknown
  readonly input?: unknown
}

const BODY_NAMES = ['schedule', 'due', 'dueAt', 'id', 'input'] as const
const SAMPLE = "{ schedule: 'nightly', due: '2027-01-01T03:00:00Z' }"

/**
 * Each part from the first place that has it: the body, the query, our headers, those of Cloud Scheduler, an event of EventBridge.
 * Of a signed request only the body and our headers count, since the signature does not cover the rest.
 */
export function readIdentity(url: string, { headers, body, isSigned }: Authenticated): FireIdentity {
  const content = readContent(headers, body)
  const ours = fromBody(content)
  const ourHeaders = fromHeaders(headers)
  const places = isSigned
    ? [ours, ourHeaders, fromEventBridge(content)]
    : [ours, fromQuery(url), ourHeaders, fromCloudScheduler(headers), fromEventBridge(content)]
  const first = (part: keyof Found): unknown => places.find((place) => present(place[part]))?.[part]
  const schedule = first('schedule')
  if (typeof schedule !== 'string' || schedule === '') throw unnamed(isSigned)
  // A due time is more precise than an id, wherever it stands.
  const when = readWhen(first('due'), first('id'))
  const input = ours.input
  if (input !== undefined && !(typeof when === 'object' && 'id' in when)) {
    throw new CronceError('OPTION_CONFLICT', 'A fire that is known by its instant has the input of its schedule.', {
      hint: 'Leave out input, or give the fire an id of its own instead of an instant.',
    })
  }
  return { schedule, when, input: input as Json | undefined }
}

function readWhen(due: unknown, id: unknown): FireIdentity['when'] {
  if (present(due)) {
    if (due === 'auto') return 'auto'
    return { dueAt: readInstant('due', typeof due === 'string' && /^\d{1,16}$/.test(due) ? Number(due) : due) }
  }
  if (!present(id)) return 'auto'
  if (typeof id === 'string' && id !== '') return { id }
  throw new CronceError('OPTION_INVALID', 'The id of a fire must be a text that is not empty.', {
    hint: `Write { schedule: 'nightly', id: '17' }.`,
  })
}

/** An empty value counts as present: an unset variable must be refused, not replaced by the nearest instant. */
function present(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The JSON of the body; `null` if there is none. */
function readContent(headers: ReadonlyMap<string, string>, body: Uint8Array): Record<string, unknown> | null {
  if (body.length === 0) return null
  const type = headers.get('content-type') ?? 'nothing'
  if (!/^application\/([\w.-]+\+)?json *(;|$)/i.test(type)) {
    throw new CronceError(
      'BODY_TYPE_REFUSED',
      `The content type of the body is ${JSON.stringify(type.slice(0, 60))}.`,
      {
        hint: 'Send JSON with the header Content-Type: application/json, or no body.',
      },
    )
  }
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw bodyInvalid('not JSON', cause)
  }
  if (isRecord(content)) return content
  throw bodyInvalid('not an object')
}

/** Reads a body that names a schedule or has only names of ours. Any other body is the caller's payload. */
function fromBody(content: Record<string, unknown> | null): Found {
  const names: readonly string[] = BODY_NAMES
  if (content === null) return {}
  if (!('schedule' in content) && !Object.keys(content).every((name) => names.includes(name))) return {}
  const { schedule, due, dueAt, id, input } = readFields('', content, BODY_NAMES, SAMPLE)
  return { schedule, due: due ?? dueAt, id, input }
}

function fromQuery(url: string): Found {
  const { searchParams: query } = new URL(url)
  return { schedule: query.get('schedule'), due: query.get('due') ?? query.get('dueAt'), id: query.get('id') }
}

function fromHeaders(headers: ReadonlyMap<string, string>): Found {
  const read = (name: string): string | undefined => {
    const value = headers.get(name)
    const decoded = value === undefined ? undefined : decodeHeader(value)
    if (decoded !== null) return decoded
    throw new CronceError('OPTION_INVALID', `The header ${name} is not a percent-encoded text.`, {
      hint: 'Encode it as encodeURIComponent does, or send it in the body.',
    })
  }
  return { schedule: read('cronce-schedule'), due: read('cronce-due'), id: read('cronce-fire-id') }
}

/** Google's headers: the job is named like the schedule, unless the request names another one. */
function fromCloudScheduler(headers: ReadonlyMap<string, string>): Found {
  return {
    schedule: headers.get('x-cloudscheduler-jobname')?.split('/').at(-1),
    due: headers.get('x-cloudscheduler-scheduletime'),
  }
}

/** Amazon's event of a scheduled rule: delivered at least once, each time with its scheduled time. */
function fromEventBridge(content: Record<string, unknown> | null): Found {
  if (content?.['detail-type'] !== 'Scheduled Event') return {}
  const { time, id, resources } = content
  const rule: unknown = Array.isArray(resources) ? resources[0] : undefined
  return { schedule: typeof rule === 'string' ? rule.split('/').at(-1) : undefined, due: time, id }
}

function unnamed(isSigned: boolean): CronceError {
  return new CronceError('FIRE_UNNAMED', 'The request does not say which schedule it is about.', {
    hint: `Send JSON such as { "schedule": "nightly", "due": "2027-01-01T03:00:00Z" }${isSigned ? '' : ', or add ?schedule=nightly'}.`,
  })
}

function bodyInvalid(what: string, cause?: unknown): CronceError {
  return new CronceError('BODY_INVALID', `The body is ${what}.`, {
    hint: `Send JSON such as { "schedule": "nightly", "due": "2027-01-01T03:00:00Z" }.`,
    cause,
  })
}
