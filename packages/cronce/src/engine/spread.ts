import { BUCKET_COUNT, hash32 } from '../model/bucket.ts'

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
