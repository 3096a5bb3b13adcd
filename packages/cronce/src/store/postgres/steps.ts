import type { FireKey } from '../../model/record.ts'
import type { Annotation, StepCommand } from '../store.ts'
import type { Statement } from './database.ts'
import type { Statements } from './functions.ts'

/** Which statement, and its values after the namespace. */
export function stepCall(
  statements: Statements,
  command: StepCommand,
): { readonly statement: Statement; readonly values: string[] } {
  const step = [...fireValues(command.fire), command.step]
  if (command.kind === 'begin') {
    return { statement: statements.beginStep, values: [...step, command.token, String(command.rerun)] }
  }
  const token = command.kind === 'end' ? command.token : '0'
  const ending = [command.failed ? 'failed' : 'done', command.kind, JSON.stringify(command.result)]
  return { statement: statements.endStep, values: [...step, token, ...ending] }
}

export function fireValues({ schedule, dueAt, nonce }: FireKey): string[] {
  return [schedule, String(dueAt), nonce]
}

export function notesValue(notes: readonly Annotation[]): string {
  return JSON.stringify(notes.map(({ schedule, token, ...told }) => ({ schedule, token, notes: JSON.stringify(told) })))
}
