/** Keys that fire something: not those that have a meaning of their own. */
const LETTERS = [...'abcdefghijkmnopstuvwxyz']
const CTRL_C = '\x03'
const CTRL_D = '\x04'
const ESCAPE = '\x1b'

export interface KeyActions {
  readonly fire: (schedule: string) => void
  readonly restart: () => void
  readonly quit: (isInterrupt: boolean) => void
  readonly show: (text: string) => void
}

export interface Keys {
  /** These can be fired from now on. */
  offer(schedules: readonly string[]): void
  close(): void
}

/** One key at a time from a terminal. */
export function readKeys(input: NodeJS.ReadStream, actions: KeyActions): Keys {
  let schedules: readonly string[] = []
  const press = (key: string): void => {
    const schedule = schedules[LETTERS.indexOf(key)]
    if (key === CTRL_C || key === CTRL_D || key === 'q') actions.quit(key === CTRL_C)
    else if (key === 'r') actions.restart()
    else if (key === 'l') actions.show(keyList(schedules))
    else if (schedule !== undefined) actions.fire(schedule)
  }
  const onData = (data: Buffer): void => {
    const typed = data.toString()
    // The arrows and their like are several characters, and none of them was pressed.
    if (typed.startsWith(ESCAPE)) return
    for (const key of typed) press(key)
  }
  input.setRawMode(true)
  input.on('data', onData)
  return {
    offer(offered) {
      schedules = offered.slice(0, LETTERS.length)
      actions.show(keyList(schedules))
    },
    close() {
      input.off('data', onData)
      input.setRawMode(false)
      // Else it keeps the process alive.
      input.pause()
    },
  }
}

function keyList(schedules: readonly string[]): string {
  const lines = schedules.map((schedule, index) => `  ${LETTERS[index]}  fire ${schedule}`)
  return [...lines, '  l  this list   r  restart   q  quit'].join('\n')
}
