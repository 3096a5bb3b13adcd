import type { Logger } from './task-types.ts'

const consoleLogger: Logger = {
  info: (message) => console.info(line('INFO', message)),
  warn: (message) => console.warn(line('WARN', message)),
  error: (message, error) => console.error(line('ERROR', textOf(message)), causeOf(message, error)),
  debug: (message, error) => console.debug(line('DEBUG', textOf(message)), causeOf(message, error)),
}

let chosen = consoleLogger

/** For all tasks without one of their own. `undefined`: the console again. */
export function setLogger(logger: Logger | undefined): void {
  chosen = logger ?? consoleLogger
}

/** The logger that is set when a message is written. */
export const sharedLogger: Logger = harmless(() => chosen)

/** A logger that throws must not affect a run or a listener, and there is nowhere else to report its error. */
export function harmless(logger: () => Logger): Logger {
  const quietly = (tell: () => void): void => {
    try {
      tell()
    } catch {}
  }
  return {
    info: (message) => quietly(() => logger().info(message)),
    warn: (message) => quietly(() => logger().warn(message)),
    error: (message, error) => quietly(() => logger().error(message, error)),
    debug: (message, error) => quietly(() => logger().debug(message, error)),
  }
}

function line(level: string, message: string): string {
  return `[${new Date().toISOString()}] [PID: ${process.pid}] [CRONCE] [${level}] ${message}`
}

function textOf(message: string | Error): string {
  return message instanceof Error ? message.message : message
}

function causeOf(message: string | Error, error: Error | undefined): unknown {
  return message instanceof Error ? message : (error ?? '')
}
