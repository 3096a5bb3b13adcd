/**
 * The number that `H` stands on: FNV-1a over the seed's UTF-16 code units and the field, then a full avalanche so that
 * names which differ in one letter land far apart. Pinned by test vectors: changing it would move the jobs of every user.
 */
export function hashOf(seed: string, field: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) hash = mix(hash, seed.charCodeAt(i))
  hash = mix(hash, 0x10000 + field)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mix(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193)
}
