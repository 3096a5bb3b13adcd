import type { Effect, Handler } from '../../facts/schedule.ts'
import { lastName, type PythonFunction, type PythonModule } from './module.ts'

/** The function that a schedule calls, if this module defines it. */
export function handlerFunction(module: PythonModule, text: string): PythonFunction | undefined {
  const name = lastName(
    text.replace(/^(?:functools\.)?partial\(\s*([\w.]+)[\s\S]*$/, '$1').replace(/['"]/g, ''),
  ).replace(/^.*:/, '')
  return module.functions.get(name)
}

export function handlerOf(module: PythonModule, text: string): Handler {
  const found = handlerFunction(module, text)
  const isAsync = found === undefined ? null : found.isAsync
  return { isAsync, effect: found === undefined ? 'unknown' : effectOf(found), dropped: null, text: text.slice(0, 80) }
}

/** A handler that only prints or logs does no harm when it runs twice. */
function effectOf({ node }: PythonFunction): Effect {
  const calls = node.descendantsOfType('call')
  const others = calls.filter(
    (call) =>
      !/^(?:print|(?:self\.)?_?(?:logger|log|logging|current_app\.logger|app\.logger)\.\w+|datetime\.\w+(?:\.\w+)?|time\.(?:time|strftime|ctime)|str|format|len|.*\.(?:format|strftime|isoformat))$/.test(
        call?.childForFieldName('function')?.text ?? '',
      ),
  )
  return calls.length > 0 && others.length === 0 ? 'logs' : 'unknown'
}
