import { useState } from 'preact/hooks'
import { maySeeInput } from '../core/session.ts'

const MOST = 20_000

/** Input, results and the like may be private: hidden until they are asked for. Text, never markup. */
export function Reveal({ label, value }: { label: string; value: unknown }) {
  const [isShown, setShown] = useState(false)
  if (!maySeeInput()) return <Hidden />
  if (!isShown) {
    return (
      <button type="button" class="quiet" onClick={() => setShown(true)}>
        Show {label}
      </button>
    )
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return <pre class="json">{text.length > MOST ? `${text.slice(0, MOST)}…` : text}</pre>
}

/** Where the server sends nothing, the page must not say that there is nothing. */
export function Hidden() {
  return <span class="muted">hidden: you do not have the right seeInput</span>
}
