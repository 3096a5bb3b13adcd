import type { Guard } from './guard.ts'

/** What a store checks before it writes a change. */
export const CHANGE_GUARDS: readonly Guard[] = [
  {
    name: 'version-of-an-update',
    breaks: 'A change that was decided on an old version is written over a newer one.',
    rule: 'a change is applied on the version it was decided on, and on no other',
    stores: {
      memory: [
        [
          'apply.ts',
          '(current?.version ?? 0) !== change.version',
          '(current === undefined) !== (change.version === 0)',
        ],
      ],
      sqlite: [
        [
          'apply.ts',
          'Number(head?.version ?? 0) !== change.version',
          '(head === undefined) !== (change.version === 0)',
        ],
      ],
      postgres: [
        [
          'sql/apply.sql',
          'k.key = _name.key and k.version = _change.version and k.format',
          'k.key = _name.key and k.format',
        ],
      ],
      redis: [['lua/apply.lua', "version ~= (exists and was_version or '0') then", "(version == '0') == exists then"]],
      kv: [
        [
          'change-writer.ts',
          '(before?.state.version ?? 0) !== change.version) return CONFLICT',
          '(before === undefined) !== (change.version === 0)) return CONFLICT',
        ],
      ],
    },
  },
  {
    name: 'version-of-a-creation',
    breaks: 'A schedule that exists is created a second time.',
    rule: 'a schedule is created once',
    stores: {
      memory: [
        [
          'apply.ts',
          '(current?.version ?? 0) !== change.version',
          '(change.version > 0 && (current?.version ?? 0) !== change.version)',
        ],
      ],
      sqlite: [
        [
          'apply.ts',
          'Number(head?.version ?? 0) !== change.version',
          '(change.version > 0 && Number(head?.version ?? 0) !== change.version)',
        ],
      ],
      postgres: [
        [
          'sql/apply.sql',
          '          if exists (select from {schema}._clocks k where k.key = _name.key) then exit one; end if;\n',
          '',
        ],
        [
          'sql/apply.sql',
          'if _name.key is null or exists (select from {schema}._clocks k where k.key = _name.key) then',
          'if _name.key is null then',
        ],
      ],
      redis: { none: 'the edition of the settings is compared as well' },
      kv: [
        [
          'change-writer.ts',
          '(before?.state.version ?? 0) !== change.version) return CONFLICT',
          '(change.version > 0 && before?.state.version !== change.version)) return CONFLICT',
        ],
      ],
    },
  },
  {
    name: 'lock-on-the-version',
    breaks: 'The version is compared with that of a snapshot: of two changes at once, both are written.',
    rule: 'of a change in an open transaction and one beside it, exactly one is written',
    stores: {
      memory: { none: 'one thread' },
      sqlite: { none: 'one writer: every change is a transaction of its own' },
      postgres: [
        [
          'sql/apply.sql',
          'and k.format <= {format}\n           for no key update skip locked;',
          'and k.format <= {format};',
        ],
      ],
      redis: { none: 'one script at a time' },
      kv: { none: 'no transactions; etcd-without-version is the same race between two calls' },
    },
  },
  {
    name: 'race-of-creations',
    breaks: 'Two callers create one schedule at once, and both get the answer that they did.',
    rule: 'of a creation in an open transaction and one beside it, exactly one is written',
    stores: {
      memory: { none: 'one thread' },
      sqlite: { none: 'one writer' },
      postgres: { none: 'the keys of the tables refuse the second of two' },
      redis: { none: 'one script at a time' },
      kv: { none: 'no transactions; etcd-without-absence is the same race between two calls' },
    },
  },
  {
    name: 'epoch-of-an-update',
    breaks: 'What was decided before a failover is written after it.',
    rule: 'a change is applied in the epoch it was decided in, which comes with what was read',
    stores: {
      memory: [['apply.ts', 'if (change.epoch !== space.epoch || ', 'if (']],
      sqlite: [['apply.ts', 'if (change.epoch !== batch.epoch || ', 'if (']],
      postgres: [
        [
          'sql/apply.sql',
          'if _change.epoch <> _at.epoch or',
          'if _change.version = 0 and _change.epoch <> _at.epoch or',
        ],
      ],
      redis: [['lua/apply.lua', 'if given_epoch ~= epoch_now or version', 'if version']],
      kv: [
        [
          'change-writer.ts',
          'if (change.epoch !== context.identity.epoch ||',
          'if ((change.version === 0 && change.epoch !== context.identity.epoch) ||',
        ],
      ],
    },
  },
  {
    name: 'epoch-of-a-creation',
    breaks: 'A creation that was decided before a failover is written after it.',
    rule: 'a schedule is created in the epoch it was decided in',
    stores: {
      memory: [['apply.ts', 'change.epoch !== space.epoch', '(change.version > 0 && change.epoch !== space.epoch)']],
      sqlite: [['apply.ts', 'change.epoch !== batch.epoch', '(change.version > 0 && change.epoch !== batch.epoch)']],
      postgres: [
        [
          'sql/apply.sql',
          'if _change.epoch <> _at.epoch or',
          'if _change.version > 0 and _change.epoch <> _at.epoch or',
        ],
      ],
      redis: [['lua/apply.lua', 'given_epoch ~= epoch_now', "(version ~= '0' and given_epoch ~= epoch_now)"]],
      kv: [
        [
          'change-writer.ts',
          'if (change.epoch !== context.identity.epoch ||',
          'if ((change.version > 0 && change.epoch !== context.identity.epoch) ||',
        ],
      ],
    },
  },
  {
    name: 'live-claimant',
    breaks: 'An instance that is over, or never was, claims.',
    rule: 'all changes of a claimant that is not live are refused',
    stores: {
      memory: [['apply.ts', '    if (!isLive) return NOT_LIVE\n', '']],
      sqlite: [['store.ts', "    if (!isLive) return { kind: 'not-live' }\n", '']],
      postgres: [['sql/apply.sql', 'if _claimant.number = 0 then', 'if false then']],
      redis: [
        [
          'lua/apply.lua',
          "if claimant ~= '' and not renew(claimant, ARGV[3]) then return 'n' end",
          "if claimant ~= '' then renew(claimant, ARGV[3]) end",
        ],
      ],
      kv: [['change-writer.ts', 'guards: [...guards, ...liveness],', 'guards,']],
    },
  },
  {
    name: 'live-creator',
    breaks: 'An instance that is over, or never was, creates a schedule in a claim.',
    rule: 'all changes of a claimant that is not live are refused',
    stores: {
      memory: [['apply.ts', 'if (!isLive) return', 'if (!isLive && change.version > 0) return']],
      sqlite: [['store.ts', 'if (!isLive) return', 'if (!isLive && change.version > 0) return']],
      postgres: { none: 'one check is made for all changes of a call' },
      redis: { none: 'refused as a whole' },
      kv: { none: 'refused as a whole' },
    },
  },
  {
    name: 'version-of-the-app-for-an-update',
    breaks: 'A schedule is retired although its app declared it again meanwhile.',
    rule: 'a change that depends on an app is written only while its record has that version',
    stores: {
      memory: [['apply.ts', 'isHeld || isStale ? CONFLICT', 'isHeld || (isStale && change.version === 0) ? CONFLICT']],
      sqlite: [['store.ts', 'return isStale ? {', 'return isStale && change.version === 0 ? {']],
      postgres: [
        [
          'sql/apply.sql',
          "    if not found then\n      return json_build_object('now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', true, 'renewed'",
          "    if false then\n      return json_build_object('now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', true, 'renewed'",
        ],
      ],
      redis: [
        [
          'lua/apply.lua',
          "if ARGV[7] ~= '' and (call('HGET', APP .. ARGV[7], 'version') or '0') ~= ARGV[8] then return 'h' end",
          '',
        ],
      ],
      kv: [['change-writer.ts', 'guards: [...group.guards, ...appGuards]', 'guards: group.guards']],
    },
  },
  {
    name: 'version-of-the-app-for-a-creation',
    breaks: 'A schedule is declared although its app has been changed meanwhile.',
    rule: 'a change that depends on an app is written only while its record has that version',
    stores: {
      memory: [['apply.ts', 'isHeld || isStale ? CONFLICT', 'isHeld || (isStale && change.version > 0) ? CONFLICT']],
      sqlite: [['store.ts', 'return isStale ? {', 'return isStale && change.version > 0 ? {']],
      postgres: { none: 'one check is made for all changes of a call' },
      redis: { none: 'refused as a whole' },
      kv: { none: 'one guard for all changes of a call' },
    },
  },
  {
    name: 'lock-on-the-app',
    breaks: 'An app is changed between the check of its version and the commit of what depends on it.',
    rule: 'of a change that depends on an app, in an open transaction, and a save beside it, one comes first',
    stores: {
      memory: { none: 'the version is compared again at the commit' },
      sqlite: { none: 'one writer' },
      postgres: [
        ['sql/apply.sql', 'a.version = _head.app_version\n        for share;', 'a.version = _head.app_version;'],
      ],
      redis: { none: 'one script at a time' },
      kv: { none: 'the version is compared in the commit' },
    },
  },
  {
    name: 'end-of-a-claimant',
    breaks: 'A claim renews the lease of an instance that was declared dead or left.',
    rule: 'only a live instance claims',
    stores: {
      memory: [
        [
          'instances.ts',
          'known === undefined || known.goneAt !== null) return false\n  const',
          'known === undefined) return false\n  const',
        ],
      ],
      sqlite: [
        [
          'instances.ts',
          "lease_ms = ?\n where namespace = ? and id = ? and state in ('live', 'draining')",
          'lease_ms = ?\n where namespace = ? and id = ?',
        ],
      ],
      postgres: [['sql/apply.sql', " and i.state in ('live', 'draining')", '', 2]],
      redis: [
        [
          'lua/apply.lua',
          "if not row[1] or row[2] then return false end\n  call('HINCRBY'",
          "if not row[1] then return false end\n  call('HINCRBY'",
        ],
      ],
      kv: [['change-writer.ts', 'guards: [...guards, ...liveness],', 'guards,']],
    },
  },
  {
    name: 'renewal-by-a-claim',
    breaks: 'A claim does not renew the lease of its instance.',
    rule: 'a claim renews the lease, so that the claimer is not declared dead over an older look',
    stores: {
      memory: [
        [
          'instances.ts',
          'renewals: known.record.renewals + 1, renewedAt: now }',
          'renewals: known.record.renewals, renewedAt: now }',
        ],
      ],
      sqlite: { none: 'the same statement as a beat' },
      postgres: [
        [
          'sql/instances.sql',
          '\n     + coalesce((select c.id from {schema}._claims c where c.runner = _runner order by c.id desc limit 1), 0) % 1048576',
          '',
        ],
      ],
      redis: [
        [
          'lua/apply.lua',
          "  call('HINCRBY', key, 'renewals', 1)\n  call('HSET', key, 'at'",
          "  call('HSET', key, 'at'",
        ],
      ],
      kv: [
        [
          'change-writer.ts',
          'puts.push(...(await leases.renewal(claimant.instance, claimant.leaseMs)))',
          'await leases.renewal(claimant.instance, claimant.leaseMs)',
        ],
      ],
    },
  },
  {
    name: 'claim-that-outlasts-its-runs',
    breaks: 'The sign of life that a claim gave is lost when its runs are settled.',
    rule: 'a claim whose run has been settled since still refutes an older hint',
    stores: {
      memory: { none: 'a claim counts as a renewal' },
      sqlite: { none: 'a claim counts as a renewal' },
      postgres: [
        ['sql/records.sql', 'using done d where c.id = d.id and d.has_later', 'using done d where c.id = d.id'],
      ],
      redis: { none: 'a claim counts as a renewal' },
      kv: { none: 'a claim counts as a renewal' },
    },
  },
  {
    name: 'renewal-on-demand',
    breaks: 'A claimant that asks to renew its lease only shares its record, because it renewed a moment ago.',
    rule: 'a claimant renews its lease as often as it asks to, and is not declared dead on an older look',
    stores: {
      memory: { none: 'every claim renews' },
      sqlite: { none: 'every claim renews' },
      postgres: [['sql/apply.sql', 'if _is_fresh and not _always then', 'if _is_fresh then']],
      redis: { none: 'every claim renews' },
      kv: { none: 'every claim renews' },
    },
  },
  {
    name: 'renewal-of-the-living',
    breaks: 'A claimant that was declared dead gets the answer that its lease was renewed.',
    rule: 'a claimant renews its lease as often as it asks to, and is not declared dead on an older look',
    stores: {
      memory: [
        [
          'store.ts',
          'own.data.instances.get(claimant.instance)?.goneAt === null',
          'own.data.instances.has(claimant.instance)',
        ],
      ],
      sqlite: [['store.ts', 'renewed: claimant !== undefined && isLive,', 'renewed: claimant !== undefined,']],
      postgres: { none: 'no row is updated' },
      redis: [
        [
          'change-writer.ts',
          "const renewed = options.claimant !== undefined && lines[0] !== 'n'",
          'const renewed = options.claimant !== undefined',
        ],
      ],
      kv: [['change-writer.ts', '    this.#isOver = true\n', '    this.#isOver = true\n    this.#renewed = true\n']],
    },
  },
  {
    name: 'own-buckets-of-a-look-ahead',
    breaks: "A look ahead answers what is soon due in others' buckets.",
    rule: 'schedules that become due soon are returned ahead of time, in own buckets only',
    stores: {
      memory: [['due.ts', ': now - patienceMs }, heads', ': now + aheadMs - patienceMs }, heads']],
      sqlite: [['schedules.ts', '? now + aheadMs : now - patienceMs', '? now + aheadMs : now + aheadMs - patienceMs']],
      postgres: [
        [
          'sql/schedules.sql',
          'get_bit(j.buckets, k.bucket) = 1 or k.wake_at <= _stale)',
          'get_bit(j.buckets, k.bucket) = 1 or k.wake_at <= _stale + _ahead::bigint)',
        ],
      ],
      redis: [['lua/schedules.lua', 'mine or at <= now - patience\n', 'mine or at <= until_at - patience\n']],
      kv: [['due.ts', 'this.#othersUntil = now - patienceMs', 'this.#othersUntil = now + aheadMs - patienceMs']],
    },
  },
  {
    name: 'next-beyond-a-look-ahead',
    breaks: 'A schedule that a look ahead has already answered is reported as the next one.',
    rule: 'look after look answers what is ahead until it is changed, and mineAt lies beyond it',
    stores: {
      memory: { none: 'what comes next follows the last one that is answered' },
      sqlite: [
        [
          'schedules.ts',
          'statement(db, NEXT).get(namespace, job, until,',
          'statement(db, NEXT).get(namespace, job, until - aheadMs,',
        ],
      ],
      postgres: [
        [
          'sql/schedules.sql',
          'k.wake_at > _until\n          and get_bit(j.buckets, k.bucket) = 1',
          'k.wake_at > _at.now\n          and get_bit(j.buckets, k.bucket) = 1',
        ],
      ],
      redis: { none: 'what comes next follows the last place that was looked at' },
      kv: [['due.ts', '    else this.pass(candidate)', '    this.pass(candidate)']],
    },
  },
  {
    name: 'held-claims',
    breaks: 'After a failover an instance claims before its peers have reported what they know.',
    rule: 'after a failover nothing is due and no instance claims, until all live ones have settled',
    stores: {
      memory: [['apply.ts', 'return isHeld || isStale ?', 'return isStale ?']],
      sqlite: { none: 'its epoch does not move by itself' },
      postgres: { none: 'it loses no writes, so no instance knows more than the store' },
      redis: [['lua/apply.lua', "if claimant ~= '' and is_held() then", 'if false then']],
      kv: { none: 'it loses no writes, so no instance knows more than the store' },
    },
  },
  {
    name: 'held-due',
    breaks: 'After a failover schedules are due before the peers have reported what they know.',
    rule: 'after a failover nothing is due and no instance claims, until all live ones have settled',
    stores: {
      memory: [['due.ts', 'if (areClaimsHeld(space, now)) {', 'if (limit < 0) {']],
      sqlite: { none: 'its epoch does not move by itself' },
      postgres: { none: 'it loses no writes, so no instance knows more than the store' },
      redis: [['lua/schedules.lua', 'if is_held() then return', 'if false then return']],
      kv: { none: 'it loses no writes, so no instance knows more than the store' },
    },
  },
  {
    name: 'epoch-of-a-report',
    breaks: 'A report from before a failover counts as one after it, and claims begin too early.',
    rule: 'after a failover nothing is due and no instance claims, until all live ones have settled',
    stores: {
      memory: [['hold.ts', ' || epoch !== space.epoch', '']],
      sqlite: { none: 'its epoch does not move by itself' },
      postgres: { none: 'it loses no writes, so no instance knows more than the store' },
      redis: [['lua/moment.lua', '(tonumber(row[1]) or 0) < epoch and', "(not row[1] or row[1] == '') and"]],
      kv: { none: 'it loses no writes, so no instance knows more than the store' },
    },
  },
  {
    name: 'lease-of-a-holder',
    breaks: 'An instance that died during a failover keeps the fleet from claiming until it is declared dead.',
    rule: 'after a failover, an instance whose lease has ended keeps no other from claiming',
    stores: {
      memory: [['hold.ts', ' && !isExpired(space.data.instances.get(id)!, now)', '']],
      sqlite: { none: 'its epoch does not move by itself' },
      postgres: { none: 'it loses no writes, so no instance knows more than the store' },
      redis: [['lua/moment.lua', ' and (tonumber(row[2]) or 0) > now then return true', ' then return true']],
      kv: { none: 'it loses no writes, so no instance knows more than the store' },
    },
  },
  {
    name: 'not-before',
    breaks: "A change is written before the store's clock has reached its time.",
    rule: "nothing is written before the store's clock has reached notBefore",
    stores: {
      memory: [['apply.ts', '  if (change.notBefore !== null && now < change.notBefore) return EARLY\n', '']],
      sqlite: [['apply.ts', 'change.notBefore !== null && batch.now < change.notBefore', 'false']],
      postgres: [['sql/apply.sql', 'if _change.not_before > _at.now then', 'if false then']],
      redis: [['lua/apply.lua', "  if not_before ~= '' and now < tonumber(not_before) then return 'e' end\n", '']],
      kv: [
        [
          'change-writer.ts',
          '    if (change.notBefore !== null && context.time.now() < change.notBefore) return EARLY\n',
          '',
        ],
      ],
    },
  },
  {
    name: 'open-fire-on-record',
    breaks: 'A fire that is open is made a second time.',
    rule: 'a fire that is open is refused with its record, and nothing of the change is written',
    stores: {
      memory: [['apply.ts', 'one !== undefined && isOnRecord(one)', 'one !== undefined && one.lines.length > 0']],
      sqlite: [['apply.ts', '  if (isOpen) {', "  if (isOpen && nonce === '-') {"]],
      postgres: [
        [
          'sql/apply.sql',
          'or exists (select from {schema}._open o where o.key = _name.key and o.due_at = f.due_at and o.nonce = f.nonce offset 0)',
          '',
        ],
      ],
      redis: [['lua/apply.lua', '    local found = find_open(open, due, nonce)\n', '    local found = nil\n']],
      kv: [['change-writer.ts', 'if (isOpen || change.creates', 'if (change.creates']],
    },
  },
  {
    name: 'ended-fire-on-record',
    breaks: 'A fire that has ended is made a second time.',
    rule: 'a fire that has ended is refused with its record, and nothing of the change is written',
    stores: {
      memory: [['apply.ts', 'one !== undefined && isOnRecord(one)', 'one !== undefined && one.isOpen']],
      sqlite: [['apply.ts', '? statement(db, LINE).get(namespace, schedule, dueAt, nonce)', '? undefined']],
      postgres: [
        [
          'sql/apply.sql',
          'or exists (select from {schema}._history h where h.key = _name.key and h.due_at = f.due_at and h.nonce = f.nonce offset 0)',
          '',
        ],
      ],
      redis: [['lua/apply.lua', '      found = find_fire(history, due, nonce) and due\n', '']],
      kv: [['plan-change.ts', "      { range: keys.linesOf(fire), is: 'empty' },\n", '']],
    },
  },
  {
    name: 'nonce-of-an-open-fire',
    breaks: 'A dedupe key makes a second fire while the first one is open.',
    rule: 'a nonce is used once in a schedule, whenever its fire was due',
    stores: {
      memory: [['apply.ts', "fire.nonce === '' ? undefined : space", 'fire.nonce.length >= 0 ? undefined : space']],
      sqlite: [
        [
          'apply.ts',
          "(nonce !== '' &&\n      statement(db, OPEN_OF)",
          "(nonce === '-' &&\n      statement(db, OPEN_OF)",
        ],
      ],
      postgres: [
        [
          'sql/apply.sql',
          "or f.nonce <> '' and exists (select from {schema}._open o where o.key = _name.key and o.nonce = f.nonce offset 0)",
          '',
        ],
      ],
      redis: [
        [
          'lua/apply.lua',
          "fire.nonce == nonce and (nonce ~= '' or fire.due == due)",
          'fire.nonce == nonce and fire.due == due',
        ],
      ],
      kv: [
        ['change-writer.ts', "(nonce === '' ? dueAt === fire.dueAt : true)", 'dueAt === fire.dueAt'],
        ['plan-change.ts', "...(fire.nonce === '' ? [] : [{ key", "...(fire.nonce !== '-' ? [] : [{ key"],
      ],
    },
  },
  {
    name: 'nonce-of-an-ended-fire',
    breaks: 'A dedupe key makes a second fire once the first one has ended.',
    rule: 'a nonce is used once in a schedule, also when its fire has ended',
    stores: {
      memory: [
        [
          'apply.ts',
          'one !== undefined && isOnRecord(one)',
          "one !== undefined && (fire.nonce === '' ? isOnRecord(one) : one.isOpen)",
        ],
      ],
      sqlite: [['apply.ts', ': statement(db, LINE_BY_NONCE).get(namespace, schedule, nonce)', ': undefined']],
      postgres: [['sql/apply.sql', "or f.nonce <> '' and exists (\n", 'or false and exists (\n']],
      redis: [['lua/apply.lua', "    if not found and nonce ~= '' then found = find_nonce(history, nonce) end\n", '']],
      kv: [['plan-change.ts', "...(fire.nonce === '' ? [] : [{ key", "...(fire.nonce !== '-' ? [] : [{ key"]],
    },
  },
  {
    name: 'twins-by-nonce',
    breaks: 'One change makes two fires with one dedupe key.',
    rule: 'two fires of one change are held to the same: one key, one fire',
    stores: {
      memory: [['apply.ts', 'const twin = findTwin(change)', 'const twin = null']],
      sqlite: [['apply.ts', '    if (isTwice) return fireIn(change, fire)\n', '']],
      postgres: [['change-writer.ts', 'changes.map(findTwin)', 'changes.map(() => null)']],
      redis: [['change-writer.ts', 'batch.map(findTwin)', 'batch.map(() => null)']],
      kv: [['change-writer.ts', '    return findTwin(change)\n', '    return null\n']],
    },
  },
  {
    name: 'twins-by-due-time',
    breaks: 'One change makes two fires of one due time.',
    rule: 'two fires of one change that are due at one time are refused',
    stores: {
      memory: [
        [
          'apply.ts',
          'const twin = findTwin(change)',
          "const twin = change.creates.some(({ nonce }) => nonce === '') ? null : findTwin(change)",
        ],
      ],
      sqlite: [['apply.ts', "(one.nonce !== '' || one.dueAt === other.dueAt)", "one.nonce !== ''"]],
      postgres: [
        [
          'change-writer.ts',
          'changes.map(findTwin)',
          "changes.map((change) => change.creates.some(({ nonce }) => nonce === '') ? null : findTwin(change))",
        ],
      ],
      redis: [
        [
          'change-writer.ts',
          'batch.map(findTwin)',
          "batch.map((change) => change.creates.some(({ nonce }) => nonce === '') ? null : findTwin(change))",
        ],
      ],
      kv: [
        [
          'change-writer.ts',
          '    return findTwin(change)\n',
          "    return change.creates.some(({ nonce }) => nonce === '') ? null : findTwin(change)\n",
        ],
      ],
    },
  },
  {
    name: 'limit',
    breaks: 'A claim is written although its limit is used up.',
    rule: 'a limit holds for the fleet, and the refused claim writes nothing',
    stores: {
      memory: [['apply.ts', 'return count > limit', 'return false']],
      sqlite: [['apply.ts', ' + countOf(slot, wanted) > limit', ' + countOf(slot, wanted) > limit + 1_000']],
      postgres: [
        [
          'sql/apply.sql',
          "if _change.limits is not null then\n        select 'full '",
          "if false then\n        select 'full '",
        ],
      ],
      redis: [['lua/apply.lua', 'if holders > tonumber(limit[2]) then', 'if false then']],
      kv: [['slots.ts', 'count <= limit) continue', 'count <= limit + 1_000) continue']],
    },
  },
  {
    name: 'limit-within-a-batch',
    breaks: 'The changes of one batch do not see what those before them took.',
    rule: 'a batch fills a limit in order',
    stores: {
      memory: { none: 'each change is written before the next is judged' },
      sqlite: [['apply.ts', 'slotNow(batch, one.slot) + 1)', 'slotNow(batch, one.slot))']],
      postgres: [
        ['sql/apply.sql', 'if _change.slots is not null then\n          insert', 'if false then\n          insert'],
      ],
      redis: { none: 'each change is written before the next is judged' },
      kv: [['slots.ts', 'if (by > 0) this.#added', 'if (by > 1_000) this.#added']],
    },
  },
  {
    name: 'limit-under-a-race',
    breaks: 'Two claims at once both count what was there before them.',
    rule: 'of a claim in an open transaction and one beside it, no more get in than the limit allows',
    stores: {
      memory: { none: 'one thread' },
      sqlite: { none: 'one writer' },
      postgres: [
        [
          'sql/apply.sql',
          '  if _head.locks then perform {schema}._lock_names(_namespace, _changes::json); end if;\n',
          '',
        ],
      ],
      redis: { none: 'one script at a time' },
      kv: { none: 'no transactions' },
    },
  },
  {
    name: 'first-row-of-a-limit',
    breaks: 'Two concurrent claims both find a limit without a counter, and both take its last place.',
    rule: 'the first concurrent claims under a new limit never exceed it',
    stores: {
      memory: { none: 'one thread' },
      sqlite: { none: 'one writer' },
      postgres: { none: 'a limit has no row: it is locked by its name' },
      redis: { none: 'one script at a time' },
      kv: [['change-writer.ts', '...slots.guards(context.keys), ', '']],
    },
  },
  {
    name: 'place-of-a-held-run',
    breaks: 'A run that holds a place is counted again when its record is written again, and refused.',
    rule: 'a run that holds a place is not counted again when it is written again',
    stores: {
      memory: [['apply.ts', ' - countHolders(slot, current)', '']],
      sqlite: [['apply.ts', ' - countOf(slot, taken)', '']],
      postgres: [['sql/apply.sql', ' and h.key is distinct from _name.key\n', '\n']],
      redis: [['lua/apply.lua', ' - count_holders(member, before, slot)', '']],
      kv: [['slots.ts', ' - countHolders(slot, before)', '']],
    },
  },
  {
    name: 'token-floor',
    breaks: 'A schedule that is removed and made again gives its old tokens again.',
    rule: 'a schedule that is made again goes on counting tokens where it was',
    stores: {
      memory: [
        [
          'apply.ts',
          'Math.max(space.data.floor, current.tokens, current.version)',
          'Math.max(space.data.floor, current.version)',
        ],
      ],
      sqlite: [
        [
          'schedules.ts',
          'raiseFloor(db, namespace, Math.max(tokens, change.version))',
          'raiseFloor(db, namespace, change.version)',
        ],
      ],
      postgres: [
        [
          'sql/apply.sql',
          'set version = _clock.version, tokens = _clock.tokens, mark',
          'set version = _clock.version, mark',
        ],
      ],
      redis: [
        [
          'lua/apply.lua',
          "raise('floor', math.max(tonumber(was_version), tonumber(was_tokens)))",
          "raise('floor', tonumber(was_version))",
        ],
      ],
      kv: [['facts.ts', 'Math.max(state?.tokens ?? 0, state?.version ?? 0)', 'state?.version ?? 0']],
    },
  },
  {
    name: 'token-floor-of-a-creation',
    breaks: 'A schedule that is created again counts its tokens from where its creator starts them.',
    rule: 'a schedule that is made again goes on counting tokens where it was',
    stores: {
      memory: [['apply.ts', 'tokens: Math.max(state.tokens, data.floor)', 'tokens: state.tokens']],
      sqlite: [['schedules.ts', 'tokens: Math.max(created.tokens, floor)', 'tokens: created.tokens']],
      postgres: [
        [
          'sql/apply.sql',
          'greatest(_change.tokens, _floor), greatest(_change.tokens, _floor) - _change.fired',
          '_change.tokens, _change.tokens - _change.fired',
        ],
      ],
      redis: [
        ['lua/apply.lua', 'tokens = digits(math.max(tonumber(tokens), floor))', 'tokens = digits(tonumber(tokens))'],
      ],
      kv: [['plan-change.ts', 'Math.max(state.tokens, facts.floor)', 'state.tokens']],
    },
  },
  {
    name: 'version-floor',
    breaks: 'A schedule that is removed and made again takes changes that were decided on the old one.',
    rule: 'a decision on a removed schedule does not apply to its successor of the same name',
    stores: {
      memory: [
        [
          'apply.ts',
          '(current === undefined ? data.floor : change.version) + 1',
          '(current === undefined ? 0 : change.version) + 1',
        ],
      ],
      sqlite: [['schedules.ts', 'version: floor + 1 }', 'version: 1 }']],
      postgres: [['sql/apply.sql', '_first.started_at, _floor + 1,', '_first.started_at, 1,']],
      redis: [['lua/apply.lua', 'version = digits(floor + 1)', "version = '1'"]],
      kv: [['plan-change.ts', 'const version = facts.floor + 1', 'const version = 1']],
    },
  },
  {
    name: 'all-or-nothing',
    breaks: 'Of a refused change, a part is written.',
    rule: 'a fire that has ended is refused with its record, and nothing of the change is written',
    stores: {
      memory: [
        [
          'apply.ts',
          '  if (refusal !== undefined) return refusal\n',
          '  if (refusal !== undefined) {\n    for (const line of change.history) setLine(space, lineKeyText(line.schedule, line.number), line)\n    return refusal\n  }\n',
        ],
      ],
      sqlite: [
        [
          'apply.ts',
          '  if (obstacle !== null) return obstacle\n',
          "  if (obstacle?.kind === 'exists') for (const line of change.history) append(batch, line)\n  if (obstacle !== null) return obstacle\n",
        ],
      ],
      postgres: { none: 'nothing is written before all of a change is judged' },
      redis: [
        [
          'lua/apply.lua',
          '  if refusal then return refusal end\n\n',
          '  if refusal then\n    for _, item in ipairs(lines) do put_line(history, item[1], item[2], item[3]) end\n    return refusal\n  end\n\n',
        ],
      ],
      kv: { none: 'a change is one transaction of the server' },
    },
  },
]
