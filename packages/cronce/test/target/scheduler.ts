/**
 * A program as users write it, for tests that kill it: its arguments are the store and a folder. Reports when it has
 * started.
 */
import { cronce } from '../../src/index.ts'
import { TASK } from './kit.ts'

const [, , store, folder = ''] = process.argv
const tick = `echo $CRONCE_TOKEN $$ >> ${folder}/ticks; sleep 0.05`
const deaf = `trap '' TERM; while :; do ${tick}; done`

const app = cronce({ store, app: 'scheduler', drain: '30s', logger: false })
// The first run and the processes that it has started never end and ignore every signal. The second run is short.
app.job('deaf', {
  command: `if [ $CRONCE_ATTEMPT = 1 ]; then setsid sh -c '${deaf.replaceAll("'", '"')}' & ${deaf}; fi; for i in 1 2 3; do ${tick}; done`,
  shell: true,
})
app.job('loop', { file: TASK, isolate: 'process', guarantee: 'at-most-once', input: { does: 'loop' } })
app.job('slow', { command: 'echo ready; sleep 2; echo done', shell: true })
await app.start()
process.stdout.write('started\n')
