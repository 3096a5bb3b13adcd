import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
// TypeScript 7 has no compiler API, and Node.js runs no decorators.
import ts from 'typescript-5.9'

export const ROOT = join(import.meta.dirname, '../../..')
const LIMIT_MS = 120_000

/** As the compiler of a Nest application does it. */
export function compile(source: string): string {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      verbatimModuleSyntax: true,
    },
  })
  return outputText
}

/** The example, which the test of the other frameworks' recipes starts and judges, too. */
export function compileExample(): string {
  return compile(readFileSync(join(ROOT, 'examples/frameworks/nest.ts'), 'utf8'))
}

export const onFastify = (program: string): string =>
  `import { FastifyAdapter } from '@nestjs/platform-fastify'\n${program}`.replace(
    'NestFactory.create(AppModule)',
    'NestFactory.create(AppModule, new FastifyAdapter())',
  )

/** Nest ends the process by the signal, when all has ended. */
export const BY_SIGTERM = { code: null, signal: 'SIGTERM' } as const

export function compileFixture(name: string): string {
  return compile(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.ts`), 'utf8'))
}

/** An empty folder from which the packages of this checkout are found. */
export function scratchFolder(): { readonly path: string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-nest-')))
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  writeFileSync(join(path, 'package.json'), '{ "name": "nest-app", "type": "module" }')
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export function writeProgram(folder: string, name: string, code: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, code)
  return file
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + LIMIT_MS
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not in time: ${what}`)
    await sleep(20)
  }
}
