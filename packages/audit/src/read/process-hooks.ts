import type { ProcessHook } from '../facts/process-hook.ts'
import { isScript } from './javascript/modules.ts'
import { isAside } from './paths.ts'
import type { Reader } from './reader.ts'

const SHUTDOWN =
  /['"`]SIG(?:TERM|INT)['"`]|\benableShutdownHooks\b|\bgracefulShutdown\b|['"](?:terminus|@godaddy\/terminus|http-terminator|exit-hook|close-with-grace|async-exit-hook|stoppable|lightship)['"]/
const REJECTION = /['"`](?:unhandledRejection|uncaughtException)['"`]/
const COMMENT = /^\s*(?:\/\/|\*)/

/** What a process does on a stop signal, and on an unhandled rejection. */
export const processHookReader: Reader = {
  name: 'process hooks',
  reads: (path) => isScript(path) && !isAside(path),
  mayHoldFacts: (text) => SHUTDOWN.test(text) || REJECTION.test(text),
  read: ({ path, text }) => {
    const hooks: ProcessHook[] = []
    for (const [index, line] of text.split('\n').entries()) {
      const place = { path, line: index + 1 }
      if (COMMENT.test(line)) continue
      if (SHUTDOWN.test(line)) hooks.push({ kind: 'process-hook', place, hook: 'shutdown' })
      if (REJECTION.test(line)) hooks.push({ kind: 'process-hook', place, hook: 'rejection' })
    }
    return hooks
  },
}
