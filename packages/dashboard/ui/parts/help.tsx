import { screens } from '../core/screens.ts'
import { access } from '../core/session.ts'
import { Dialog } from './dialog.tsx'

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ['⌘K, Ctrl K', 'search schedules and screens'],
  ['/', 'go to the filter'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['p', 'pause or resume the schedule'],
  ['r', 'run the schedule now'],
  ['l', 'live updates on or off'],
  ['Esc', 'close, or go back'],
  ['?', 'this help'],
]

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {[...KEYS, ...screens().map(({ key, title }) => [`g ${key}`, title] as const)].map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">cronce {access.value?.version}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
