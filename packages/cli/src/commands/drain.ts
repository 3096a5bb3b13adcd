import type { InstanceView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { didYouMean } from 'cronce/internal'
import type { Args } from '../args.ts'
import { authorOf, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { oneOperand } from '../operands.ts'
import { printJson, warn } from '../output.ts'
import { declaredJobs } from '../placement-words.ts'
import { steerFlags } from '../steer/flags.ts'
import { runnersOf } from '../steer/runners.ts'
import { counted, firstFew, say, whyWords } from '../steer/say.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const drain: Command = {
  operands: '<instance>',
  examples: [
    ['cronce drain f3kXw9', 'it claims no new fires; the beginning of its id is enough'],
    ['cronce drain f3kXw9 --undo', 'it claims new fires again'],
  ],
  about:
    'Its runs continue. It stays drained until its process stops; a restarted process has another id, and is not drained.',
  flags: { undo: { type: 'boolean', help: 'Let it claim new fires again' }, ...steerFlags(LOG) },
  run: runDrain,
}

function runDrain(args: Args, io: Io): Promise<number> {
  const given = oneOperand(args, 'drain', 'instance')
  const isDraining = !args.has('undo')
  return withClient(args, io, async (client) => {
    const instances = await client.instances.list({ ended: 0 })
    const instance = find(given, instances)
    const lines = isDraining ? drainWords(instance, instances) : [`Let ${nameOf(instance)} take new runs again.`]
    if (!(await confirm({ lines, json: { instance: instance.id, drain: isDraining } }, args, io))) return EXIT.ok
    await client.instances.drain(instance.id, isDraining, operatorOf(args, io))
    const why = whyWords(authorOf(args, io))
    if (args.has('json'))
      printJson({ instance: instance.id, drain: isDraining, running: instance.running, ...authorOf(args, io) }, io)
    else
      say(
        isDraining
          ? `${nameOf(instance)} takes nothing new; ${runsWords(instance)}.${why}`
          : `${nameOf(instance)} takes new runs again.${why}`,
        io,
      )
    const left = isDraining ? alone(instance, instances) : []
    if (left.length > 0) warn(`No other instance has ${firstFew(left)}: their fires wait.`, io)
    return EXIT.ok
  })
}

/** By its id, or by the beginning of it where that is of one only. */
function find(given: string, instances: readonly InstanceView[]): InstanceView {
  const here = instances.filter(({ state }) => state !== 'left' && state !== 'dead')
  const exact = here.find(({ id }) => id === given)
  if (exact !== undefined) return exact
  const candidates = here.filter(({ id }) => id.startsWith(given))
  if (candidates.length === 1) return candidates[0]!
  if (candidates.length > 1) {
    throw new UsageError(
      `${candidates.length} instances begin with "${given.slice(0, 100)}".`,
      `Write more of it: ${firstFew(candidates.map(({ id }) => id))}.`,
    )
  }
  const meant = didYouMean(
    given,
    here.map(({ id }) => id),
  )
  throw new CronceError('INSTANCE_NOT_FOUND', `There is no live instance "${given.slice(0, 100)}".`, {
    hint:
      meant === undefined
        ? 'List them with cronce instances: one that has restarted has another id.'
        : `Did you mean ${meant}?`,
  })
}

function drainWords(instance: InstanceView, instances: readonly InstanceView[]): string[] {
  const left = alone(instance, instances)
  return [
    `${nameOf(instance)} takes nothing new; ${runsWords(instance)}.`,
    ...(left.length === 0 ? [] : [`No other instance has ${firstFew(left)}: their fires wait.`]),
  ]
}

/** Jobs that no other instance can take over now. */
function alone(instance: InstanceView, instances: readonly InstanceView[]): readonly string[] {
  const others = instances.filter(({ id }) => id !== instance.id)
  return declaredJobs(instance.jobs).filter((job) => runnersOf(job, others).length === 0)
}

function runsWords({ running }: InstanceView): string {
  return running === 0 ? 'it runs nothing now' : `${counted(running, 'run goes', 'runs go')} on`
}

function nameOf({ id, host, pid, app, deployment }: InstanceView): string {
  return `Instance ${id} (${app} ${deployment}, process ${pid} on ${host})`
}
