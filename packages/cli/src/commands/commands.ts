import type { Command } from './command.ts'
import { explain } from './explain.ts'
import { next } from './next.ts'

export const COMMANDS: readonly Command[] = [next, explain]
