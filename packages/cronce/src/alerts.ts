export type { AlertChannel, AlertFilter, AlertsOptions, SendAlert } from './watch/channel.ts'
export type { AlertMessage } from './watch/message.ts'
