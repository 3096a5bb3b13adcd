import { useState } from 'preact/hooks'
import { signIn, signOut, token } from '../core/api.ts'
import { begin, isPassing, problem } from '../core/session.ts'

/** Why nothing is shown: no access, or a store or server that is away. */
export function Gate() {
  const error = problem.value
  if (error === null) return <p class="loading">Loading…</p>
  if (error.status === 401 || error.status === 403) return <SignIn />
  return (
    <div class="gate" role="alert">
      <h1>{error.code.startsWith('STORE_') ? 'The store does not answer' : 'Nothing to show'}</h1>
      <p>{error.message}</p>
      <p class="muted">{error.hint}</p>
      <p>
        <code>{error.code}</code>
      </p>
      {isPassing(error) ? <p class="muted">The page tries again every 5 seconds.</p> : null}
      <button type="button" class="primary" onClick={() => void begin()}>
        Try again now
      </button>
    </div>
  )
}

function SignIn() {
  const [given, setGiven] = useState('')
  const error = problem.value!
  const submit = (event: Event): void => {
    event.preventDefault()
    if (given.trim() === '') signOut()
    else signIn(given.trim())
    void begin()
  }
  return (
    <form class="gate" onSubmit={submit}>
      <h1>{error.status === 401 ? 'Sign in' : error.message}</h1>
      <p>{token.value === null ? 'This dashboard wants to know who you are.' : error.message}</p>
      <p class="muted">{error.hint}</p>
      <label>
        Access token
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <p class="muted">It stays in this tab, and is sent to this server only.</p>
      <button type="submit" class="primary">
        Open
      </button>
    </form>
  )
}
