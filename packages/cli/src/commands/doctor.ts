import type { Command } from './command.ts'
export const doctor: Command = { operands: '', examples: [['cronce doctor', '']], flags: {}, run: () => 0 }
