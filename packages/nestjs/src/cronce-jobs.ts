import { ContextIdFactory, type DiscoveryService, type ModuleRef } from '@nestjs/core'
import { type Cronce as App, CronceError, type JobOptions, type Logger, type Run } from 'cronce'
import { Cronce } from './cronce-token.ts'
import { type Declaration, declarationsOf } from './declarations.ts'

type Provider = ReturnType<DiscoveryService['getProviders']>[number]

interface Found {
  readonly name: string
  readonly module: string
  readonly declaration: Declaration
  readonly handler: (run: Run) => unknown
}

/** A job that each process triggers some time after its start. */
export interface TimeoutJob {
  readonly name: string
  readonly afterMs: number
}

/** Declares the decorated methods of all providers and controllers. Returns those with `@Timeout`. */
export function declareJobs(
  app: App,
  {
    discovery,
    moduleRef,
    logger,
  }: { readonly discovery: DiscoveryService; readonly moduleRef: ModuleRef; readonly logger: Logger },
): readonly TimeoutJob[] {
  const providers = discovery.getProviders()
  demandOneModule(providers)
  const found = [...providers, ...discovery.getControllers()]
    .filter(({ isAlias }) => !isAlias)
    .flatMap((provider) => jobsOf(provider, moduleRef))
  const owners = new Map<string, Found>()
  for (const job of found) {
    const other = owners.get(job.name)
    if (other !== undefined) throw declaredTwice(job, other)
    owners.set(job.name, job)
    if (job.declaration.warning !== undefined)
      logger.warn(`Job ${JSON.stringify(job.name)}: ${job.declaration.warning}`)
    app.job(job.name, job.declaration.options as JobOptions, job.handler)
  }
  return found.flatMap(({ name, declaration: { afterMs } }) => (afterMs === undefined ? [] : [{ name, afterMs }]))
}

function jobsOf(provider: Provider, moduleRef: ModuleRef): readonly Found[] {
  const isStatic = provider.isDependencyTreeStatic() && !provider.isTransient
  const prototype: unknown = isStatic ? prototypeOf(provider.instance) : provider.metatype?.prototype
  if (typeof prototype !== 'object' || prototype === null) return []
  const module = provider.host?.name ?? 'a module'
  return declarationsOf(prototype).map(([method, declaration]) => ({
    name: declaration.name ?? `${classNameOf(prototype, method)}.${method}`,
    module,
    declaration,
    handler: isStatic
      ? (run) => call(provider.instance, method, run)
      : async (run) => call(await resolveFor(run, provider, moduleRef), method, run),
  }))
}

function prototypeOf(instance: unknown): unknown {
  return typeof instance === 'object' && instance !== null ? Object.getPrototypeOf(instance) : null
}

/** The name is the identity under which fires are recorded, so it must be the same in every process and release. */
function classNameOf({ constructor: { name } }: object, method: string): string {
  if (name !== '') return name
  throw new CronceError('NAME_INVALID', `The method ${method} of a class without a name has no name as a job.`, {
    hint: "Give the class a name, or the job: @Cron('0 3 * * *', { name: 'report' }).",
  })
}

function call(instance: unknown, method: string, run: Run): unknown {
  return (instance as Readonly<Record<string, (run: Run) => unknown>>)[method]!(run)
}

/** Request-scoped and transient providers are made for each run. What they inject as REQUEST is the run. */
function resolveFor(run: Run, { token }: Provider, moduleRef: ModuleRef): Promise<unknown> {
  const contextId = ContextIdFactory.create()
  moduleRef.registerRequestByContextId(run, contextId)
  return moduleRef.resolve(token, contextId, { strict: false })
}

/** Two apps would declare every job twice. */
function demandOneModule(providers: readonly Provider[]): void {
  if (providers.filter(({ token }) => token === Cronce).length < 2) return
  throw new CronceError('OPTION_CONFLICT', 'CronceModule.forRoot() is imported more than once.', {
    hint: 'Import it in the root module only: it is global.',
  })
}

function declaredTwice({ name, module }: Found, other: Found): CronceError {
  const modules = module === other.module ? module : `${other.module} and ${module}`
  return new CronceError('JOB_EXISTS', `Job ${JSON.stringify(name)} is declared twice, in ${modules}.`, {
    hint: 'Give one of them another name. If a class is a provider of two modules, let one export it to the other.',
  })
}
