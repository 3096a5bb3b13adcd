/** Schedules are dealt to instances by the bucket, not one by one: what a store can put in a column and a query. */
export const BUCKET_COUNT = 256

export function bucketOf(id: string): number {
  return hash32(id) % BUCKET_COUNT
}

/** FNV-1a over UTF-16 units, then mixed: equal on every machine, spread over all bits. Not for secrets. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
