import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, get } from './api.ts'
import { scheduleOf, useLive } from './live.ts'
import { useThrottled } from './load.ts'
import type { Items, StripData } from './types.ts'

const AT_A_TIME = 50
/** Servers and proxies refuse addresses that are much longer. */
const CHARACTERS_MOST = 6_000
const WAIT_MS = 120
const REFRESH_MS = 2_000

/** What is known, by schedule. */
const known = signal<ReadonlyMap<string, StripData>>(new Map())
const stale = new Set<string>()
/** Why some strips are missing. */
export const stripsError = signal<ApiError | null>(null)

/** The strips of the rows in sight: only these are read, and read again when something happens to them. */
export function useStrips(names: readonly string[]): ReadonlyMap<string, StripData> {
  const key = names.join('\n')
  const refresh = useThrottled(REFRESH_MS, () => void read(names))
  useEffect(() => {
    const timer = setTimeout(() => void read(names), WAIT_MS)
    return () => clearTimeout(timer)
  }, [key])
  useLive((event) => {
    const schedule = scheduleOf(event)
    for (const name of schedule === null ? known.value.keys() : [schedule]) stale.add(name)
    if (schedule === null || names.includes(schedule)) refresh()
  })
  return known.value
}

async function read(names: readonly string[]): Promise<void> {
  let wanted = names.filter((name) => !known.value.has(name) || stale.has(name))
  while (wanted.length > 0) {
    const some = fitting(wanted)
    if (!(await readSome(some))) return
    wanted = wanted.slice(some.length)
  }
}

async function readSome(names: readonly string[]): Promise<boolean> {
  for (const name of names) stale.delete(name)
  try {
    const { items } = await get<Items<StripData>>('strips', { names: JSON.stringify(names) })
    known.value = new Map([...known.value, ...items.map((strip) => [strip.schedule, strip] as const)])
    stripsError.value = null
    return true
  } catch (error) {
    // They are tried again with the next event.
    for (const name of names) stale.add(name)
    stripsError.value = error instanceof ApiError ? error : new ApiError(0, 'FAILED', String(error))
    return false
  }
}

/** As many as one address can name. */
function fitting(names: readonly string[]): readonly string[] {
  let characters = 0
  const count = names.findIndex((name) => {
    characters += encodeURIComponent(JSON.stringify(name)).length
    return characters > CHARACTERS_MOST
  })
  return names.slice(0, Math.min(AT_A_TIME, count < 0 ? names.length : Math.max(1, count)))
}
