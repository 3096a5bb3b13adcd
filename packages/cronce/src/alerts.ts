/** The published entry `cronce/alerts`: channels for the option `alerts`. */
export { type AlertmanagerOptions, alertmanager } from './alerts/alertmanager.ts'
export { type PagerDutyOptions, pagerDuty } from './alerts/pager-duty.ts'
export type { ChannelOptions } from './alerts/post.ts'
export { type SlackOptions, slack } from './alerts/slack.ts'
export { type WebhookOptions, webhook } from './alerts/webhook.ts'
export type { AlertSubject, MessageKind, Rule, Severity } from './model/alert.ts'
export type { AlertChannel, AlertFilter, AlertsOptions, SendAlert } from './watch/channel.ts'
export type { AlertMessage } from './watch/message.ts'
