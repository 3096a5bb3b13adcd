import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runProgram } from '../../../scripts/docs/run-program.ts'
import { proveRecipe } from '../../../scripts/recipes/replicas.ts'
import { BY_SIGTERM, compile, compileExample, scratchFolder, writeProgram } from './kit.ts'

const scratch = scratchFolder()
after(() => scratch.remove())

test('the recipe for Nest: one replica is killed in a run, one is stopped in a run, and every fire has run once', async (context) => {
  const program = writeProgram(scratch.path, 'nest.js', compileExample())
  await proveRecipe(context, { command: [process.execPath, program], end: BY_SIGTERM })
})

test('an error of the start ends the process with the message of cronce', async () => {
  const program = compile(`
    import { CronceModule } from '@cronce/nestjs'
    import { Module } from '@nestjs/common'
    import { NestFactory } from '@nestjs/core'
    @Module({ imports: [CronceModule.forRoot({ store: 'sqlite:./no/such/folder/cronce.db' })] })
    class AppModule {}
    const nest = await NestFactory.create(AppModule)
    await nest.listen(0)
    console.log('listening')
  `)
  const file = writeProgram(scratch.path, 'refused.js', program)
  const { code, output } = await runProgram('node', [file], scratch.path, { env: { NO_COLOR: '1' } })
  assert.equal(code, 1, output)
  assert.match(output, /CronceError \[STORE_[A-Z_]+\]: .*no\/such\/folder/)
  assert.doesNotMatch(output, /listening/)
})
