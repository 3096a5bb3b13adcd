import type { Fact } from '../../facts/fact.ts'
import type { When, Zone } from '../../facts/schedule.ts'
import { guardOf } from './guard.ts'
import { handlerOf } from './handler.ts'
import { type PythonCall, type PythonModule, resolved } from './module.ts'

/** `schedule.every(10).minutes.do(job)` of the library `schedule`, and `@repeat(every().hour)`. */
export function pyScheduleFacts(module: PythonModule): readonly Fact[] {
  const objects = new Set(
    module.calls
      .filter(({ callee }) => resolved(module, callee) === 'schedule.Scheduler')
      .flatMap(({ target }) => target ?? []),
  )
  return module.calls.flatMap((call) => {
    const chain = chainOf(module, call, objects)
    if (chain === null) return []
    const handler = call.decorated?.name ?? call.positional[0]?.text ?? ''
    const fact: Fact = {
      kind: 'schedule',
      place: { path: module.path, line: call.line },
      source: 'py-schedule',
      runner: 'process',
      name: null,
      when: whenOf(chain),
      zone: zoneOf(chain),
      zoneGroup: null,
      guard: guardOf(module, call.scope, call.line, handler),
      handler: handlerOf(module, handler),
      // The library runs jobs one after the other.
      overlap: 'prevented',
      isDynamic: false,
    }
    return [fact]
  })
}

/** What follows `every`: `(10).minutes.at(":17")`. */
function chainOf(module: PythonModule, call: PythonCall, objects: ReadonlySet<string>): string | null {
  const isRepeat = resolved(module, call.callee) === 'schedule.repeat'
  const text = isRepeat ? (call.positional[0]?.text.replace(/[\s\\]+/g, '') ?? '') : call.callee
  if (!isRepeat && !text.endsWith('.do')) return null
  const at = text.indexOf('every(')
  if (at < 0 || text.slice(0, at).includes('(')) return null
  const root = text.slice(0, at + 'every'.length)
  const owner = root.replace(/\.?every$/, '')
  const isLibrary = resolved(module, root) === 'schedule.every' || objects.has(owner.slice(owner.lastIndexOf('.') + 1))
  return isLibrary ? text.slice(at + 'every'.length).replace(/\.do$/, '') : null
}

const SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 }
const WEEKDAY = /\.(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/

function whenOf(chain: string): When {
  const hasTime = /\.at\(/.test(chain)
  const unit = /\.(second|minute|hour|day|week)s?\b/.exec(chain)?.[1]
  const isDaily = WEEKDAY.test(chain) || unit === 'day' || unit === 'week'
  if (hasTime && isDaily) return { kind: 'calendar', text: `every${chain}`.slice(0, 100), isFixedHour: true }
  if (WEEKDAY.test(chain)) return { kind: 'every', ms: 604_800_000 }
  const count = /^\((\d*)\)/.exec(chain)?.[1]
  if (unit === undefined || count === undefined) return { kind: 'unknown', text: `every${chain}`.slice(0, 100) }
  return { kind: 'every', ms: Number(count === '' ? 1 : count) * SECONDS[unit]! * 1000 }
}

function zoneOf(chain: string): Zone {
  const at = /\.at\(\s*(?:[^,()]+),\s*(?:['"]([^'"]+)['"])?/.exec(chain)
  if (at === null) return { kind: 'none' }
  return at[1] === undefined ? { kind: 'computed' } : { kind: 'stated', name: at[1] }
}
