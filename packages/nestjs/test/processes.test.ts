import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { compile, compileFixture, scratchFolder, writeProgram } from './kit.ts'
import { NestProcess } from './nest-process.ts'
import { judgeFleet } from './one-fleet.ts'

const scratch = scratchFolder()
after(() => scratch.remove())

test('processes of a Nest application on one file run each fire once, although one is killed in the middle', async (context) => {
  const program = writeProgram(scratch.path, 'fleet.js', compileFixture('fleet'))
  await judgeFleet(context, program, `sqlite:${join(scratch.path, 'fleet.db')}`)
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
  const process = new NestProcess(writeProgram(scratch.path, 'refused.js', program), {})
  assert.equal(await process.end(), 1, process.output)
  assert.match(process.output, /CronceError \[STORE_[A-Z_]+\]: .*no\/such\/folder/)
  assert.doesNotMatch(process.output, /listening/)
})
