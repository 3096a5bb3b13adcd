import { signal } from '@preact/signals'
import { part } from './api.ts'

/** Where the user is: `#/schedules/billing?range=7d` is `{ path: ['schedules', 'billing'], query: { range: '7d' } }`. */
export interface Place {
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

export const place = signal<Place>(readPlace())

/** The last screen without a name in its address: where `goBack` leads from a schedule or a fire. */
let list: string | null = null
let before: string | null = null
let shown = location.hash

window.addEventListener('hashchange', follow)

/** The event comes a task after the address has changed: a key that is pressed in between must not see the old place. */
function follow(): void {
  if (location.hash === shown) return
  before = shown
  if (place.value.path.length <= 1) list = shown
  shown = location.hash
  place.value = readPlace()
}

/** From a fire to the page that led to it, from a schedule to the list. A screen that is a list stays. */
export function goBack(): void {
  const { path } = place.value
  const [first, name = ''] = path
  if (path.length <= 1) return
  const parent = first === 'fires' ? scheduleLink(name) : link(['schedules'])
  go(first === 'fires' && before?.split('?')[0] === parent ? before : (list ?? parent))
}

function readPlace(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  const parts = path.split('/').filter((one) => one !== '')
  return { path: parts.map(decode), query: new URLSearchParams(query) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replace(/^=/, ''))
  } catch {
    return text
  }
}

export function link(
  path: readonly (string | number)[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const fields = Object.entries(query).filter((field): field is [string, string] => !!field[1])
  const text = new URLSearchParams(fields).toString()
  return `#/${path.map((one) => part(String(one))).join('/')}${text === '' ? '' : `?${text}`}`
}

export function go(to: string): void {
  location.hash = to
  follow()
}

/** What a list shows is in the address, so that it can be sent to a colleague. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = readPlace()
  history.replaceState(null, '', link(path, { ...Object.fromEntries(query), ...changes }))
  shown = location.hash
  place.value = readPlace()
}

export function scheduleLink(name: string): string {
  return link(['schedules', name])
}

export function fireLink({ schedule, dueAt, nonce }: { schedule: string; dueAt: number; nonce: string }): string {
  return link(['fires', schedule, dueAt], { nonce })
}
