-- wrk script of the bench: the request from the environment, one machine-readable line at the end.
local function slurp(p) local f = assert(io.open(p, "rb")); local s = f:read("*a"); f:close(); return s end
wrk.method = "POST"
wrk.path = os.getenv("B_PATH")
for k, v in string.gmatch(os.getenv("B_HEADERS") or "", "([^\n:]+): ([^\n]*)") do wrk.headers[k] = v end
wrk.body = slurp(os.getenv("B_BODY"))
function done(s, l)
  local e = s.errors
  io.write(string.format('\n@@{"n":%d,"us":%d,"p50":%d,"p99":%d,"bad":%d}\n', s.requests, s.duration, l:percentile(50), l:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
