import { tell } from './feedback.tsx'
import { Icon } from './icons.tsx'

export function CopyButton({ label, text }: { label: string; text: string }) {
  const copy = (): void => {
    void copyText(text).then((isDone) => tell(isDone ? 'Copied.' : 'The browser does not allow to copy.', !isDone))
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      <Icon name="copy" />
      {label}
    </button>
  )
}

/** The clipboard is closed to pages without TLS; the old way still works there. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}
