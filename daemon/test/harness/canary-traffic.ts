import type { Gateway } from './gateway.ts';
import { rawExchange, type SendOptions, send } from './http.ts';
import { socketResult } from './socket.ts';

/** Records every response of a gateway with its request. */
export class ResponseRecorder {
  readonly gateway: Gateway;
  readonly exchanges: { request: string; response: string }[] = [];

  constructor(gateway: Gateway) {
    this.gateway = gateway;
  }

  /** Sends a request and records the whole response, except the cookie of a login. */
  async send(method: string, path: string, options: SendOptions = {}): Promise<number> {
    const { headers, text, status } = await send(this.gateway, method, path, options);
    const { 'set-cookie': cookie, ...rest } = headers;
    const recorded = path === '/api/auth/login' ? rest : { ...rest, 'set-cookie': cookie };
    this.record(`${method} ${path.slice(0, 60)}`, `${JSON.stringify(recorded)}\n${text}`);
    return status;
  }

  record(request: string, response: string): void {
    this.exchanges.push({ request, response });
  }
}

export const chat = (content: unknown, more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content }],
  max_tokens: 2,
  temperature: 0,
  ...more,
});

/** Sends `secret` in every part of a request that can carry text. `keys` are valid keys, the first one an admin key. */
export async function plant(
  recorder: ResponseRecorder,
  secret: string,
  keys: readonly string[],
): Promise<void> {
  const quoted = encodeURIComponent(secret);
  const admin = encodeURIComponent(keys[0] ?? '');
  const carriers: Record<string, string>[] = [
    { authorization: `Bearer ${secret}` },
    { authorization: `Basic ${secret}` },
    { 'x-api-key': secret },
    { cookie: `svc_session=${secret}; other=${secret}` },
    { 'x-request-id': secret },
    { 'user-agent': secret },
    { referer: `http://u:${secret}@x.example/?k=${secret}` },
    { origin: `http://${quoted.replaceAll('%', '-')}.example` },
    { 'x-svc-model-filter': secret },
    { 'x-forwarded-for': secret },
    { 'content-type': `application/json; charset=${secret}` },
    { 'content-encoding': secret },
    { 'accept-language': secret },
  ];
  for (const headers of carriers) {
    for (const [method, path] of [
      ['GET', '/api/settings'],
      ['GET', '/v1/models'],
      ['GET', '/api/auth/status'],
      ['POST', '/v1/chat/completions'],
    ] as const) {
      await recorder.send(
        method,
        path,
        method === 'POST' ? { headers, body: JSON.stringify(chat('x')) } : { headers },
      );
    }
  }
  for (const path of [
    `/v1/models?api_key=${quoted}`,
    `/v1/models/${quoted}?api_key=${quoted}`,
    `/api/settings?api_key=${quoted}&api_key=other`,
    `/api/requests?api_key=${quoted}`,
    `/api/slots/${quoted}?api_key=${admin}`,
    `/api/requests/${quoted}?api_key=${admin}`,
    `/${quoted}?api_key=${admin}`,
    `/assets/${quoted}`,
    `/login?next=${quoted}`,
  ]) {
    await recorder.send('GET', path);
  }
  for (const key of keys) await plantInBodies(recorder, secret, key);
  await plantRaw(recorder, secret, quoted);
}

/** Sends `secret` in every field of a body, with a valid key. */
export async function plantInBodies(recorder: ResponseRecorder, secret: string, key: string): Promise<void> {
  const bodies: [string, string, unknown][] = [
    ['POST', '/v1/chat/completions', chat(`${secret}!`)],
    ['POST', '/v1/chat/completions', chat('x', { model: secret })],
    ['POST', '/v1/chat/completions', chat('x', { model: `svc/${secret}` })],
    // The error message repeats 120 characters of the name, the request log 1,024: both cuts split the secret.
    ['POST', '/v1/chat/completions', chat('x', { model: `${'m'.repeat(100)}${secret}` })],
    ['POST', '/v1/chat/completions', chat('x', { model: `${'m'.repeat(1_004)}${secret}` })],
    ['POST', '/v1/chat/completions', chat('x', { [secret]: secret, user: secret })],
    ['POST', '/v1/chat/completions', chat([{ type: secret, text: secret }])],
    ['POST', '/v1/chat/completions', chat('x', { temperature: secret })],
    ['POST', '/v1/chat/completions', chat('x', { stop: [secret], tool_choice: secret })],
    ['POST', '/v1/chat/completions', { model: 'agent', messages: secret }],
    ['POST', '/v1/chat/completions', chat('x', { model: 'hollow' })],
    ['POST', '/v1/completions', { model: secret, prompt: secret }],
    ['POST', '/v1/embeddings', { model: secret, input: secret }],
    ['POST', '/v1/audio/speech', { model: secret, input: secret }],
    ['POST', '/v1/images/generations', { model: secret, prompt: secret }],
    ['POST', '/v1/audio/transcriptions', `--${secret}\r\n`],
    ['POST', '/api/dispatch/explain', { path: '/v1/chat/completions', model: `${secret}x` }],
    ['POST', '/api/auth/login', { key: `${secret}x` }],
    ['POST', '/api/auth/login', { key: [secret], [secret]: 1 }],
    ['POST', '/api/auth/login', `{"key":"${secret}`],
    ['POST', '/api/auth/rotate', { tier: secret }],
    ['PUT', '/api/auth/require', { require_auth: secret }],
    ['PUT', '/api/settings', { values: { [secret]: secret } }],
    ['PUT', '/api/settings', { values: { logLevel: secret, port: secret, adminKey: secret } }],
    ['POST', '/api/memory/search', { query: secret, limit: secret }],
    ['POST', `/api/slots/${encodeURIComponent(secret)}/load`, undefined],
    ['DELETE', `/api/memory/${encodeURIComponent(secret)}`, undefined],
    ['PATCH', '/api/settings', { secret }],
  ];
  for (const [method, path, body] of bodies) {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (path.endsWith('transcriptions')) headers['content-type'] = `multipart/form-data; boundary=${secret}`;
    await recorder.send(method, path, { key, body, headers });
  }
}

/** Sends what no HTTP client sends: invalid request lines, WebSockets. */
async function plantRaw(recorder: ResponseRecorder, secret: string, quoted: string): Promise<void> {
  for (const bytes of [
    `GET /?${quoted} HTTP/9.9\r\nhost: x\r\n\r\n`,
    `GET /${secret} ${secret} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: ${secret}\r\nhost: ${secret}\r\n\r\n`,
    `GET http://user:${secret}@localhost/api/settings HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `${secret}\r\n\r\n`,
    `POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: x${secret}\r\n\r\n`,
  ]) {
    recorder.record('raw', await rawExchange(recorder.gateway, bytes, 400));
  }
  const token = secret.replace(/[^\w.-]/g, '-');
  for (const [path, protocols] of [
    [`/v1/realtime?api_key=${quoted}`, []],
    ['/v1/realtime', ['realtime', `openai-insecure-api-key.${token}`]],
    ['/v1/realtime', [`openai-insecure-api-key.${token}`]],
  ] as const) {
    const result = await socketResult(recorder.gateway, path, { protocols: [...protocols] });
    recorder.record(`socket ${path.slice(0, 12)}`, JSON.stringify(result));
  }
}
