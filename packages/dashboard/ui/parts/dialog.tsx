import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../core/api.ts'
import { access, author, rememberAuthor } from '../core/session.ts'
import { ErrorBox } from './feedback.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const own = useRef<HTMLDialogElement>(null)
  useEffect(() => own.current?.showModal(), [])
  return (
    <dialog ref={own} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}

interface ActionDialogProps extends DialogProps {
  /** What the button says. */
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  /** Throws what the API refused. */
  readonly act: (note: string) => Promise<void>
}

/** Says what will happen to which fires, asks why, and acts. */
export function ActionDialog({ title, verb, act, onClose, isDangerous, isDisabled, children }: ActionDialogProps) {
  const [note, setNote] = useState('')
  const [error, setError] = useState<ApiError | null>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      await act(note)
      onClose()
    } catch (caught) {
      setError(caught instanceof ApiError ? caught : new ApiError(0, 'FAILED', String(caught)))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <label>
          Note, for the record
          <input name="note" value={note} maxLength={1_000} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        <AuthorField />
        {error === null ? null : <ErrorBox error={error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous === true ? 'danger' : 'primary'}
            disabled={isBusy || isDisabled === true}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Only where access does not say who it is. */
function AuthorField() {
  const known = access.value?.author ?? null
  if (known !== null) return <p class="muted">Recorded as {known}.</p>
  return (
    <label>
      Your name, for the record
      <input
        name="author"
        value={author.value}
        maxLength={200}
        onInput={(event) => rememberAuthor(event.currentTarget.value)}
      />
    </label>
  )
}
