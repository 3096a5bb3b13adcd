import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { begin } from './session.ts'

export interface Loaded<Value> {
  readonly data: Value | null
  readonly error: ApiError | null
  readonly isLoading: boolean
  /** Read it again; what is there stays until the answer comes. */
  readonly reload: () => void
}

/** Reads something whenever `key` changes. An answer to an older question is dropped. */
export function useLoad<Value>(key: string, read: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<{ key: string; data: Value | null; error: ApiError | null }>({
    key: '',
    data: null,
    error: null,
  })
  const [count, setCount] = useState(0)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    const abort = new AbortController()
    latest.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ key, data, error: null })
      },
      (error: unknown) => {
        if (!abort.signal.aborted)
          setState((old) => ({ key, data: old.key === key ? old.data : null, error: asError(error) }))
      },
    )
    return () => abort.abort()
  }, [key, count])
  const isCurrent = state.key === key
  return {
    data: isCurrent ? state.data : null,
    error: isCurrent ? state.error : null,
    isLoading: !isCurrent,
    reload: () => setCount((old) => old + 1),
  }
}

function asError(error: unknown): ApiError {
  const known = error instanceof ApiError ? error : new ApiError(0, 'FAILED', String(error))
  // The token or a right may have been withdrawn.
  if (known.status === 401 || known.status === 403) void begin()
  return known
}

/** Calls at once, then at most once in `ms`, and once more for calls in between. */
export function useThrottled(ms: number, call: () => void): () => void {
  const latest = useRef(call)
  latest.current = call
  const state = useRef<{ timer: number | undefined; again: boolean }>({ timer: undefined, again: false })
  useEffect(() => () => clearTimeout(state.current.timer), [])
  return () => {
    const own = state.current
    if (own.timer !== undefined) {
      own.again = true
      return
    }
    latest.current()
    const rest = (): void => {
      own.timer = own.again ? window.setTimeout(rest, ms) : undefined
      if (own.again) latest.current()
      own.again = false
    }
    own.timer = window.setTimeout(rest, ms)
  }
}
