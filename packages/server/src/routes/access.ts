import { answerJson } from '../answer.ts'
import { ref } from '../openapi/schema.ts'
import { version } from '../version.ts'
import { type Call, type Route, route } from './route.ts'

/** What the caller may do, so that a user interface offers nothing else. */
export const ACCESS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/access',
    id: 'getAccess',
    about: 'What the caller may do here, and under which name changes are recorded.',
    access: 'read',
    answer: ref('Access'),
    handle: async ({ asker: { level, author }, document }) =>
      answerJson({ level, author: author ?? null, version: version(), operations: operationsFor(level, document) }),
  }),
]

type Operation = Readonly<{ operationId: string; 'x-access': string }>

/** The ids of the OpenAPI document that this level of access may call. */
function operationsFor(level: string, document: Call['document']): readonly string[] {
  const { paths } = document as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return operations
    .filter(({ 'x-access': access }) => access !== 'own' && (level === 'operate' || access !== 'operate'))
    .map(({ operationId }) => operationId)
}
