-- A member renews its leases, takes what it may have, and hears how things stand.
-- Further arguments: how long a lease lasts in ms, version, 1 when draining, the shards it acts for.
local TTL, VERSION, DRAINING = tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'
local FIRST_HELD = 7

-- Every replica whose lease has not lapsed, by id. The others are removed: so are leases that end later than any could,
-- which a clock that was set back leaves behind.
local function livingAt(at)
  local living, lapsed = {}, {}
  local entries = read('HGETALL', REPLICAS) or {}
  for i = 1, #entries, 2 do
    local id, said = entries[i], replica(entries[i + 1])
    if said and isName(id) and said.expiry > at and said.expiry <= at + 2 * TTL then
      living[id] = said
    else
      lapsed[#lapsed + 1] = id
    end
  end
  for _, id in ipairs(lapsed) do redis.call('HDEL', REPLICAS, id) end
  return living
end

-- 1. The lease of this member. Returns what is worth announcing, or nil.
local function renew(living, at)
  local before = living[ID]
  living[ID] = { boot = BOOT, version = VERSION, draining = DRAINING, expiry = at + TTL }
  redis.call('HSET', REPLICAS, ID, cjson.encode(living[ID]))
  if not before then return 'came' end
  if before.draining ~= DRAINING then return DRAINING and 'drains' or 'stays' end
  return nil
end

-- 2. The Leader lease. Returns who leads, and what is worth announcing, or nil.
local function lead(isLiving)
  local leader = read('GET', LEADER)
  if leader ~= ME and isLiving[leader or ''] then return leader, nil end
  if DRAINING then
    if leader then redis.call('DEL', LEADER) end
    return nil, leader == ME and 'no longer leads' or nil
  end
  redis.call('SET', LEADER, ME, 'PX', TTL)
  return ME, leader ~= ME and 'leads' or nil
end

-- 3. Grants. Returns the shards that this member may act for.
local function claim(isLiving, targets)
  local grants, held, granted, written = {}, {}, {}, {}
  local entries = read('HGETALL', GRANTS) or {}
  for i = 1, #entries, 2 do grants[entries[i]] = entries[i + 1] end
  for i = FIRST_HELD, #ARGV do held[ARGV[i]] = true end
  for shard = 0, SHARDS - 1 do
    local field = tostring(shard)
    local grant = grants[field]
    local isWanted = held[field] or (not DRAINING and targets and targets[shard + 1] == ID)
    if isWanted and not isLiving[grant or ''] then
      grant = ME
      written[#written + 1] = field
      written[#written + 1] = ME
    end
    if grant == ME then granted[#granted + 1] = shard end
  end
  if #written > 0 then redis.call('HSET', GRANTS, unpack(written)) end
  return granted
end

local at = now()
local living = livingAt(at)
if living[ID] and living[ID].boot ~= BOOT then return { 'duplicate' } end
local news = renew(living, at)
local isLiving, list = {}, {}
for id, said in pairs(living) do
  isLiving[id .. '/' .. said.boot] = true
  list[#list + 1] = { id, said.boot, said.version, said.draining and 1 or 0 }
end
local leader, change = lead(isLiving)
local generation, targets = assignment()
local granted = claim(isLiving, targets)
if news then announce(news) end
if change then announce(change) end
return { 'ok', list, leader or false, generation, targets or false, granted }
