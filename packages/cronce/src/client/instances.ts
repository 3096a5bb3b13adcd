import { CronceError } from '../errors.ts'
import { ENDED_LOOKED, ENDED_SHOWN } from '../store/store.ts'
import { type Act, lineOf } from './activity.ts'
import { readStore, writeStore } from './ask-store.ts'
import { viewInstance } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, readCommand, readOperator } from './read-command.ts'
import { readName } from './read-name.ts'
import { readBoolean, readInteger } from './read-option.ts'
import type { InstanceView } from './views.ts'

/** Options of `instances.list()`. */
export interface ListInstances {
  /** The most instances that left or died to list, the latest first: 0 to 10,000. */
  readonly ended?: number | undefined
}

/** Instances of the fleet: list, drain. */
export interface Instances {
  /** All instances that are live or still hold runs, and the latest that left or died within a day, 200 by default. */
  list(options?: ListInstances): Promise<readonly InstanceView[]>
  /** One of them, also if it left or died within a day; `null` if there is none of this id. */
  find(id: string): Promise<InstanceView | null>
  /** Ask an instance to take nothing new, or (`false`) take that back. INSTANCE_NOT_FOUND if none of this id is live. */
  drain(id: string, drain?: boolean, options?: Authored): Promise<void>
}

export function makeInstances<Tx>(parts: ClientParts<Tx>): Instances {
  const { store } = parts
  return {
    async list(options = {}) {
      const { ended = ENDED_SHOWN } = readCommand(options, ['ended'])
      const query = { ended: readInteger('ended', ended, { min: 0, max: ENDED_LOOKED }) }
      const { instances } = await readStore('list instances', () => store.listInstances(query))
      return instances.map(viewInstance)
    },
    async find(id) {
      const ids = [readName('instance', id)]
      const { instances } = await readStore('look at an instance', () => store.listInstances({ ids }))
      return instances[0] === undefined ? null : viewInstance(instances[0])
    },
    async drain(id, drain = true, options = {}) {
      const name = readName('instance', id)
      const wanted = readBoolean('drain', drain)
      const act: Act = { action: wanted ? 'drain' : 'undrain', by: readOperator(readCommand(options, AUTHORED)) }
      const { now } = await readStore('read its clock', () => store.load([]))
      const activity = lineOf(parts, act, { type: 'instance', name }, now, {})
      const mark = { kind: 'drain', instance: name, drain: wanted, activity } as const
      const found = await writeStore('drain an instance', () => store.mark(mark))
      if (found) return
      throw new CronceError('INSTANCE_NOT_FOUND', `There is no live instance ${JSON.stringify(name)}.`, {
        hint: 'List the instances: one that has restarted has another id.',
      })
    },
  }
}
