import type { Cronce } from '../../src/app/cronce.ts'
import type { FireAnswer, HandleFireOptions } from '../../src/app/handle-fire.ts'

export const TOKEN = 'a-token-of-enough-characters'
export const SECRET = 'a-secret-of-enough-characters'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: FireAnswer & { readonly error: { code: string; message: string; hint: string } | undefined }
}

/** A request of an external scheduler: with a bearer token, unless overridden. */
export function fireRequest(
  query: string,
  init: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Request {
  const { method = 'POST', headers = {}, body } = init
  return new Request(`https://example.com/fires${query}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

export async function answerOf(
  app: Pick<Cronce, 'handleFire'>,
  request: Request,
  options: HandleFireOptions = { token: TOKEN },
): Promise<Answered> {
  const response = await app.handleFire(request, options)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered['body'] }
}
