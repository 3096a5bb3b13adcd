/** The published entry `cronce`: for now the triggers alone. */
export * from './cron.ts'
