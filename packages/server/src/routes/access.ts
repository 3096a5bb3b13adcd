import { answerJson } from '../answer.ts'
import { auditReport } from '../audit-report.ts'
import { mayCall } from '../may-call.ts'
import { ref } from '../openapi/schema.ts'
import { version } from '../version.ts'
import { type Call, type Route, type RouteAccess, route } from './route.ts'

/** What the caller may do, so that a user interface offers nothing else. */
export const ACCESS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/access',
    id: 'getAccess',
    about: 'What the caller may do here, and under which name changes are recorded.',
    access: 'read',
    answer: ref('Access'),
    handle: async ({ asker, document }) =>
      answerJson({
        level: asker.level === 'operate' ? 'operate' : 'read',
        author: asker.author ?? null,
        version: version(),
        rights: [...asker.rights],
        partial: asker.isVisible !== null,
        operations: operationsFor(asker, document),
      }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit',
    id: 'getAudit',
    about: 'The SARIF report that the server was given, such as the one that CI makes of the code.',
    access: 'read',
    isOfAll: true,
    answer: ref('Audit'),
    handle: async ({ options }) => answerJson(await auditReport(options.audit)),
  }),
]

type Operation = Readonly<{
  operationId: string
  'x-access': RouteAccess
  'x-right'?: Route['right']
  'x-all'?: boolean
}>

/** The ids of the OpenAPI document that the caller may use. */
function operationsFor(asker: Call['asker'], document: Call['document']): readonly string[] {
  const { paths } = document as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return operations
    .filter(({ 'x-access': access, 'x-right': right, 'x-all': isOfAll }) => {
      return access !== 'own' && mayCall({ access, right, isOfAll }, asker)
    })
    .map(({ operationId }) => operationId)
}
