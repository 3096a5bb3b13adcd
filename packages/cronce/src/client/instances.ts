import { CronceError } from '../errors.ts'
import { readStore, writeStore } from './ask-store.ts'
import { viewInstance } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { readName } from './read-name.ts'
import { readBoolean } from './read-option.ts'
import type { InstanceView } from './views.ts'

export interface Instances {
  /** All that are live, and those that left or died within a day. */
  list(): Promise<readonly InstanceView[]>
  /** Ask an instance to take nothing new, or (`false`) take that back. INSTANCE_NOT_FOUND if none of this id is live. */
  drain(id: string, drain?: boolean): Promise<void>
}

export function makeInstances<Tx>({ store }: ClientParts<Tx>): Instances {
  return {
    async list() {
      const { instances } = await readStore('list instances', () => store.listInstances())
      return instances.map(viewInstance)
    },
    async drain(id, drain = true) {
      const name = readName('instance', id)
      const wanted = readBoolean('drain', drain)
      const found = await writeStore('drain an instance', () => store.drain(name, wanted))
      if (found) return
      throw new CronceError('INSTANCE_NOT_FOUND', `There is no live instance ${JSON.stringify(name)}.`, {
        hint: 'List the instances: one that has restarted has another id.',
      })
    },
  }
}
