import { signal } from '@preact/signals'
import { ApiError, get } from './api.ts'
import { noteServerTime } from './clock.ts'
import type { AccessInfo, StoreInfo } from './types.ts'

interface Settings {
  readonly environment: { readonly label: string; readonly tone: string } | null
}

const RETRY_MS = 5_000
const STORE_MS = 60_000

export const settings: Settings = readSettings()
export const access = signal<AccessInfo | null>(null)
export const store = signal<StoreInfo | null>(null)
/** Why nothing can be shown. */
export const problem = signal<ApiError | null>(null)
export const author = signal(localStorage.getItem('cronce-author') ?? '')

function readSettings(): Settings {
  const text = document.querySelector('meta[name=cronce-settings]')?.getAttribute('content')
  return text ? (JSON.parse(text) as Settings) : { environment: null }
}

/** Whether the server offers this operation to this user. */
export function can(operation: string): boolean {
  return access.value?.operations.includes(operation) === true
}

/** Without it the server sends no inputs and results. */
export function maySeeInput(): boolean {
  return access.value?.rights.includes('seeInput') === true
}

export function rememberAuthor(name: string): void {
  author.value = name
  localStorage.setItem('cronce-author', name)
}

/** Who is on record for a change: access decides, and only if it does not say, the user does. */
export function authored(note: string): { author?: string; note?: string } {
  const name = access.value?.author === null ? author.value.trim() : ''
  return { ...(name === '' ? {} : { author: name }), ...(note.trim() === '' ? {} : { note: note.trim() }) }
}

let timer: number | undefined

/** Learn what this user may do. While that fails for a reason that may pass, it is tried again. */
export async function begin(): Promise<void> {
  clearTimeout(timer)
  try {
    access.value = await get<AccessInfo>('access')
    await measureClock()
    problem.value = null
  } catch (error) {
    problem.value = error instanceof ApiError ? error : new ApiError(0, 'FAILED', String(error))
  }
  const isWaiting = problem.value !== null
  if (isWaiting && !isPassing(problem.value!)) return
  clearTimeout(timer)
  timer = window.setTimeout(beginInFront, isWaiting ? RETRY_MS : STORE_MS)
}

/** A page that is hidden asks for nothing until it is in front again. */
function beginInFront(): void {
  if (!document.hidden) void begin()
  else document.addEventListener('visibilitychange', beginInFront, { once: true })
}

/** 401 and 403 need a person. */
export function isPassing({ status }: ApiError): boolean {
  return status === 0 || status >= 500
}

async function measureClock(): Promise<void> {
  const sentAt = Date.now()
  const answer = await get<StoreInfo>('store')
  noteServerTime(answer.now, sentAt, Date.now())
  store.value = answer
}
