import { test } from 'node:test'
import { keepsEveryPromise } from './run-program.ts'

test('four processes keep every promise on SQLite under faults', (context) =>
  keepsEveryPromise(context, ['--seconds', '10', '--recovery', '6']))
