-- Takes back everything of a member: its lease, its grants, its lead.
local had = 0

local said = replica(read('HGET', REPLICAS, ID))
if said and said.boot == BOOT then had = had + redis.call('HDEL', REPLICAS, ID) end
local entries = read('HGETALL', GRANTS) or {}
for i = 1, #entries, 2 do
  if entries[i + 1] == ME then had = had + redis.call('HDEL', GRANTS, entries[i]) end
end
if read('GET', LEADER) == ME then had = had + redis.call('DEL', LEADER) end
if had > 0 then announce('left') end
return had
