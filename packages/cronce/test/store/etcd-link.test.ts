import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { type Server, startEtcd, startEtcdCluster } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { parseUrl } from '../../src/store/etcd/address.ts'
import { type CallLost, Connection, GrpcError } from '../../src/store/etcd/connection.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { Link } from '../../src/store/etcd/link.ts'
import { MAINTENANCE, WATCHING } from '../../src/store/etcd/messages.ts'
import {
  decode,
  encode,
  flag,
  id,
  integer,
  message,
  messages,
  type Schema,
  text,
} from '../../src/store/etcd/protobuf.ts'
import type { User } from '../../src/store/kv/address.ts'
import { applyAll, applyOne, create, loadOne } from '../../src/testing/conformance/bench.ts'
import { after, change, creation, decideIn, schedule } from '../../src/testing/conformance/samples.ts'
import { askGateway } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'

describe('addresses', () => {
  test('a URL names members, user and password', () => {
    assert.deepEqual(parseUrl('etcd://one'), { endpoints: ['http://one:2379'], user: null })
    assert.deepEqual(parseUrl('etcds://us%40er:p%3Aw@one:1,two:2/'), {
      endpoints: ['https://one:1', 'https://two:2'],
      user: { name: 'us@er', password: 'p:w' },
    })
    assert.deepEqual(parseUrl('etcd://[::1]:2379').endpoints, ['http://[::1]:2379'])
  })

  test('an invalid URL is refused, and no part of it is repeated', () => {
    for (const url of [
      'etcd://',
      'etcd:one',
      'etcd://user:secret@',
      'etcd://user:secret@one/path',
      'etcd://%zz:secret@a',
    ]) {
      assert.throws(
        () => etcd(url),
        (error: Error & { code: string }) => error.code === 'STORE_INVALID' && !error.message.includes('secret'),
        url,
      )
    }
  })

  test('options are checked, and the name has no secret', () => {
    const endpoints = ['http://127.0.0.1:2379']
    for (const wrong of [
      { endpoints: [] },
      { endpoints, timeoutMs: 1 },
      { endpoints, prefix: 'a\0b' },
      { endpoints, host: 'a' },
    ]) {
      assert.throws(() => etcd(wrong as never), { code: 'STORE_OPTIONS_INVALID' })
    }
    assert.throws(() => etcd({ endpoints: ['http://user:secret@a'] }), { code: 'STORE_INVALID' })
    assert.equal(etcd({ endpoints, user: 'a', password: 'secret' }).name, 'etcd at 127.0.0.1:2379')
  })
})

test('messages are read as they were written, and unknown fields are passed over', () => {
  const inner: Schema = { name: text(1), count: integer(2) }
  const schema: Schema = { large: id(3), on: flag(4), one: message(5, () => inner), many: messages(64, () => inner) }
  const value = {
    large: '18446744073709551615',
    on: true,
    one: { name: 'ä\0😀', count: 2 ** 52 },
    many: [
      { name: '', count: 0 },
      { name: 'x'.repeat(70_000), count: 300 },
    ],
  }
  assert.deepEqual(decode(encode(value, schema), schema), value)
  assert.deepEqual(decode(encode(value, schema), { on: flag(4) }), { on: true })
  assert.deepEqual(decode(encode({ count: -1 }, inner), { count: id(2) }), { count: '18446744073709551615' })
  assert.deepEqual(decode(Buffer.alloc(0), schema), { large: '0', on: false, one: undefined, many: [] })
})

test('the error distinguishes a server that is down from one that is silent, and states whether anything was written', async (context) => {
  await using server = await startEtcd()
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  context.after(() => proxy.close())
  const store = await etcd({ endpoints: [`http://127.0.0.1:${proxy.port}`], timeoutMs: 700 }).open(OPENING)
  context.after(() => store.close())
  decideIn(1)
  await create(store, schedule('s'))
  proxy.mode('black-hole')
  await assert.rejects(applyOne(store, creation(schedule('t'))), { code: 'STORE_SILENT', notApplied: false })
  proxy.mode('pass')
  assert.notEqual(await loadOne(store, 's'), null, 'it goes on by itself')
  await proxy.close()
  // Whether the end of the connection is known before this is sent is left to chance. After it, it is.
  await assert.rejects(store.load(['s']))
  await assert.rejects(applyOne(store, creation(schedule('t'))), { code: 'STORE_UNREACHABLE', notApplied: true })
  await server.halt()
  await assert.rejects(etcd({ endpoints: [server.url] }).open(OPENING), { code: 'STORE_UNREACHABLE' })
  await store.close()
  await assert.rejects(store.load(['s']), { code: 'STORE_CLOSED' })
})

