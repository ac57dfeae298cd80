// The program inside test images: simulates a chat server with a key and a model file. CommonJS, because an
// image contains nothing else of this repository.
const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');

const { KEY, MODEL, FAIL, DEAF, PORT = '8080' } = process.env;
const [modelId = 'stand-in'] = process.argv.slice(2);

if (FAIL) {
  console.log('loading the model');
  console.error(`error: ${FAIL}`);
  process.exit(3);
}
const held = MODEL ? readFileSync(MODEL, 'utf8') : '';
if (!DEAF) process.on('SIGTERM', () => process.exit(0));
else process.on('SIGTERM', () => console.log('SIGTERM is ignored'));

const send = (res, status, body) => {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
};
const answer = (content) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: modelId,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const routes = {
  '/health': () => ({ status: 'ok' }),
  '/v1/models': () => ({
    object: 'list',
    data: [{ id: modelId, object: 'model', created: 1, owned_by: 'x' }],
  }),
  '/v1/chat/completions': () => answer(`pid ${process.pid} holds ${held}`),
  '/env': () => process.env,
  '/rights': () => readFileSync('/proc/self/status', 'utf8'),
};

createServer((req, res) => {
  req.resume();
  if (KEY && req.headers.authorization !== `Bearer ${KEY}`)
    return send(res, 401, { error: { message: 'no key' } });
  if (req.url === '/die') {
    console.error('error: exit requested');
    process.exit(7);
  }
  const route = routes[req.url];
  return route ? send(res, 200, route()) : send(res, 404, { error: { message: 'not found' } });
}).listen(Number(PORT), '0.0.0.0', () => console.log('listening'));
