import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata, type Provider } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core'
import { type Cronce as App, type CronceOptions, cronce, type StartOptions } from 'cronce'
import { CronceLifecycle } from './cronce-lifecycle.ts'
import { Cronce } from './cronce-token.ts'
import { CronceHealthIndicator } from './health.ts'
import { nestLogger } from './nest-logger.ts'
import { SchedulerRegistry } from './scheduler-registry.ts'

/** The options of `cronce()` and `app.start()`. The logger is Nest's, unless you name another. */
export type CronceModuleOptions<Tx = unknown> = CronceOptions<Tx> & StartOptions

/** Options that come from other providers. */
export interface CronceModuleAsyncOptions<Tx = unknown> extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject']
  readonly useFactory: (...args: never[]) => CronceModuleOptions<Tx> | Promise<CronceModuleOptions<Tx>>
}

const OPTIONS = Symbol('CronceModuleOptions')

/** Runs the decorated methods of all providers as jobs. Global: import it once, in the root module. */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest knows modules by their class
export class CronceModule {
  /**
   * @example
   * imports: [CronceModule.forRoot({ store: process.env.DATABASE_URL })]
   */
  static forRoot<Tx = unknown>(options: CronceModuleOptions<Tx>): DynamicModule {
    return moduleOf({ provide: OPTIONS, useValue: options }, [])
  }

  /**
   * @example
   * CronceModule.forRootAsync({ inject: [ConfigService], useFactory: (config: ConfigService) => ({ store: config.get('DATABASE_URL') }) })
   */
  static forRootAsync<Tx = unknown>(options: CronceModuleAsyncOptions<Tx>): DynamicModule {
    const { imports = [], inject = [], useFactory } = options
    return moduleOf({ provide: OPTIONS, useFactory: useFactory as FactoryProvider['useFactory'], inject }, imports)
  }
}
Module({})(CronceModule)

function moduleOf(options: Provider, imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
  const providers: Provider[] = [
    options,
    { provide: Cronce, inject: [OPTIONS], useFactory: createApp },
    {
      provide: CronceLifecycle,
      inject: [Cronce, DiscoveryService, ModuleRef, OPTIONS],
      useFactory: (app: App, discovery: DiscoveryService, moduleRef: ModuleRef, given: CronceModuleOptions) =>
        new CronceLifecycle({
          ...{ app, discovery, moduleRef, logger: given.logger || nestLogger() },
          startOptions: given.wait === undefined ? {} : { wait: given.wait },
        }),
    },
    { provide: SchedulerRegistry, inject: [Cronce], useFactory: (app: App) => new SchedulerRegistry(app) },
    { provide: CronceHealthIndicator, inject: [Cronce], useFactory: (app: App) => new CronceHealthIndicator(app) },
  ]
  return {
    module: CronceModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers,
    exports: [Cronce, CronceLifecycle, SchedulerRegistry, CronceHealthIndicator],
  }
}

function createApp({ wait: _, ...options }: CronceModuleOptions): App {
  return cronce({ logger: nestLogger(), ...options })
}