test('a connection that has used up its stream ids is replaced', async (context) => {
  await using server = await startEtcd()
  const connect = http2.connect.bind(http2)
  let sessions = 0
  context.mock.method(http2, 'connect', (...given: Parameters<typeof http2.connect>) => {
    // Missing in the types of Node.js.
    const session = connect(...given) as http2.ClientHttp2Session & { setNextStreamID(id: number): void }
    // Two calls are left: a process that asks a thousand times a second gets there in twelve days.
    if (++sessions === 1) session.once('connect', () => session.setNextStreamID(2 ** 31 - 3))
    return session
  })
  const connection = new Connection(server.url, {})
  const ask = () => connection.call({ path: MAINTENANCE.path, body: Buffer.alloc(0), token: null }, 5_000)
  const outcomes = []
  for (let count = 0; count < 6; count++) {
    outcomes.push(
      await ask().then(
        () => 'answered',
        (error: CallLost) => error.progress,
      ),
    )
  }
  assert.equal(sessions, 2)
  assert.deepEqual(
    outcomes.filter((outcome) => outcome !== 'answered'),
    ['connecting'],
    'nothing of it was sent',
  )
  assert.equal(outcomes.at(-1), 'answered')
  connection.close()
})

test('a process waits for what it asks, and for nothing else', async () => {
  await using server = await startEtcd()
  const program = `
    import { etcd } from ${JSON.stringify(import.meta.resolve('../../src/etcd.ts'))}
    const source = etcd({ endpoints: [process.argv[1]] })
    for (let opening = 0; opening < 3; opening++) {
      const store = await source.open({ namespace: 'a', adopt: false, production: false, warn() {} })
      store.watch(() => {})
      await store.load(['s'])
      if (opening < 2) await store.close()
    }
    console.log('done')`
  const args = ['--input-type=module', '-e', program, server.url]
  assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 }), 'done\n')
})

test('a cluster loses its leader, and a store on all its members goes on without a lost write', async () => {
  await using cluster = await startEtcdCluster()
  const store = await etcd({ endpoints: cluster.urls, timeoutMs: 4_000 }).open(OPENING)
  decideIn(1)
  let state = await create(store, schedule('s'))
  const leader = await cluster.leader()
  await leader.kill()
  let acknowledged = 0
  for (let tries = 0; acknowledged < 10; tries++) {
    assert.ok(tries < 100, 'no member took over')
    try {
      const wanted = change(state, { fired: state.fired + 1 })
      const result = await applyOne(store, wanted)
      if (result.kind === 'applied') acknowledged++
    } catch {
      // Unknown: a read shows the result.
    }
    state = (await loadOne(store, 's').catch(() => null)) ?? state
  }
  assert.ok(state.fired >= acknowledged)
  await leader.restart()
  const peer = await etcd({ endpoints: [leader.url] }).open(OPENING)
  assert.equal((await loadOne(peer, 's'))?.fired, state.fired)
  await Promise.all([store.close(), peer.close()])
})

test('a watch ends when its member has lost its leader, and the next one goes to another member', async () => {
  await using cluster = await startEtcdCluster()
  const link = new Link({ name: 'etcd', endpoints: cluster.urls, tls: {}, user: null, timeoutMs: 5_000 })
  const from = link.endpoint
  const created = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Error>()
  const request = { create_request: { key: 'k' } }
  await link.stream(WATCHING, request, () => created.resolve(), ended.resolve)
  await created.promise
  await Promise.all(cluster.members.filter(({ url }) => url !== from).map((member) => member.kill()))
  const patience = setTimeout(() => ended.reject(new Error('the watch stayed open')), 30_000)
  const error = await ended.promise.finally(() => {
    clearTimeout(patience)
    link.close()
  })
  assert.ok(error instanceof GrpcError)
  assert.match(error.message, /no leader/)
  assert.notEqual(link.endpoint, from)
})

test('a user with a role for the prefix is enough; a wrong password and a missing right are reported', async () => {
  await using server = await startEtcd()
  const ask = (path: string, body: object) => askGateway(server.url, `/v3/auth/${path}`, body)
  const [key, range_end] = [btoa('cronce\0'), btoa('cronce\x01')]
  for (const name of ['root', 'jobs', 'other']) await ask('user/add', { name, password: `of-${name}` })
  for (const name of ['root', 'jobs']) {
    await ask('role/add', { name })
    await ask('user/grant', { user: name, role: name })
  }
  await ask('role/grant', { name: 'jobs', perm: { permType: 'READWRITE', key, range_end } })
  await ask('enable', {})
  const as = (user: string, password: string) => etcd({ endpoints: [server.url], user, password }).open(OPENING)
  await assert.rejects(as('jobs', 'wrong'), { code: 'STORE_FORBIDDEN' })
  await assert.rejects(as('other', 'of-other'), { code: 'STORE_FORBIDDEN' })
  const store = await as('jobs', 'of-jobs')
  decideIn(1)
  await create(store, schedule('s'))
  // The server loses the tokens of logins when it restarts.
  await server.restart()
  await applyAll(store, [creation(schedule('t'))])
  await store.close()
  const byUrl = await etcd(`etcd://jobs:of-jobs@127.0.0.1:${server.port}`).open(OPENING)
  assert.notEqual(await loadOne(byUrl, 't'), null)
  await byUrl.close()
})

