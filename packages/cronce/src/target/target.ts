import { optionConflict } from '../client/read-option.ts'
import { commandHandler } from './command/command-handler.ts'
import { COMMAND_NAMES, type CommandOptions } from './command/command-options.ts'
import { httpHandler } from './http/http-handler.ts'
import type { HttpOptions } from './http/http-options.ts'
import { ISOLATE_NAMES, type IsolateOptions } from './isolate/isolate-options.ts'
import { isolatedHandler } from './isolate/isolated-handler.ts'
import type { TargetHandler } from './loaded-target.ts'

/** What a job runs where it has no function. */
export type Target = IsolateOptions | CommandOptions | HttpTarget

/** An endpoint as the target of a job. */
export interface HttpTarget {
  readonly http: HttpOptions
}

const KINDS = [
  { kind: 'file', names: ISOLATE_NAMES, make: isolatedHandler },
  { kind: 'command', names: COMMAND_NAMES, make: commandHandler },
  { kind: 'http', names: ['http'], make: (job: string, { http }: HttpTarget) => httpHandler(job, http) },
] as const

/** The names of all options that are about targets. */
export const TARGET_NAMES: readonly string[] = KINDS.flatMap(({ names }): readonly string[] => names)

/** What call-backs about the runs of this handler are signed with; `undefined`: there are no call-backs. */
export function callbackSecretOf(handler: unknown): readonly string[] | undefined {
  return (handler as Partial<TargetHandler> | undefined)?.callbackSecrets
}

/** Loads what this handler needs to run; a function needs nothing. */
export async function loadHandler(handler: unknown): Promise<void> {
  await (handler as Partial<TargetHandler>).load?.()
}

/** What of a job's options is about its target, and what is not. `null`: it names none. */
export function readTarget(
  job: string,
  options: Readonly<Record<string, unknown>>,
): { readonly handler: TargetHandler | null; readonly rest: Readonly<Record<string, unknown>> } {
  const isOfTarget = ([name, value]: [string, unknown]): boolean => TARGET_NAMES.includes(name) && value !== undefined
  const given = Object.fromEntries(Object.entries(options).filter(isOfTarget))
  const rest = Object.fromEntries(Object.entries(options).filter(([name]) => !TARGET_NAMES.includes(name)))
  const named = KINDS.filter(({ kind }) => kind in given)
  const [chosen, other] = named
  if (other !== undefined) {
    const kinds = named.map(({ kind }) => kind).join(' and ')
    throw optionConflict(`Job ${JSON.stringify(job)} has more than one target: ${kinds}.`, 'Make two jobs of it.')
  }
  // Without a target, the options of a target are unknown options.
  if (chosen === undefined) return { handler: null, rest: options }
  // Each maker reads its options itself, and refuses what it does not know.
  const make = chosen.make as (job: string, options: unknown) => TargetHandler
  return { handler: make(job, given), rest }
}
