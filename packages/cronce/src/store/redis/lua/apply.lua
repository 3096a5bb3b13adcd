-- part: renew
-- False: the instance is over, or was never there. A lease that has run out is renewed like any other.
local function renew(id, lease)
  local key = INSTANCE .. id
  local row = call('HMGET', key, 'state', 'gone')
  if not row[1] or row[2] then return false end
  call('HINCRBY', key, 'renewals', 1)
  call('HSET', key, 'at', digits(now), 'lease', lease, 'ends', digits(now + lease))
  return true
end

-- part: log
-- The log is shortened when it is longer than this, and twice as long as there are regular lines.
local LOG_KEPT = 40000
-- Members and numbers of lines that were written.
local log = {}

-- The oldest entries of the log go. Lines that outlive them are indexed.
local function shorten_log()
  local row = call('HMGET', META, 'logged', 'regular')
  local logged = tonumber(row[1])
  if logged <= LOG_KEPT + 2 * (tonumber(row[2]) or 0) then return end
  for _, entry in ipairs(call('XRANGE', LOG, '-', '+', 'COUNT', 2)) do
    local id, refs = entry[1], entry[2]
    for n = 1, #refs, 2 do
      local history = load_history(refs[n])
      local line = history and get_line(history, refs[n + 1])
      if line and line.is_regular then
        call('LSET', history.key, refs[n + 1] - history.first, string.lower(line.kind) .. sub(line.text, 2))
        index_line(history, refs[n + 1], line)
        regular = regular - 1
      end
    end
    call('XDEL', LOG, id)
    call('HSET', META, 'dropped', id)
    call('HINCRBY', META, 'logged', digits(-#refs / 2))
  end
end

local function log_ends()
  if #log == 0 then return end
  for first = 1, #log, 4000 do
    local id = digits(clock) .. '-' .. digits((mark + 1) * 100 + math.floor(first / 4000))
    call('XADD', LOG, id, unpack(log, first, math.min(first + 3999, #log)))
  end
  call('HINCRBY', META, 'logged', digits(#log / 2))
  if meta[7] ~= digits(clock) then call('HSET', META, 'clock', digits(clock)) end
  shorten_log()
end

-- Behind the changes of a script: what they have in common is written once.
local function finish(is_applied, claimant)
  log_ends()
  save_counts()
  save_regular()
  list_holders()
  if is_applied or claimant ~= '' then count() end
  if is_applied and ARGV[4] ~= '' then tell(ARGV[4], ARGV[5], ARGV[6]) end
end

-- part: admit
-- Whether changes may be written: nil, or the answer to all of them. n: the claimant is not live. h: claims are held, or the app's record
-- has another version.
local function refuse(claimant)
  if claimant ~= '' and not renew(claimant, ARGV[3]) then return 'n' end
  if claimant ~= '' and is_held() then
    count()
    return 'h'
  end
  if ARGV[7] ~= '' and (call('HGET', APP .. ARGV[7], 'version') or '0') ~= ARGV[8] then return 'h' end
  return nil
end

-- script: apply
-- uses: keys moment line history held log renew admit activity
-- ARGV: epoch, claimant ('' for none), its lease, how to publish ('' for not at all), channel, message, the app whose record must be
-- unchanged ('' for none), its version, and the changes, each: see `pushChange`. The schedules of the changes are all different.
-- Answers a line for each: a (applied) and the head of the line, c (conflict), e (early), d (other settings than the caller's are in the store),
-- x and fire (exists), f and slot (full); or one for all: n (not live), h (claims are held, or the
-- app's record has another version).
local TRIM_MOST = 200
-- A fire that ended later than its number indicates (the clock was set back), or ahead of its time, is passed over, up to a limit.
local TRIM_LOOKS = 1000

local at = 8

local function take()
  at = at + 1
  return ARGV[at]
end

local function take_list(fields)
  local list = {}
  for n = 1, tonumber(take()) do
    local item = {}
    for field = 1, fields do item[field] = take() end
    list[n] = item
  end
  return list
end

local function find_open(fires, due, nonce)
  for _, fire in ipairs(fires) do
    if fire.nonce == nonce and (nonce ~= '' or fire.due == due) then return fire.due end
  end
  return nil
end

-- When the fire with this nonce was due; nil: not on record.
local function find_nonce(history, nonce)
  local number = call('HGET', NONCES .. history.name, nonce)
  local line = number and get_line(history, number)
  return line and line.due
end

-- Beyond the mark, every fire has a nonce.
local function find_existing(history, due_mark, open, creates)
  for _, create in ipairs(creates) do
    local due, nonce = match(create[1], '^([^:]*):(.*)$')
    local found = find_open(open, due, nonce)
    if not found and nonce ~= '' then found = find_nonce(history, nonce) end
    if not found and nonce == '' and due_mark ~= '-' and tonumber(due) <= tonumber(due_mark) then
      found = find_fire(history, due, nonce) and due
    end
    if found then return 'x' .. found .. ':' .. nonce end
  end
  return nil
end

local function find_full(member, limits, before, after)
  for _, limit in ipairs(limits) do
    local slot = limit[1]
    local holders = call('SCARD', SLOT .. slot) + count_holders(member, after, slot) - count_holders(member, before, slot)
    if holders > tonumber(limit[2]) then return 'f' .. slot end
  end
  return nil
end

local function higher_mark(due_mark, due, nonce)
  if nonce ~= '' or (due_mark ~= '-' and tonumber(due) <= tonumber(due_mark)) then return due_mark end
  return due
end

local function trim(history, below, before)
  local found, looks = {}, 0
  walk(history, history.first, function(text, number)
    if number >= below or #found == TRIM_MOST or looks == TRIM_LOOKS then return false end
    if not match(text, FINAL) then return true end
    local line = parse_line(text)
    looks = looks + 1
    if math.max(line.ended, tonumber(line.due)) < before then found[#found + 1] = { line, number } end
    return true
  end)
  delete_all(history, found)
end

local function head_of(settings)
  return match(settings or '', '^([^\n]*)\n([^\n]*)\n([^\n]*)\n')
end

-- Schedules are indexed by their settings; nil: no settings before, or after.
local function list_names(member, before, after)
  local name = sub(member, 3)
  local was_job, was_tenant, was_app = head_of(before)
  local job, tenant, app = head_of(after)
  local function move(index, from, to)
    if from == to then return end
    if from and from ~= '' then call('ZREM', index .. from, name) end
    if to and to ~= '' then call('ZADD', index .. to, '0', name) end
  end
  if not was_job then call('ZADD', NAMES, '0', name) end
  if not job then call('ZREM', NAMES, name) end
  move(NAMES_OF_JOB, was_job, job)
  move(NAMES_OF_TENANT, was_tenant, tenant)
  move(NAMES_OF_APP, was_app, app)
  if was_job and was_job ~= job then call('ZREM', DUE .. was_job, member) end
end

local epoch_now = digits(epoch)

local function apply()
  local member, version, given_epoch, not_before, base = take(), take(), take(), take(), take()
  local kind, tokens, ended, body, wake, job, settings, below, before = take(), take(), take(), take(), take(), take(), take(), take(), take()
  local creates, reopens, rewrites, lines, limits = take_list(1), take_list(1), take_list(3), take_list(3), take_list(2)
  local activity = take_list(5)
  local name, shard = sub(member, 3), shard_of(member)
  local current = call('HGET', shard, name)
  local was_version, edition, first, due_mark, expires, was_tokens, was_ended = '0', '0', '0', '-', '-', '0', '0'
  if current then was_version, edition, first, due_mark, expires, was_tokens, was_ended = match(current, HEAD) end
  local exists = edition ~= '0'
  -- Everything is asked before anything is written: what is refused leaves no trace.
  if given_epoch ~= epoch_now or version ~= (exists and was_version or '0') then return 'c' end
  if not_before ~= '' and now < tonumber(not_before) then return 'e' end
  if exists and kind == 's' and base ~= edition then return 'd' end
  local history = open_history(member, tonumber(first), expires)
  local were_open = exists and open_fires(current) or {}
  local are_open = open_fires('\n' .. body)
  local refusal = find_existing(history, due_mark, were_open, creates) or find_full(member, limits, were_open, are_open)
  if refusal then return refusal end

  for _, create in ipairs(creates) do due_mark = higher_mark(due_mark, match(create[1], '^([^:]*):(.*)$')) end
  if not exists then
    local row = call('HMGET', META, 'floor', 'ended')
    local floor = tonumber(row[1]) or 0
    version = digits(floor + 1)
    tokens = digits(math.max(tonumber(tokens), floor))
    ended = digits(math.max(tonumber(ended), current and tonumber(was_ended) or tonumber(row[2]) or 0))
  elseif kind == 's' then
    version = digits(tonumber(version) + 1)
  end
  if settings ~= '' then
    list_names(member, exists and call('HGET', SETTINGS, name), settings)
    call('HSET', SETTINGS, name, settings)
    edition = version
  end
  if kind == 's' then
    if wake == '-' then call('ZREM', DUE .. job, member) else call('ZADD', DUE .. job, wake, member) end
  elseif exists then
    raise('floor', math.max(tonumber(was_version), tonumber(was_tokens)))
    list_names(member, call('HGET', SETTINGS, name), nil)
    call('HDEL', SETTINGS, name)
    edition, tokens, ended = '0', was_tokens, was_ended
  end
  hold_runs(member, were_open, are_open)
  hold_slots(member, were_open, are_open)
  list_waiting(member, were_open, are_open)
  for _, fire in ipairs(reopens) do reopen(history, match(fire[1], '^([^:]*):(.*)$')) end
  for _, list in ipairs({ rewrites, lines }) do
    for _, item in ipairs(list) do
      local line = put_line(history, item[1], item[2], item[3])
      due_mark = higher_mark(due_mark, line.due, line.nonce)
      if line.is_final or line.token ~= '-' then
        log[#log + 1] = member
        log[#log + 1] = item[1]
      end
      if kind ~= 's' then ended = digits(math.max(tonumber(ended), tonumber(item[1]))) end
    end
  end
  if below ~= '' then trim(history, tonumber(below), tonumber(before)) end
  for _, line in ipairs(activity) do add_activity(unpack(line)) end
  if edition == '0' and history.length == 0 then
    call('HDEL', shard, name)
    call('ZREM', EXPIRING, member)
    call('HDEL', PRUNING, member)
    raise('ended', tonumber(ended))
  else
    local head = { version, edition, first_of(history), due_mark, history.expires, tokens, ended }
    version = table.concat(head, ' ')
    call('HSET', shard, name, version .. (edition == '0' and '' or ' ' .. body))
  end
  return 'a' .. version
end

local refusal = refuse(ARGV[2])
if refusal then return answer({ refusal }) end
local lines = {}
local is_applied = false
while at < #ARGV do
  local line = apply()
  if sub(line, 1, 1) == 'a' then is_applied = true end
  lines[#lines + 1] = line
end
finish(is_applied, ARGV[2])
return answer(lines)
