import type { Duration } from '../client/schedule-options.ts'
import type { Alert } from '../model/alert.ts'
import type { AlertMessage } from './message.ts'

/** Sends a message. It has arrived when the promise resolves; if it rejects, it is sent again later. */
export type SendAlert = (message: AlertMessage, options: { readonly signal: AbortSignal }) => unknown

/** The receiver refuses this message, and would do so again: it is given up. */
export class MessageRefused extends Error {}

/** Where messages go. `cronce/alerts` has channels for Slack, PagerDuty, Alertmanager and webhooks. */
export interface AlertChannel {
  /** Unique among the channels of an app. The same in all its processes. */
  readonly name: string
  readonly send: SendAlert
  /** Which alerts it wants. @default all */
  readonly filter?: AlertFilter | undefined
}

/** Whether a channel wants an alert. */
export type AlertFilter = (alert: Pick<Alert, 'rule' | 'severity' | 'subjects'>) => boolean

/** The option `alerts` of `cronce()`. */
export interface AlertsOptions {
  /** Functions, or channels of `cronce/alerts`. @default none: alerts are recorded and listed */
  readonly channels?: readonly (AlertChannel | SendAlert)[] | undefined
  /** How long after its last message a firing alert is sent again, 1 minute to 30 days. @default '4h' */
  readonly repeat?: Duration | undefined
  /** How long a message waits for further problems of the same rule, up to 10 minutes. @default '10s' */
  readonly gather?: Duration | undefined
  /** Where people find the dashboard: messages link to it. */
  readonly publicUrl?: string | undefined
}
