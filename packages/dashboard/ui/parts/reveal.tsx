import { useState } from 'preact/hooks'

const MOST = 20_000

/** Input, results and the like may be private: hidden until they are asked for. Text, never markup. */
export function Reveal({ label, value }: { label: string; value: unknown }) {
  const [isShown, setShown] = useState(false)
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
