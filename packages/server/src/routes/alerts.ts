import { answerJson } from '../answer.ts'
import { about, ref, TEXT, WHEN } from '../openapi/schema.ts'
import { items } from '../openapi/schemas.ts'
import { AUTHORED } from './parameters.ts'
import { type Route, route } from './route.ts'

const APP = { app: about(TEXT, 'Of this app alone.') }
const SUBJECT = { subject: about(TEXT, 'A rule, a schedule, or another subject of an alert.') }

export const ALERT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/alerts',
    id: 'listAlerts',
    about: 'What the watchdog of each app reports: alerts that are firing or muted, one for each rule.',
    access: 'read',
    query: { all: { kind: 'boolean', about: 'Also those that were resolved in the last 7 days.' } },
    answer: items('Alert'),
    handle: async ({ source, query }) => answerJson({ items: await source.alerts.list(query) }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/alerts/mutes',
    id: 'listMutes',
    about: 'What is muted.',
    access: 'read',
    answer: items('Mute'),
    handle: async ({ source }) => answerJson({ items: await source.alerts.mutes() }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/alerts/unsent',
    id: 'listUnsentAlerts',
    about: 'Messages that have not reached all channels yet.',
    access: 'read',
    answer: items('UnsentAlert'),
    handle: async ({ source }) => answerJson({ items: await source.alerts.unsent() }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/alerts/mute',
    id: 'muteAlerts',
    about: 'Send no messages about a subject, for a while or until it is unmuted.',
    access: 'operate',
    body: { ...SUBJECT, until: WHEN, ...APP, ...AUTHORED },
    required: ['subject'],
    answer: items('Mute'),
    handle: async ({ source, body: { subject, ...options } }) =>
      answerJson({ items: await source.alerts.mute(subject as string, options) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/alerts/unmute',
    id: 'unmuteAlerts',
    about: 'Take that back.',
    access: 'operate',
    body: { ...SUBJECT, ...APP, ...AUTHORED },
    required: ['subject'],
    answer: ref('Unmuted'),
    handle: async ({ source, body: { subject, ...options } }) =>
      answerJson({ unmuted: await source.alerts.unmute(subject as string, options) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/alerts/test',
    id: 'testAlerts',
    about: 'Send a test message to every channel: the watching instance of each app does so within two minutes.',
    access: 'operate',
    body: APP,
    answer: items('UnsentAlert'),
    handle: async ({ source, body }) => answerJson({ items: await source.alerts.test(body) }),
  }),
]
