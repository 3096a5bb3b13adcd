import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { apiUrl, headers } from './api.ts'
import type { FireView, Run } from './types.ts'

export type LiveEvent =
  | { readonly kind: 'run.started' | 'run.ended'; readonly run: Run }
  | { readonly kind: 'fire.ended'; readonly fire: FireView }
  /** Events may be missing: read everything again. */
  | { readonly kind: 'reset' }

/** `paused` is the user's wish; `hidden` means that the page is in the background. */
export const liveState = signal<'connecting' | 'live' | 'paused' | 'hidden' | 'broken'>('connecting')
const listeners = new Set<(event: LiveEvent) => void>()
const RETRY_MS = 3_000
/** A stream that ends sooner was cut, and is not opened again at once. */
const LONG_MS = 60_000
/** While no stream can be opened (all places are taken, a proxy), the page reads again after this number of tries. */
const TRIES_UNTIL_READ = 5

let stream: AbortController | null = null
let lastEventId: string | null = null
let isWanted = false
let timer: number | undefined
let failures = 0

/** One stream for the whole tab. It is closed, not just ignored, while it is paused or the page is hidden. */
export function startLive(): void {
  isWanted = true
  follow()
}

export function toggleLive(): void {
  isWanted = !isWanted
  follow()
}

document.addEventListener('visibilitychange', follow)

function follow(): void {
  clearTimeout(timer)
  const isOpen = isWanted && !document.hidden
  if (!isOpen) {
    stream?.abort()
    stream = null
    liveState.value = isWanted ? 'hidden' : 'paused'
  } else if (stream === null) {
    stream = new AbortController()
    void read(stream)
  }
}

async function read(own: AbortController): Promise<void> {
  liveState.value = 'connecting'
  const since = performance.now()
  let isEnded = false
  try {
    const resume = lastEventId === null ? {} : { 'last-event-id': lastEventId }
    const response = await fetch(apiUrl('events'), { headers: { ...headers(), ...resume }, signal: own.signal })
    if (!response.ok || response.body === null) throw new Error(`The server answered ${response.status}.`)
    liveState.value = 'live'
    failures = 0
    await readEvents(response.body)
    isEnded = performance.now() - since > LONG_MS
  } catch {
    // Told by the state; the stream is opened again below.
  }
  if (stream !== own) return
  stream = null
  // The server ends a stream now and then, to decide anew who may read it.
  if (isEnded) return follow()
  liveState.value = 'broken'
  failures++
  if (failures % TRIES_UNTIL_READ === 0) tellAll({ kind: 'reset' })
  timer = window.setTimeout(follow, RETRY_MS)
}

/** Events end with an empty line; each line is `field: value`. */
async function readEvents(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) take(block)
  }
}

function take(block: string): void {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  lastEventId = fields.get('id') ?? lastEventId
  const kind = fields.get('event')
  if (kind === undefined) return
  const isReset = kind === 'ready' || kind === 'reset'
  const event = isReset ? { kind: 'reset' } : { kind, ...(JSON.parse(fields.get('data') ?? '{}') as object) }
  tellAll(event as LiveEvent)
}

function tellAll(event: LiveEvent): void {
  for (const listener of [...listeners]) listener(event)
}

/** Calls back for events while the component is there. */
export function useLive(listener: (event: LiveEvent) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const own = (event: LiveEvent): void => latest.current(event)
    listeners.add(own)
    return () => {
      listeners.delete(own)
    }
  }, [])
}

/** The schedule that an event is about; `null`: all of them. */
export function scheduleOf(event: LiveEvent): string | null {
  if (event.kind === 'reset') return null
  return event.kind === 'fire.ended' ? event.fire.schedule : event.run.schedule
}
