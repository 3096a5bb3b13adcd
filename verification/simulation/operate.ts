import type { Request } from '../../packages/checker/src/history.ts'
import { CronceError } from '../../packages/cronce/src/errors.ts'
import type { ActivityJudge, WishResult } from './invariants/judge-activity.ts'
import type { Node } from './node.ts'
import { optionsOf } from './plan-options.ts'
import type { Recorder } from './recorder.ts'
import type { OperatorAction } from './scenario.ts'

type Ask = Exclude<OperatorAction, { readonly kind: 'op-drain' | 'op-activate' | 'read' }>

export interface Desk {
  readonly operator: Node
  readonly recorder: Recorder
  readonly storeNow: () => number
  readonly count: (what: string) => void
  readonly activity: ActivityJudge
}

/** Acts as an operator: reads where needed, sends the request, and records the result. No answer makes it fail. */
export async function operate(desk: Desk, action: Ask): Promise<void> {
  const note = desk.activity.noteFor(action.schedule)
  const wish = await look(desk, action, note).catch(() => null)
  if (wish === null) return
  const result = await ask(desk, action, wish, note)
  // Whether or not it is known to be done: with a key it can be asked for again.
  if (action.kind === 'op-trigger' && action.dedupe !== null && result !== 'fail') await ask(desk, action, wish, note)
}

interface Wish {
  readonly request: Request
  /** `unsure`: it was done, and perhaps there was nothing to change. */
  readonly send: () => Promise<unknown>
}

/** An operator's patience. What is answered later is not heard. */
const PATIENCE_MS = 20_000

async function ask(
  { recorder, count, operator, activity }: Desk,
  { schedule, kind }: Ask,
  wish: Wish,
  note: string,
): Promise<WishResult> {
  const answer = recorder.ask(schedule, wish.request)
  let isSure = false
  const sent = wish.send().then(
    (effect): WishResult => {
      isSure = effect !== 'unsure'
      return 'ok'
    },
    (error: unknown): WishResult => (isRefusal(error) ? 'fail' : 'info'),
  )
  const silence = new AbortController()
  const result = await Promise.race([sent, operator.process.clock.sleep(PATIENCE_MS, silence.signal)])
  silence.abort()
  if (result === undefined || result === 'info') count('unknown wish')
  if (result === 'fail') count('refused wish')
  count(`${kind} ${result ?? 'info'}`)
  activity.answered(note, result ?? 'info', isSure)
  if (result === undefined) return 'info'
  answer(result)
  return result
}

/** A stable code proves that nothing was done; the message of a store failure proves nothing. */
function isRefusal(error: unknown): boolean {
  return error instanceof CronceError && error.code !== 'STORE_FAILED'
}

/** What exactly to ask for, and how: it depends on what is there. */
async function look({ operator, storeNow, count }: Desk, action: Ask, note: string): Promise<Wish | null> {
  const { schedules, fires, runs } = operator.app
  const { schedule } = action
  switch (action.kind) {
    case 'op-pause': {
      const until = action.untilMs === null ? null : storeNow() + action.untilMs
      const { missed } = action
      return wish({ verb: 'pause', until, missed }, () =>
        schedules.pause(schedule, { missed, until: until ?? undefined, note }),
      )
    }
    case 'op-resume': {
      const { missed } = action
      return wish({ verb: 'resume', missed }, () => unsure(schedules.resume(schedule, { missed, note })))
    }
    case 'op-trigger': {
      const { dedupe, overlap } = action
      const options = { overlap, dedupe: dedupe ?? undefined, note }
      return wish({ verb: 'trigger', nonce: dedupe }, async () => {
        const { created } = await schedules.trigger(schedule, options)
        if (created) return
        count('op-trigger deduped')
        return 'unsure'
      })
    }
    case 'op-backfill': {
      const { force } = action
      const from = storeNow() - Math.max(action.fromMsAgo, action.toMsAgo)
      const to = storeNow() - Math.min(action.fromMsAgo, action.toMsAgo)
      return wish({ verb: 'backfill', from, to, force }, () => schedules.backfill(schedule, { from, to, force, note }))
    }
    case 'op-skip-next': {
      const { nextAt: dueAt } = await schedules.get(schedule)
      if (dueAt === null) return null
      await operator.process.clock.sleep(action.thinkMs)
      return wish({ verb: 'skip-next', dueAt }, () => schedules.skipNext(schedule, { dueAt, note }))
    }
    case 'op-cancel': {
      const { open } = await schedules.get(schedule)
      const fire = open[action.which % Math.max(1, open.length)]
      if (fire === undefined) return null
      const { dueAt, nonce, token } = fire
      await operator.process.clock.sleep(action.thinkMs)
      if (action.what === 'fire' || token === null) {
        return wish({ verb: 'cancel', dueAt, nonce, token: null }, () =>
          unsure(fires.cancel({ schedule, dueAt, nonce }, { note })),
        )
      }
      return wish({ verb: 'cancel', dueAt, nonce, token }, () => unsure(runs.cancel(schedule, token, { note })))
    }
    case 'op-retry': {
      const { items } = await fires.list({ schedule, limit: 20 })
      const fire = items[action.which % Math.max(1, items.length)]
      if (fire === undefined) return null
      const { force } = action
      const { dueAt, nonce } = fire
      return wish({ verb: 'retry', dueAt, nonce, force }, () =>
        fires.retry({ schedule, dueAt, nonce }, { force, note }),
      )
    }
    case 'op-remove':
      return wish({ verb: 'remove' }, () => schedules.remove(schedule, { force: true, note }))
    case 'op-define': {
      const { spec } = action.plan
      const options = { ...optionsOf(action.plan), job: spec.job }
      return wish({ verb: 'define', spec }, () => unsure(schedules[action.how](schedule, options, { note })))
    }
  }
}

/** For commands that may find nothing to change. */
async function unsure(done: Promise<unknown>): Promise<'unsure'> {
  await done
  return 'unsure'
}

function wish(request: Request, send: () => Promise<unknown>): Wish {
  return { request, send }
}
