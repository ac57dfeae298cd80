import { request } from 'node:http';

export interface BenchRequest {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface BenchResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends one request on its own connection. Rejects when the response is incomplete. */
export function sendRequest(
  url: string | URL,
  { method = 'GET', headers = {}, body }: BenchRequest = {},
): Promise<BenchResponse> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const req = request(url, { method, agent: false, headers: { ...headers, ...length } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Returns the body of a GET response. */
export const text = async (url: string): Promise<string> => (await sendRequest(url)).body;
