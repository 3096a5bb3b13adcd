import { toJson } from '../../engine/run/to-json.ts'
import { LIMITS } from '../../model/limits.ts'
import { toErrorData } from './error-data.ts'
import { loadTask } from './load-task.ts'
import type { FromTask, TaskOrder, ToTask } from './messages.ts'
import { type Link, TaskRun } from './task-run.ts'

/** The way to the scheduler, as threads and processes have it. */
export interface TaskPort {
  send(message: FromTask): void
  /** As often as it is held it must be released, or the task does not end by itself. */
  ref(): void
  unref(): void
  /** All has been sent: end now, whatever else the task has going. */
  end(): void
}

/** What it has written to its streams may be on its way, too. */
export function exitWhenWritten(): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(0)))
}

/** A task from its order to its answer. Returns whom to give what the scheduler sends. */
export function runTask(order: TaskOrder, port: TaskPort): (message: ToTask) => void {
  const run = new TaskRun(order, linkTo(port))
  void answerOf(order.file, run).then((answer) => {
    run.flush()
    port.send(answer)
    port.end()
  })
  return (message) => run.receive(message)
}

async function answerOf(file: string, run: TaskRun): Promise<FromTask> {
  try {
    const handler = await loadTask(file)
    const result = toJson(await handler(run), LIMITS.result)
    return { kind: 'done', value: result.kind === 'json' ? { json: result.json } : { problem: result.problem } }
  } catch (error) {
    return { kind: 'failed', error: toErrorData(error) }
  }
}

function linkTo(port: TaskPort): Link {
  let held = 0
  return {
    send: (message) => port.send(message),
    hold() {
      if (held++ === 0) port.ref()
    },
    release() {
      if (--held === 0) port.unref()
    },
  }
}
