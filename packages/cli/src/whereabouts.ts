import type { Client } from 'cronce'
import { inParallel } from './in-parallel.ts'

/** Where an instance runs or ran. */
export interface Place {
  readonly host: string
  readonly pid: number
}

const AT_A_TIME = 8
/** Of more instances than this, all are asked for at once. */
const MOST_ASKED = 50
const MOST_ENDED = 10_000

/** Where the instances with these ids are. The store forgets an instance a day after it ended; then it is not there. */
export async function placesOf(client: Client, ids: Iterable<string>): Promise<ReadonlyMap<string, Place>> {
  const wanted = [...new Set(ids)].filter((id) => id !== '')
  const found =
    wanted.length > MOST_ASKED
      ? await client.instances.list({ ended: MOST_ENDED })
      : await inParallel(wanted, AT_A_TIME, (id) => client.instances.find(id))
  return new Map(found.filter((instance) => instance !== null).map(({ id, host, pid }) => [id, { host, pid }]))
}

/** `web-1:4711`; the id of an instance that the store has forgotten. */
export function placeWords(instance: string, place: Place | null | undefined): string {
  return place ? `${place.host}:${place.pid}` : instance
}
