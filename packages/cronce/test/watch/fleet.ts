import type { AlertMessage, AlertsOptions } from '../../src/alerts.ts'
import {
  createFleet,
  type Declare,
  type Fleet,
  type FleetOptions,
  type Member,
  type MemberOptions,
} from '../engine/fleet.ts'

/** A fleet that watches itself, and all that its channels were given. */
export interface WatchedFleet extends Fleet {
  readonly messages: AlertMessage[]
  watched(declare: Declare, options?: MemberOptions & { readonly alerts?: AlertsOptions }): Promise<Member>
  /** Rules that fired so far, once per message. */
  fired(): string[]
  resolved(): string[]
  titles(): string[]
}

export async function watchedFleet(options?: FleetOptions): Promise<WatchedFleet> {
  const fleet = await createFleet(options)
  const messages: AlertMessage[] = []
  const of = (kind: AlertMessage['kind']): string[] =>
    messages.filter((message) => message.kind === kind).map(({ rule }) => rule)
  return {
    ...fleet,
    messages,
    watched(declare, { alerts, ...rest } = {}) {
      const channels = [(message: AlertMessage) => void messages.push(message)]
      return fleet.add(declare, { app: 'shop', alerts: { channels, ...alerts }, ...rest })
    },
    fired: () => of('firing'),
    resolved: () => of('resolved'),
    titles: () => messages.map(({ title }) => title),
  }
}
