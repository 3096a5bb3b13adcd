import type { Cronce, FireView, OpenFireView } from 'cronce'
import { formatUtc } from '../../format.ts'

/** What became of a fire that was not run here. */
export async function elsewhereWords(app: Cronce, name: string, fire: FireView): Promise<string> {
  const which = `${name} (due ${formatUtc(fire.dueAt)})`
  switch (fire.state) {
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
      const { items } = await app.runs.list({ fire, limit: 1 })
      const host = items[0] === undefined ? '' : ` on ${await hostOf(app, items[0].instance)}`
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

/** Where an instance is or was; its id if nobody knows any more. */
async function hostOf(app: Cronce, id: string): Promise<string> {
  const instance = (await app.instances.list()).find((known) => known.id === id)
  return instance === undefined ? `instance ${id}` : `${instance.host} (process ${instance.pid})`
}
