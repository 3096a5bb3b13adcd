/**
 * Nest and cronce in one process. Node.js does not run decorators, so compile it as your application is compiled, with `nest build`.
 * Start as many replicas as you need. Each of them serves requests, and each fire of the job runs in one of them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Cronce, CronceModule, InjectCronce, Job } from '@cronce/nestjs'
import { Controller, Get, Injectable, Module, ServiceUnavailableException } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Run } from 'cronce'

const { STORE = 'sqlite:./shop.db', PORT = '3000' } = process.env

@Injectable()
class Reports {
  @Job('report', { every: '2s' })
  async report(run: Run): Promise<void> {
    console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
    await sleep(1_000, undefined, { signal: run.signal }) // your work
    console.log(`done ${run.fire.dueAt}`)
  }
}

@Controller()
class WebController {
  readonly #cronce: Cronce

  constructor(@InjectCronce() cronce: Cronce) {
    this.#cronce = cronce
  }

  @Get()
  hello(): string {
    return 'hello'
  }

  // Ready from the moment in which this instance is part of the fleet until it leaves.
  @Get('readyz')
  ready(): string {
    if (this.#cronce.instance === null) throw new ServiceUnavailableException()
    return 'ready'
  }
}

@Module({
  // Less than the platform waits between SIGTERM and SIGKILL: Kubernetes 30 s, Docker 10 s.
  imports: [CronceModule.forRoot({ store: STORE, drain: '25s' })],
  controllers: [WebController],
  providers: [Reports],
})
class AppModule {}

const nest = await NestFactory.create(AppModule)
// SIGTERM and SIGINT: runs end first, then requests, then the process by that signal.
nest.enableShutdownHooks()
// The app starts before the server listens. If the store can't be opened, the process exits, and the platform restarts it.
await nest.listen(Number(PORT))
console.log(`listening on ${await nest.getUrl()}`)
