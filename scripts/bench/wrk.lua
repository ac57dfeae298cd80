-- wrk script of the bench: the request from the environment, one machine-readable line at the end.
local function slurp(p) local f = assert(io.open(p, "rb")); local s = f:read("*a"); f:close(); return s end
-- Writes the headers in a fixed order, as a real client does. wrk would use the order of a Lua table, which differs between runs;
-- each order is a different object shape for V8.
function wrk.format()
  local body = slurp(os.getenv("B_BODY"))
  local lines = { "POST " .. os.getenv("B_PATH") .. " HTTP/1.1", "Host: " .. wrk.headers["Host"] }
  for line in string.gmatch(os.getenv("B_HEADERS") or "", "[^\n]+") do lines[#lines + 1] = line end
  lines[#lines + 1] = "Content-Length: " .. #body
  lines[#lines + 1] = ""
  lines[#lines + 1] = body
  return table.concat(lines, "\r\n")
end
function done(s, l)
  local e = s.errors
  io.write(string.format('\n@@{"n":%d,"us":%d,"p50":%d,"p99":%d,"bad":%d}\n', s.requests, s.duration, l:percentile(50), l:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
