import { eventLine, type Told } from './picture.ts'
import { createStyle, type Style } from './style.ts'

/** Where the demo is seen: a terminal that is drawn again and again, or plain lines. */
export interface Screen {
  readonly style: Style
  readonly isLive: boolean
  readonly columns: () => number
  readonly rows: () => number
  readonly show: (lines: readonly string[]) => void
  readonly event: (told: Told) => void
  readonly print: (text: string) => void
  /** Restores the terminal. Can be called twice. */
  readonly end: () => void
}

const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'
const LINE_WIDTH = 120

export function createScreen(isQuiet: boolean): Screen {
  const { NO_COLOR, TERM } = process.env
  const isTerminal = process.stdout.isTTY === true && TERM !== 'dumb'
  const style = createStyle(isTerminal && (NO_COLOR === undefined || NO_COLOR === ''))
  const isLive = isTerminal && !isQuiet
  let isDrawing = false
  const write = (text: string): void => void process.stdout.write(text)
  return {
    style,
    isLive,
    columns: () => process.stdout.columns || 80,
    rows: () => process.stdout.rows || 24,
    show(lines) {
      if (!isLive) return
      if (!isDrawing) write(ENTER)
      isDrawing = true
      write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`)
    },
    event(told) {
      if (!isLive && !isQuiet) write(`${eventLine(told, style, LINE_WIDTH)}\n`)
    },
    print: (text) => write(`${text}\n`),
    end() {
      if (isDrawing) write(LEAVE)
      isDrawing = false
    },
  }
}
