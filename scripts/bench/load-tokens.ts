import { request } from 'node:http';
import type { Figures } from './load-closed.ts';
import { cpuNs } from './process-figures.ts';
import type { Target } from './targets.ts';

export interface TokenLoad {
  readonly requests: number;
  readonly tokens: number;
  /** Characters of the prompt; one character is one token. */
  readonly prompt: number;
}

let requestCount = 0;

/** A prompt with a unique start, so that no cache has it. It ends in a letter, so that the answer does not end early. */
const promptOf = (length: number): string => {
  const start = `${requestCount++}.`;
  return `${start.padEnd(length - 1, 'x.')}a`;
};

/** Sends one streamed chat. Returns the milliseconds until the first token, and whether the answer was complete. */
function stream(target: Target, load: TokenLoad): Promise<{ firstMs: number; whole: boolean }> {
  const body = JSON.stringify({
    model: 'agent',
    messages: [{ role: 'user', content: promptOf(load.prompt) }],
    temperature: 0,
    max_tokens: load.tokens,
    stream: true,
  });
  const headers = {
    ...target.headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const path = new URL('/v1/chat/completions', target.url);
    const req = request(path, { method: 'POST', headers, agent: false, timeout: 120_000 }, (answer) => {
      let firstMs = Number.NaN;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        if (Number.isNaN(firstMs) && /"content":"[^"]/.test(text)) firstMs = performance.now() - since;
      });
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ firstMs, whole: answer.statusCode === 200 && text.includes('"finish_reason":"length"') }),
      );
    });
    req.on('timeout', () => req.destroy(new Error('no token within 120 s')));
    req.on('error', reject);
    req.end(body);
  });
}

/**
 * Runs concurrent streams. Measures tokens per second in total and CPU time per token. With answers of one token the figures
 * are those of the prompt tokens.
 */
export async function tokenStreams(target: Target, load: TokenLoad): Promise<Figures> {
  const before = cpuNs(target.pid);
  const since = performance.now();
  const all = await Promise.all(Array.from({ length: load.requests }, () => stream(target, load)));
  const ms = performance.now() - since;
  const cpuMs = (cpuNs(target.pid) - before) / 1e6;
  const first = Math.max(...all.map(({ firstMs }) => firstMs));
  const isPrefill = load.tokens === 1;
  const tokens = load.requests * (isPrefill ? load.prompt : load.tokens);
  return {
    tok_s: (tokens * 1000) / (isPrefill ? first : ms),
    cpu_ms_tok: cpuMs / tokens,
    first_ms: first,
    bad: all.filter(({ whole }) => !whole).length,
  };
}
