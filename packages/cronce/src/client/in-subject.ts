import { CronceError } from '../errors.ts'

/** Errors about options say whose options they are: `Job "billing": The option retry …`. */
export function inSubject<Value>(what: 'Job' | 'Schedule', name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof CronceError) addSubject(error, what, name)
    throw error
  }
}

function addSubject(error: CronceError, what: string, name: string): void {
  const quoted = JSON.stringify(name)
  const { message, stack } = error
  if (message.includes(quoted)) return
  // The stack repeats the message, and is what Node.js prints.
  error.message = `${what} ${quoted}: ${message}`
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message)
}
