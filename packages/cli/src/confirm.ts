import { hostname, userInfo } from 'node:os'
import { CronceError } from 'cronce/cron'
import type { Args, Flags } from './args.ts'
import type { Io } from './io.ts'
import { formOf, printJson } from './output.ts'
import { sanitize } from './terminal.ts'

/** Where every note is found again. */
export const LOG = 'the operator log'

/** What every command that changes something takes. `kept`: where a note is found again; `null`: nowhere. */
export function changeFlags(kept: string | null) {
  const where =
    kept === null
      ? 'repeated in the answer, and kept nowhere'
      : `kept in ${LOG}${kept === LOG ? '' : `, and with ${kept}`}`
  return {
    'dry-run': { type: 'boolean', help: 'Print what would change, and change nothing' },
    yes: { type: 'boolean', short: 'y', help: 'Do not ask for confirmation' },
    'no-input': { type: 'boolean', help: 'Never ask: exit with an error instead' },
    note: { type: 'string', value: 'TEXT', help: `Why: ${where}` },
    author: { type: 'string', value: 'NAME', help: 'Who: likewise (default: CRONCE_AUTHOR, or USER@HOST)' },
  } as const satisfies Flags
}

export interface Authored {
  readonly author: string
  readonly note?: string
}

/** Who wants a change, and why. */
export function authorOf(args: Args, { env }: Pick<Io, 'env'>): Authored {
  const { CRONCE_AUTHOR: named } = env
  const author = (args.text('author') ?? (named || `${userName()}@${hostname()}`)).slice(0, 200)
  const note = args.text('note')
  return note === undefined ? { author } : { author, note }
}

/** The same for the operator log. */
export function operatorOf(args: Args, io: Pick<Io, 'env'>): Authored & { readonly origin: 'cli' } {
  return { ...authorOf(args, io), origin: 'cli' }
}

/** Some containers have a user id without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown user'
  }
}

export interface Plan {
  /** What will change, a sentence each: they are shown before anything does. */
  readonly lines: readonly string[]
  /** It can't be taken back, or it touches much: it wants a yes. */
  readonly dangerous?: boolean
  /** What is to be typed instead of a yes, such as the name of what goes. */
  readonly typed?: string
  /** The plan for programs, with `--dry-run --json`. */
  readonly json?: object
}

/**
 * Show the plan and have it confirmed. `true`: do it. `false`: `--dry-run`, which has said everything; end with exit code 0.
 * A dangerous plan that is not confirmed is refused with CONFIRMATION_NEEDED, exit code 4.
 */
export async function confirm(plan: Plan, args: Args, io: Io): Promise<boolean> {
  const isJson = ['json', 'jsonl'].includes(formOf(args))
  const lines = plan.lines.map(sanitize)
  if (args.has('dry-run')) {
    if (isJson) printJson({ dryRun: true, plan: plan.lines, ...plan.json }, io)
    else io.out(`${['Nothing is changed. This would be:', ...lines.map((line) => `  ${line}`)].join('\n')}\n`)
    return false
  }
  if (!plan.dangerous || args.has('yes')) return true
  if (args.has('no-input') || io.ask === null) {
    throw new CronceError('CONFIRMATION_NEEDED', `It was not confirmed: ${lines.join(' ')}`, {
      hint: 'Look at it with --dry-run, then add --yes.',
    })
  }
  io.err(`${lines.join('\n')}\n`)
  const { typed } = plan
  const question = typed === undefined ? 'Do it? [y/N] ' : `Type ${sanitize(typed)} to do it: `
  const answer = (await io.ask(io.paintErr('bold', question))).trim()
  if (typed === undefined ? /^y(es)?$/i.test(answer) : answer === typed) return true
  throw new CronceError('CONFIRMATION_NEEDED', 'Nothing was changed: it was not confirmed.', {
    hint: 'Try again when you are sure.',
  })
}