/** With a user, by tokens that are signed and expire. */
async function withTokens(ttl: string, work: (server: Server, user: User) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-etcd-jwt-'))
  const [key, pub] = ['key.pem', 'pub.pem'].map((name) => join(folder, name)) as [string, string]
  execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' })
  execFileSync('openssl', ['rsa', '-in', key, '-pubout', '-out', pub], { stdio: 'ignore' })
  // The server may run as another user.
  for (const [path, mode] of [
    [folder, 0o755],
    [key, 0o644],
    [pub, 0o644],
  ] as const)
    chmodSync(path, mode)
  const flags = [`--auth-token=jwt,pub-key=${pub},priv-key=${key},sign-method=RS256,ttl=${ttl}`]
  try {
    await using server = await startEtcd({ flags })
    const root = { name: 'root', password: 'of-root' }
    await askGateway(server.url, '/v3/auth/user/add', root)
    await askGateway(server.url, '/v3/auth/role/add', { name: 'root' })
    await askGateway(server.url, '/v3/auth/user/grant', { user: 'root', role: 'root' })
    await askGateway(server.url, '/v3/auth/enable', {})
    await work(server, root)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a change of users and roles makes signed tokens stale: the store logs in again', async () => {
  await withTokens('10m', async (server, root) => {
    const store = await etcd({ endpoints: [server.url], user: root.name, password: root.password }).open(OPENING)
    decideIn(1)
    const addRole = async (name: string): Promise<void> => {
      const { token } = await askGateway(server.url, '/v3/auth/authenticate', root)
      await askGateway(server.url, '/v3/auth/role/add', { name }, { authorization: token! })
    }
    await addRole('one')
    await create(store, schedule('s'))
    await addRole('two')
    assert.notEqual(await loadOne(store, 's'), null)
    await store.close()
  })
})

test('a token that has expired is replaced: calls and wake-ups go on', async () => {
  await withTokens('1s', async (server, { name: user, password }) => {
    const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
    const open = (port: number) => etcd({ endpoints: [`http://127.0.0.1:${port}`], user, password }).open(OPENING)
    const [store, peer] = await Promise.all([open(proxy.port), open(server.port)])
    decideIn(1)
    let state = await create(store, schedule('s'))
    let woken = Promise.withResolvers<void>()
    store.watch(() => woken.resolve())
    // Longer than a token lasts; then the watch has to begin anew, with the next one.
    await sleep(1_500)
    proxy.cut()
    woken = Promise.withResolvers<void>()
    while (!(await Promise.race([woken.promise.then(() => true), sleep(300).then(() => false)]))) {
      const wanted = change(state)
      assert.equal((await peer.apply([wanted], { wake: true })).results[0]?.kind, 'applied')
      state = after(wanted)
    }
    assert.equal((await loadOne(store, 's'))?.version, state.version)
    await Promise.all([store.close(), peer.close(), proxy.close()])
  })
})

test('TLS: by a known authority only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-etcd-tls-'))
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject],
    { stdio: 'ignore' },
  )
  await using server = await startEtcd()
  // Ends TLS in front of the server, as etcd itself would.
  const options = { cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['h2', 'http/1.1'] }

  const front = createTlsServer(options, (socket) => {
    const upstream = createConnection(server.port, '127.0.0.1')
    socket.pipe(upstream).pipe(socket)
    for (const one of [socket, upstream]) one.on('error', () => {})
  })
  front.listen(0, '127.0.0.1')
  await new Promise((resolve) => front.once('listening', resolve))
  const { port } = front.address() as { port: number }
  const url = `etcds://127.0.0.1:${port}`
  try {
    await assert.rejects(etcd(url, { timeoutMs: 1_000 }).open(OPENING), { code: 'STORE_UNREACHABLE' })
    const store = await etcd(url, { tls: { ca: readFileSync(cert) } }).open(OPENING)
    decideIn(1)
    await create(store, schedule('s'))
    await store.close()
  } finally {
    front.close()
    rmSync(folder, { recursive: true })
  }
})
