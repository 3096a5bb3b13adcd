import { invalid, isRecord, readFields } from '../client/read-option.ts'
import { secretInvalid } from '../client/read-url.ts'
import { VERSION } from '../version.ts'
import { type AlertFilter, MessageRefused } from '../watch/channel.ts'

/** What all channels that send over HTTP have. */
export interface ChannelOptions {
  /** Unique among the channels of an app, the same in all its processes: letters, digits, `_`, `.` and `-`. @default the kind of channel */
  readonly name?: string | undefined
  /** Which alerts it wants. @default all */
  readonly filter?: AlertFilter | undefined
}

/** Reads the options of a channel: those that all have, and its own. */
export function readChannelOptions<Name extends string>(
  kind: string,
  options: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> & ChannelOptions {
  const all = [...names, 'name', 'filter'] as const
  if (!isRecord(options)) throw secretInvalid(kind, options, 'an object', `Write ${kind}({ ${names[0]}: … }).`)
  // Any value may be a secret under a wrong name: what is unknown is named without its value.
  readFields(kind, Object.fromEntries(Object.keys(options).map((name) => [name, undefined])), all, '')
  const given = readFields(kind, options, all, '')
  const { name, filter } = given
  if (name !== undefined && (typeof name !== 'string' || !/^[\w.-]{1,50}$/.test(name))) {
    throw invalid(`${kind}.name`, name, 'up to 50 letters, digits, _, . and -', `'${kind}'`)
  }
  if (filter !== undefined && typeof filter !== 'function') {
    throw invalid(`${kind}.filter`, filter, 'a function', "({ severity }) => severity === 'critical'")
  }
  return given as Partial<Record<Name, unknown>> & ChannelOptions
}

/** What is wrong with the message itself. Other answers change once an operator repairs the address or a token. */
const FINAL: ReadonlySet<number> = new Set([400, 413, 422])

/** Posts JSON, or throws what can be shown: neither the URL nor the answer, which may hold secrets. */
export async function post(
  url: string,
  { body, headers }: { readonly body: string; readonly headers?: Readonly<Record<string, string>> | undefined },
  signal: AbortSignal,
): Promise<void> {
  const all = { 'content-type': 'application/json', 'user-agent': `cronce/${VERSION}`, ...headers }
  const answer = await fetch(url, { method: 'POST', body, headers: all, signal, redirect: 'error' }).catch(
    (error: unknown) => {
      throw new Error(`The receiver can't be reached (${codeOf(error)}).`)
    },
  )
  // Otherwise the connection stays open until the garbage collector comes.
  await answer.body?.cancel()
  if (answer.ok) return
  const text = `The receiver answered ${answer.status}.`
  throw FINAL.has(answer.status) ? new MessageRefused(text) : new Error(text)
}

function codeOf(error: unknown): string {
  const { cause, name } = error as { readonly cause?: { readonly code?: unknown }; readonly name?: string }
  return typeof cause?.code === 'string' ? cause.code : (name ?? 'unknown')
}
