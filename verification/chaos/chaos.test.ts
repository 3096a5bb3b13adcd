import { test } from 'node:test'
import { keepsEveryPromise } from './run-program.ts'

/** Their plans are always the same; when the faults strike is not. */
const SEEDS = [1, 2]

test('four processes keep every promise on SQLite, whatever is done to them', (context) =>
  keepsEveryPromise(context, ['--seconds', '10', '--recovery', '6'], SEEDS))
