-- part: held
-- Instances that took or gave back runs.
local touched = {}

local function instances_of(fires)
  local instances = {}
  for _, fire in ipairs(fires) do
    if fire.token ~= '-' then instances[fire.instance] = true end
  end
  return instances
end

-- A listing may hold too much, never too little.
local function hold_runs(member, before, after)
  local were, are = instances_of(before), instances_of(after)
  for instance in pairs(are) do
    if not were[instance] then
      call('SADD', HELD .. instance, member)
      touched[instance] = true
    end
  end
  for instance in pairs(were) do
    if not are[instance] then
      call('SREM', HELD .. instance, member)
      touched[instance] = true
    end
  end
end

local function each_slot(member, fires, visit)
  for _, fire in ipairs(fires) do
    for slot in gmatch(fire.slots, '[^\t]+') do visit(slot, member .. '\n' .. fire.token) end
  end
end

local function count_holders(member, fires, slot)
  local holders = 0
  each_slot(member, fires, function(name)
    if name == slot then holders = holders + 1 end
  end)
  return holders
end

local function hold_slots(member, before, after)
  each_slot(member, before, function(slot, held_by) call('SREM', SLOT .. slot, held_by) end)
  each_slot(member, after, function(slot, held_by) call('SADD', SLOT .. slot, held_by) end)
end

local function list_waiting(member, before, after)
  for _, fire in ipairs(before) do
    if fire.token == '-' then call('ZREM', WAITING, member .. '\n' .. fire.nonce .. '\n' .. fire.due) end
  end
  for _, fire in ipairs(after) do
    if fire.token == '-' then call('ZADD', WAITING, fire.due, member .. '\n' .. fire.nonce .. '\n' .. fire.due) end
  end
end

local function list_holders()
  for instance in pairs(touched) do
    if call('EXISTS', HELD .. instance) == 1 then
      call('SADD', HOLDERS, instance)
    else
      call('SREM', HOLDERS, instance)
    end
  end
end
