import { request } from 'node:http';
import type { Gateway } from './gateway.ts';
import { until } from './gateway.ts';
import { readStream, type StreamedResponse } from './stream.ts';

export interface FollowedEvent {
  id: number | null;
  event: string;
  data: string;
}

/** A stream of server-sent events, parsed while it is being received. */
export interface FollowedStream extends StreamedResponse {
  events(): FollowedEvent[];
  /** The events of one name, parsed. */
  named<T>(event: string): T[];
  /** Waits for an event and returns it. */
  next(description: string, matches: (event: FollowedEvent) => boolean): Promise<FollowedEvent>;
}

function parse(text: string): FollowedEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
    const data = field('data');
    if (data === undefined) return [];
    const id = field('id');
    return [{ id: id === undefined ? null : Number(id), event: field('event') ?? 'message', data }];
  });
}

/** GETs a stream and resolves when the response headers have arrived. */
export function follow(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  options: { key?: string; cookie?: string; headers?: Record<string, string> } = {},
): Promise<FollowedStream> {
  const headers = {
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port: gateway.port, path, headers, agent: false });
    req.on('error', reject);
    req.on('response', (res) => {
      const stream = readStream(req, res);
      const completeText = () => stream.text().slice(0, stream.text().lastIndexOf('\n\n') + 2);
      const events = () => parse(completeText());
      resolve({
        ...stream,
        events,
        named: <T>(event: string) =>
          events()
            .filter((each) => each.event === event)
            .map(({ data }) => JSON.parse(data) as T),
        async next(description, matches) {
          await until(() => events().some(matches), description);
          return events().find(matches) as FollowedEvent;
        },
      });
    });
    req.end();
  });
}
