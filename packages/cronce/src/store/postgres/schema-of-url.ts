import { StoreError } from '../store-error.ts'

/**
 * A URL without `?schema=NAME`, and the name: drivers do not know the parameter, or send it to the server. Prisma writes
 * `schema=public` into every URL and means its own tables, so that one is ignored.
 */
export function schemaOfUrl(url: string): { readonly url: string; readonly schema: string | undefined } {
  if (/^postgres(ql)?:(?!\/\/)/.test(url)) {
    throw new StoreError('STORE_INVALID', 'The URL of the PostgreSQL database has no // after its scheme.', {
      hint: 'Write postgres://USER@HOST/DATABASE.',
    })
  }
  const [, written] = /[?&]schema=([^&#]*)/.exec(url) ?? []
  if (written === undefined) return { url, schema: undefined }
  const rest = url.replace(/([?&])schema=[^&#]*(&|(?=#)|$)/, (_, before: string, after: string) =>
    after === '' ? '' : before,
  )
  const schema = decodeURIComponent(written)
  return { url: rest, schema: schema === '' || schema === 'public' ? undefined : schema }
}
