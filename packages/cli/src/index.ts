/** The published entry `@cronce/cli`: for `cronce.config.ts`. Everything else is the command `cronce`. */
export { type CronceConfig, defineConfig } from './config.ts'
