import type { ComponentChildren } from 'preact'

/** What may be wider or higher than its place. It takes the focus, so that the arrow keys can move it. */
export function Scroll({ short = false, children }: { short?: boolean; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class={short ? 'scroll short' : 'scroll'} tabIndex={0}>
      {children}
    </div>
  )
}
