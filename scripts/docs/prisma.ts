import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

/** The schema of Prisma in a text of ours. */
export function prismaSchemaOf(text: string): string {
  const [, schema] = /^```prisma\n([\s\S]*?)^```/m.exec(text) ?? []
  if (schema === undefined) throw new Error('There is no block of Prisma in this text.')
  return schema
}

/**
 * Generate Prisma's client as the schema says, relative to the folder. `prisma` wants to download its schema engine although
 * `generate` does not use it: a program that exists keeps it from doing so.
 */
export async function generatePrisma(schema: string, folder: string): Promise<void> {
  // Where Prisma looks for it, so that the output is relative to that.
  await mkdir(join(folder, 'prisma'), { recursive: true })
  const file = join(folder, 'prisma', 'schema.prisma')
  await writeFile(file, schema)
  const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js')
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  const { output, code } = await runProgram(process.execPath, [prisma, 'generate', '--schema', file], folder, { env })
  if (code !== 0) throw new Error(`prisma generate failed:\n${output}`)
}
