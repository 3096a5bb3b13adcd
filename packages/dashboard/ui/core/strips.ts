import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get } from './api.ts'
import { scheduleOf, useLive } from './live.ts'
import { useThrottled } from './load.ts'
import type { Items, StripData } from './types.ts'

const AT_A_TIME = 50
const WAIT_MS = 120
const REFRESH_MS = 2_000

/** What is known, by schedule. */
const known = signal<ReadonlyMap<string, StripData>>(new Map())
const stale = new Set<string>()

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
  const wanted = names.filter((name) => !known.value.has(name) || stale.has(name)).slice(0, AT_A_TIME)
  if (wanted.length === 0) return
  for (const name of wanted) stale.delete(name)
  try {
    const { items } = await get<Items<StripData>>('strips', { names: JSON.stringify(wanted) })
    known.value = new Map([...known.value, ...items.map((strip) => [strip.schedule, strip] as const)])
  } catch {
    // The list says what is wrong; strips are tried again with the next event.
    for (const name of wanted) stale.add(name)
  }
}
