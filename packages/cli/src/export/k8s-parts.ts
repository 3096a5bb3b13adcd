import { Document } from 'yaml'

/** What all manifests have in common. */
export interface K8sOptions {
  readonly image: string
  /** The Secret with the URL of the store, under the key `url`. */
  readonly secret: string
  readonly namespace: string | null
  readonly now: number
}

export const HARDENED = {
  pod: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  container: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
} as const

export function labelsFor(name: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': name, 'app.kubernetes.io/managed-by': 'cronce' }
}

/** The store comes from the environment: a URL on the command line is visible to all who may see pods. */
export function storeEnv({ secret, namespace }: K8sOptions): object[] {
  return [
    { name: 'CRONCE_STORE', valueFrom: { secretKeyRef: { name: secret, key: 'url' } } },
    ...(namespace === null ? [] : [{ name: 'CRONCE_NAMESPACE', value: namespace }]),
  ]
}

export function secretComment({ secret }: K8sOptions): string {
  return `# The store: kubectl create secret generic ${secret} --from-literal=url=postgres://USER:PASSWORD@HOST/DATABASE\n`
}

/** Without anchors, which people who edit it would trip over, and with lines as long as they are. */
export function yamlText(manifest: object): string {
  return new Document(manifest, { aliasDuplicateObjects: false }).toString({ lineWidth: 0 })
}
