import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps {
  readonly count: number
  readonly rowHeight: number
  /** The row that is chosen: kept in sight. */
  readonly chosen: number
  readonly label: string
  /** Stays above the rows. */
  readonly head: ComponentChildren
  readonly row: (index: number) => ComponentChildren
  /** Which rows are in sight: from (included) to (not included). */
  readonly onSight: (from: number, to: number) => void
}

const OVERSCAN = 6

/** Only the rows in sight are there. */
export function VirtualList({ count, rowHeight, chosen, label, head, row, onSight }: VirtualListProps) {
  const own = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  useLayoutEffect(() => {
    const box = own.current!
    const look = (): void => setView({ top: box.scrollTop, height: box.clientHeight })
    const watch = new ResizeObserver(look)
    watch.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      watch.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])
  useEffect(() => keepInSight(own.current!, chosen, rowHeight), [chosen, rowHeight])
  const from = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN)
  const to = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN)
  useEffect(() => onSight(from, to), [from, to, onSight])
  return (
    <div class="virtual" ref={own}>
      {head}
      <div class="all" style={{ height: `${count * rowHeight}px` }}>
        <ul aria-label={label} style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, index) => row(from + index))}
        </ul>
      </div>
    </div>
  )
}

function keepInSight(box: HTMLDivElement, chosen: number, rowHeight: number): void {
  if (chosen < 0) return
  const top = chosen * rowHeight
  if (top < box.scrollTop) box.scrollTop = top
  else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
}
