import { readHttpUrl } from '../client/read-url.ts'
import { readSecrets, type Secret } from '../signature/secrets.ts'
import { sign } from '../signature/sign.ts'
import type { AlertChannel } from '../watch/channel.ts'
import { type ChannelOptions, post, readChannelOptions } from './post.ts'

/** Options of `webhook()`. */
export interface WebhookOptions extends ChannelOptions {
  readonly url: string | undefined
  /** Signs every request: the receiver checks it by `verifySignature` of `cronce/signature`. Of at least 16 characters. */
  readonly secret: Secret | undefined
}

/** Posts each message as JSON, signed. A message that is sent again after a crash has the same `idempotency-key`. */
export function webhook(options: WebhookOptions): AlertChannel {
  const { url, secret, name = 'webhook', filter } = readChannelOptions('webhook', options, ['url', 'secret'])
  const address = readHttpUrl('webhook.url', url, "Write webhook({ url: 'https://example.com/alerts', secret }).")
  const secrets = readSecrets(secret)
  return {
    name,
    filter,
    async send(message, { signal }) {
      const body = JSON.stringify(message)
      const headers = { 'cronce-purpose': 'alert', 'idempotency-key': message.id }
      await post(address, { body, headers: await sign({ headers, body }, { secret: secrets }) }, signal)
    },
  }
}
