import type { Fleet } from './fleet.ts'
import type { Counted } from './protocol.ts'

/** What the processes of a fleet do for something. */
export interface ClientEffort {
  readonly clientCpuMs: number
  readonly clientMainMs: number
}

type Numbers<Type> = { readonly [Key in keyof Type]: number }

/** Starts counting, for the processes and the server. The returned function reports what has been done since. */
export async function effortOf<Reading extends Numbers<Reading>>(
  fleet: Fleet,
  read: () => Promise<Reading>,
): Promise<() => Promise<Reading & ClientEffort>> {
  const take = async () => ({ reading: await read(), counts: await fleet.counts() })
  const before = await take()
  return async () => {
    const after = await take()
    const sum = (of: (counted: Counted) => number) =>
      after.counts.reduce((all, counted) => all + of(counted), 0) -
      before.counts.reduce((all, counted) => all + of(counted), 0)
    return {
      ...each(after.reading, (value, name) => value - before.reading[name]),
      clientCpuMs: sum(({ cpuMs }) => cpuMs),
      clientMainMs: sum(({ mainMs }) => mainMs),
    }
  }
}

export function perFire<Effort extends Numbers<Effort>>(spent: Effort, count: number): Effort {
  return each(spent, (value) => value / count)
}

function each<Type extends Numbers<Type>>(numbers: Type, change: (value: number, name: keyof Type) => number): Type {
  const names = Object.keys(numbers) as (keyof Type)[]
  return Object.fromEntries(names.map((name) => [name, change(numbers[name], name)])) as unknown as Type
}

/** The most that `look` has found while `work` went on. */
export async function watchMost<Value>(
  look: () => Promise<number>,
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly most: number }> {
  let most = 0
  const note = async () => {
    most = Math.max(most, await look())
  }
  const timer = setInterval(() => void note(), 250)
  try {
    const value = await work()
    await note()
    return { value, most }
  } finally {
    clearInterval(timer)
  }
}
