-- What every script begins with (operations §5.2). All of them are called with the same keys:
--   replicas    hash: id of a replica → JSON {boot, version, draining, expiry: ms since 1970 by this server's clock}
--   leader      string: "id/boot" of the member that leads; expires
--   assignment  string: JSON {generation, targets: [id or null, one a shard]}
--   grants      hash: number of a shard → "id/boot" of the member that may act for it
-- and with the same first arguments. Whatever else is found under these keys counts as missing.
local REPLICAS, LEADER, ASSIGNMENT, GRANTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local CHANNEL, ID, BOOT = ARGV[1], ARGV[2], ARGV[3]
local ME = ID .. '/' .. BOOT
local SHARDS = 256

-- Milliseconds since 1970.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- The answer of a reading command, or nil. A key of another type is removed.
local function read(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) == 'table' and answer.err then
    if string.find(answer.err, 'WRONGTYPE', 1, true) then
      redis.call('DEL', key)
      return nil
    end
    return redis.call(command, key, ...)
  end
  return answer or nil
end

-- Tells every replica that it is worth a look.
local function announce(what)
  redis.call('PUBLISH', CHANNEL, what .. ' ' .. ID)
end

local function isName(value)
  return type(value) == 'string' and #value >= 1 and #value <= 64 and not string.find(value, '[^%w._-]')
end

local function decoded(text)
  local ok, value = pcall(cjson.decode, text)
  return ok and type(value) == 'table' and value or nil
end

-- What a replica said of itself, or nil.
local function replica(text)
  local said = text and decoded(text)
  local isOne = said
    and isName(said.boot)
    and type(said.version) == 'string'
    and type(said.draining) == 'boolean'
    and type(said.expiry) == 'number'
  return isOne and said or nil
end

-- Generation and targets by shard + 1 (false for nobody); 0 and nil while there is no assignment.
local function assignment()
  local text = read('GET', ASSIGNMENT)
  local found = text and decoded(text)
  if not found or type(found.targets) ~= 'table' or #found.targets ~= SHARDS then return 0, nil end
  local generation, targets = found.generation, {}
  if type(generation) ~= 'number' or generation < 1 or generation > 2 ^ 53 or generation % 1 ~= 0 then return 0, nil end
  for at = 1, SHARDS do
    local target = found.targets[at]
    if target ~= cjson.null and not isName(target) then return 0, nil end
    targets[at] = target ~= cjson.null and target
  end
  return generation, targets
end
