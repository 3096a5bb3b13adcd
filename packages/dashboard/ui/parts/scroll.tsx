import type { ComponentChildren } from 'preact'

interface ScrollProps {
  readonly short?: boolean
  /** What is on the right is seen first. */
  readonly fromEnd?: boolean
  readonly children: ComponentChildren
}

/** What may be wider or higher than its place. It takes the focus, so that the arrow keys can move it. */
export function Scroll({ short, fromEnd, children }: ScrollProps) {
  const names = ['scroll', ...(short ? ['short'] : []), ...(fromEnd ? ['from-end'] : [])]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class={names.join(' ')} tabIndex={0}>
      {children}
    </div>
  )
}
