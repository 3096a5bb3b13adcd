import { realpathSync } from 'node:fs'
import { UsageError } from './usage-error.ts'

/** The zone of this machine: by TZ, or by its settings. Refused where neither names one, since UTC would be a guess. */
export function localZone({ TZ }: { readonly TZ?: string | undefined } = process.env): string {
  const named = TZ === undefined ? undefined : zoneNamed(zoneOfFile(TZ.replace(/^:/, '')))
  const zone = named ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  // The types promise a name, and Node.js has none for some settings of TZ.
  if ((zone as string | undefined) !== undefined && zone !== 'Etc/Unknown') return zone
  throw new UsageError(`The zone of this machine can't be told (TZ is ${JSON.stringify(TZ ?? '')}).`, 'Add --tz.')
}

/** `/usr/share/zoneinfo/Europe/Berlin`, or a link to it such as `/etc/localtime`, is Europe/Berlin. */
function zoneOfFile(text: string): string {
  if (!text.startsWith('/')) return text
  try {
    return realpathSync(text).replace(ZONE_FOLDER, '')
  } catch {
    return text.replace(ZONE_FOLDER, '')
  }
}

const ZONE_FOLDER = /^.*\/zoneinfo(\.default)?\/(posix\/|right\/)?/

function zoneNamed(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
