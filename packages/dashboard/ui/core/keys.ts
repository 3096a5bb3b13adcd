import { useLayoutEffect, useRef } from 'preact/hooks'
import { go, link } from './router.ts'
import { type Screen, screens } from './screens.ts'

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** The latest component asks first. */
const stack: { current: Keys }[] = []
const GO_MS = 1_500
let goUntil = 0

/** Keys of a component, from the moment it is shown until it is gone. A key that is typed into a field is none. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useLayoutEffect(() => {
    stack.push(latest)
    return () => {
      stack.splice(stack.indexOf(latest), 1)
    }
  }, [])
}

window.addEventListener('keydown', (event) => {
  const isPalette = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
  if (isPalette) return call('palette', event)
  if (event.metaKey || event.ctrlKey || event.altKey) return
  if (isTyping(event.target)) return leave(event)
  if (document.querySelector('dialog[open]') !== null || isControl(event)) return
  const screen = screenOf(event.key)
  if (screen !== undefined) {
    goUntil = 0
    event.preventDefault()
    return go(link(screen.path.split('/').filter(Boolean)))
  }
  goUntil = event.key === 'g' ? Date.now() + GO_MS : 0
  call(event.key, event)
})

/** Behind a `g`. */
function screenOf(key: string): Screen | undefined {
  return Date.now() < goUntil ? screens().find((screen) => screen.key === key) : undefined
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}

/** The first Escape leaves the field, the next one the screen. */
function leave({ key, target }: KeyboardEvent): void {
  if (key === 'Escape' && document.querySelector('dialog[open]') === null) (target as HTMLElement).blur()
}

/** Enter on a link or a button does what that says. */
function isControl({ key, target }: KeyboardEvent): boolean {
  return key === 'Enter' && target instanceof Element && target.closest('a, button, summary') !== null
}

function call(key: string, event: KeyboardEvent): void {
  const found = stack.findLast(({ current }) => current[key] !== undefined)
  if (found === undefined) return
  event.preventDefault()
  found.current[key]!(event)
}
