import { createHash } from 'node:crypto'

/** The channel on which one process wakes the others. */
export function wakeChannel(schema: string, namespace: string): string {
  const scope = createHash('sha256')
    .update(JSON.stringify([schema, namespace]))
    .digest('hex')
  return `cronce_${scope.slice(0, 24)}`
}
