/** A program that lends its streams to a command, and passes signals on to it: as `cronce exec` does. */
import { superviseCommand } from '../../src/target/command/supervise.ts'

const { PATH = '' } = process.env
const command = "trap 'echo told; exit 5' TERM; read line; echo heard $line; while :; do sleep 0.1; done"
const started = Promise.withResolvers<(signal: NodeJS.Signals) => void>()
// From the beginning: the command may report before this process knows that it has started.
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, async () => (await started.promise)(name))
const { exitCode, signal } = await superviseCommand(
  { file: '/bin/sh', args: ['-c', command], env: { PATH } },
  {
    signal: new AbortController().signal,
    graceMs: 10_000,
    output: 'inherit',
    onStarted: ({ send }) => started.resolve(send),
  },
)
process.stdout.write(`ended with ${exitCode} ${signal}\n`)
process.exitCode = exitCode ?? 1
