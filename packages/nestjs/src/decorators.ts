import { Inject } from '@nestjs/common'
import { CronceError, type InputOf, type JobOptions, type Run, type StandardSchema } from 'cronce'
import { type CronOptions, readCron } from './cron-options.ts'
import { Cronce } from './cronce-token.ts'
import { type Declaration, declareOn } from './declarations.ts'

/** Decorates a method that takes a run, or nothing. `never` lets the method name the transaction of its store. */
export type JobDecorator<Input> = <Method extends (run: Run<Input, never>) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void

/**
 * Declares a job, as `app.job(name, options, handler)` does: the method is the handler.
 *
 * @example
 * class Billing {
 *   @Job('billing', { cron: '0 3 * * *', tz: 'Europe/London', retry: 3 })
 *   async bill(run: Run) {}
 * }
 */
export function Job<Schema extends StandardSchema | undefined = undefined>(
  name: string,
  options: string | JobOptions<Schema>,
): JobDecorator<InputOf<Schema>> {
  return decorate('@Job', { name, options: options as JobOptions })
}

/** `@Cron` of `@nestjs/schedule`, with the options of a cronce job as well. */
export function Cron<Schema extends StandardSchema | undefined = undefined>(
  cronTime: string | Date,
  options?: CronOptions<Schema>,
): JobDecorator<InputOf<Schema>> {
  return decorate('@Cron', readCron(cronTime, options))
}

/**
 * `@Interval` of `@nestjs/schedule`. The fleet has one series of due times, counted from 1970-01-01T00:00:00Z and not from the start of a
 * process. Another anchor, or any other option: `@Job`.
 */
export function Interval(ms: number): JobDecorator<null>
export function Interval(name: string, ms: number): JobDecorator<null>
export function Interval(...args: readonly unknown[]): JobDecorator<null> {
  const { name, ms } = readDelay('@Interval', args)
  return decorate('@Interval', { name, options: { every: ms } })
}

/**
 * `@Timeout` of `@nestjs/schedule`, but once per deployment in the whole fleet: of its processes, the first that has run for this long
 * triggers the job. For what every process has to do, use `setTimeout` in `onApplicationBootstrap`.
 */
export function Timeout(ms: number): JobDecorator<null>
export function Timeout(name: string, ms: number): JobDecorator<null>
export function Timeout(...args: readonly unknown[]): JobDecorator<null> {
  const { name, ms } = readDelay('@Timeout', args)
  return decorate('@Timeout', { name, options: {}, afterMs: ms })
}

/** Injects the app into a parameter or property; needed where the compiler emits no types of parameters. */
export function InjectCronce(): ReturnType<typeof Inject> {
  return Inject(Cronce)
}

function decorate<Input>(decorator: string, declaration: Declaration): JobDecorator<Input> {
  return (target, method) => declareOn(decorator, target, method, declaration)
}

/** The longest that a timer of Node.js waits. */
const LONGEST_MS = 2 ** 31 - 1

function readDelay(
  decorator: string,
  args: readonly unknown[],
): { readonly name: string | undefined; readonly ms: number } {
  const [name, ms] = args.length > 1 ? args : [undefined, args[0]]
  if (typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS) return { name: name as string | undefined, ms }
  throw new CronceError(
    'OPTION_INVALID',
    `${decorator} takes milliseconds from 0 to ${LONGEST_MS}, but got ${String(ms)}.`,
    {
      hint: `Write ${decorator}(10_000), or ${decorator}('name', 10_000).`,
    },
  )
}
