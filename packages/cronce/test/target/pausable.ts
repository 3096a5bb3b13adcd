/**
 * A scheduler for tests that pause it: its arguments are the store, a folder and its lease. Prints a line for each
 * event that a test waits for. On SIGUSR2 its event loop is blocked for three leases.
 */
import { cronce, type Duration } from '../../src/index.ts'

const [, , store, folder = '', lease = '', witness = ''] = process.argv
const tell = (word: string): void => void process.stdout.write(`${word}\n`)

// Without an environment it is not found by it: a re-run here waits for it no more than one on another machine would.
const alone = 'exec env -i PATH="$PATH" CRONCE_TOKEN="$CRONCE_TOKEN" CRONCE_ATTEMPT="$CRONCE_ATTEMPT" FILE="$FILE"'
const ticks = `tick() { echo "$CRONCE_TOKEN $$" >> "$FILE"; sleep 0.2; }; if [ $CRONCE_ATTEMPT = 1 ]; then while :; do tick; done; fi; tick; tick`

const app = cronce({ store, app: 'pausable', lease: lease as Duration, signals: false, logger: false })
for (const [name, first] of [
  ['obedient', ':'],
  ['deaf', "trap '' TERM"],
] as const) {
  const command = `${alone} sh -c '${first.replaceAll("'", `'"'"'`)}; ${ticks}'`
  app.job(name, { command, shell: true, env: { FILE: `${folder}/${name}` } })
}
app.job('task', { file: witness, isolate: 'process', input: { file: `${folder}/task` } })
app.job('thread', { file: witness, isolate: 'thread', input: { file: `${folder}/thread` } })
app.use(async (run, next) => {
  try {
    return await next()
  } catch (error) {
    tell(`${run.fire.job} ${run.attempt} ${(error as { readonly code?: string }).code}`)
    throw error
  }
})
process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number.parseInt(lease, 10) * 3_000)
})
await app.start()
tell('started')
