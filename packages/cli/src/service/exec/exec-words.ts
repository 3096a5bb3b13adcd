import type { Cronce, FireView, OpenFireView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { formatUtc } from '../../format.ts'

/**
 * How a fire ended that did not run here. These words are for people: what the store does not say
 * is left out, and fails nothing.
 */
export async function endWords(app: Cronce, name: string, dueAt: number): Promise<string> {
  const fire = await unlessSilent(app.fires.get({ schedule: name, dueAt }))
  const which = `${name} (due ${formatUtc(dueAt)})`
  switch (fire?.state) {
    case undefined:
      return `${which} is over, and was not run here.`
    case 'open':
      return `${which} is not over.`
    case 'skipped':
      return `${which} was skipped: ${fire.reason}${detail(fire)}.`
    case 'missed':
      return `${which} was not run: ${fire.reason}${detail(fire)}.`
    case 'cancelled':
      return `${which} was cancelled: ${fire.reason}${detail(fire)}.`
    case 'succeeded':
    case 'failed':
    case 'abandoned': {
      const [run] = (await unlessSilent(app.runs.list({ fire, limit: 1 })))?.items ?? []
      const host = run === undefined ? '' : ` on ${await hostOf(app, run.instance)}`
      return `another ran it: ${which} ${fire.state} at ${formatUtc(fire.endedAt ?? fire.dueAt)}${host}.`
    }
  }
}

export async function runningWords(app: Cronce, name: string, open: OpenFireView): Promise<string> {
  const host = open.instance === null ? '' : ` on ${await hostOf(app, open.instance)}`
  const since = open.startedAt === null ? '' : ` since ${formatUtc(open.startedAt)}`
  return `another runs it: ${name} (due ${formatUtc(open.dueAt)}) runs${since}${host}.`
}

function detail(fire: FireView): string {
  return fire.detail === null ? '' : ` (${fire.detail})`
}

/** Where an instance is or was; its id if that is not known any more. */
async function hostOf(app: Cronce, id: string): Promise<string> {
  const instance = await unlessSilent(app.instances.find(id))
  return instance === null ? `instance ${id}` : `${instance.host} (process ${instance.pid})`
}

/** `null`: the store did not say. */
export async function unlessSilent<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CronceError) return null
    throw error
  }
}
