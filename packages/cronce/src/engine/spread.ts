import { BUCKET_COUNT, hash32 } from '../model/bucket.ts'
import type { Core } from './core.ts'

/**
 * Which buckets of schedules are this instance's to look at first: for each bucket, the live instance with the highest
 * hash. When one comes or goes, only its own buckets move. Nothing but cost depends on it.
 */
export function bucketsOf(instance: string, live: readonly string[]): string {
  const others = live.filter((id) => id !== instance)
  let buckets = ''
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const own = weight(instance, bucket)
    const isOwn = others.every((id) => {
      const its = weight(id, bucket)
      return own > its || (own === its && instance < id)
    })
    buckets += isOwn ? '1' : '0'
  }
  return buckets
}

function weight(instance: string, bucket: number): number {
  return hash32(`${instance} ${bucket}`)
}

export function takesNew({ state, drain }: Core['peers'][number]): boolean {
  return state === 'live' && !drain
}

type Dealt = readonly { readonly job: string; readonly buckets: string }[]

/** Of which job which buckets are this instance's: computed when the fleet changes, asked at every look. */
export function dealer(core: Core): () => Dealt {
  let peers: Core['peers'] | null = null
  let key = ''
  let dealt: Dealt = []
  return () => {
    if (peers !== core.peers) {
      peers = core.peers
      const able = peers.filter(takesNew)
      // Every beat brings a new list, and mostly the same instances; an instance never changes its jobs.
      const dealtFor = [core.instance, ...able.map(({ id }) => id)].join()
      if (dealtFor !== key) {
        dealt = deal(core, able)
        core.agenda.deal(dealt)
      }
      key = dealtFor
    }
    if (core.fullUntil.size === 0) return dealt
    const now = core.parts.clock.mono()
    for (const [job, until] of core.fullUntil) if (until <= now) core.fullUntil.delete(job)
    return dealt.filter(({ job }) => !core.fullUntil.has(job))
  }
}

function deal(core: Core, able: Core['peers']): Dealt {
  const withJob = new Map<string, string[]>([...core.parts.jobs.keys()].map((job) => [job, []]))
  for (const { id, jobs } of able) for (const job of jobs) withJob.get(job)?.push(id)
  const masks = new Map<string, string>()
  return [...withJob].map(([job, ids]) => {
    const shared = ids.join()
    const buckets = masks.get(shared) ?? bucketsOf(core.instance, ids)
    masks.set(shared, buckets)
    return { job, buckets }
  })
}
