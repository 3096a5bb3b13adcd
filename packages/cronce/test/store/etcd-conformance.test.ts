import { startEtcd } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('etcd', async () => {
  const server = await startEtcd()
  return { source: etcd({ endpoints: [server.url] }), dispose: () => server.stop() }
})
