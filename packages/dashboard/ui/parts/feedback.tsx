import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ApiError } from '../core/api.ts'
import type { Loaded } from '../core/load.ts'
import { problem } from '../core/session.ts'

/** What was done, or why not, for a moment. */
export const toast = signal<{ readonly text: string; readonly isError: boolean } | null>(null)
const TOAST_MS = 6_000
let timer: number | undefined

export function tell(text: string, isError = false): void {
  clearTimeout(timer)
  toast.value = { text, isError }
  timer = window.setTimeout(() => {
    toast.value = null
  }, TOAST_MS)
}

export function Toast() {
  const { text, isError } = toast.value ?? { text: '', isError: false }
  return (
    <div class={`toast ${isError ? 'is-error' : ''}`} role="status" aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  )
}

interface ErrorBoxProps {
  readonly error: ApiError
  /** What could not be read, where the rest of the screen is shown without it. */
  readonly about?: string
  readonly retry?: () => void
}

export function ErrorBox({ error, about, retry }: ErrorBoxProps) {
  return (
    <div class="notice is-error" role="alert">
      <p>
        {about === undefined ? null : `${about} could not be read. `}
        <strong>{error.message}</strong> {error.hint} <code>{error.code}</code>
      </p>
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Says what is missing, and the command that changes it. */
export function Empty({ title, command, children }: { title: string; command?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
      {command === undefined ? null : (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </div>
  )
}

/** Shows what was loaded; an error does not hide what is there. */
export function Show<Value>({ from, children }: { from: Loaded<Value>; children: (data: Value) => ComponentChildren }) {
  const { data, error, reload } = from
  // What keeps the whole page from working is said once, above it.
  const isSaid = error !== null && problem.value?.code === error.code
  return (
    <>
      {error === null || isSaid ? null : <ErrorBox error={error} retry={reload} />}
      {data === null ? error === null ? <p class="loading">Loading…</p> : null : children(data)}
    </>
  )
}

export function Card({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
