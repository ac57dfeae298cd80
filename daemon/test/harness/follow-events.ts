import { request } from 'node:http';
import type { Gateway } from './gateway.ts';
import { until } from './gateway.ts';
import { readAlong, type Streamed } from './stream.ts';

export interface FollowedEvent {
  id: number | null;
  event: string;
  data: string;
}

/** A stream of server-sent events that is read while it comes. */
export interface Followed extends Streamed {
  events(): FollowedEvent[];
  /** The events of one name, parsed. */
  named<T>(event: string): T[];
  /** Waits for an event and answers it. */
  next(what: string, wanted: (event: FollowedEvent) => boolean): Promise<FollowedEvent>;
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

/** GETs a stream and resolves at its head. */
export function follow(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  options: { key?: string; cookie?: string; headers?: Record<string, string> } = {},
): Promise<Followed> {
  const headers = {
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port: gateway.port, path, headers, agent: false });
    req.on('error', reject);
    req.on('response', (res) => {
      const answer = readAlong(req, res);
      const whole = () => answer.text().slice(0, answer.text().lastIndexOf('\n\n') + 2);
      const events = () => parse(whole());
      resolve({
        ...answer,
        events,
        named: <T>(event: string) =>
          events()
            .filter((each) => each.event === event)
            .map(({ data }) => JSON.parse(data) as T),
        async next(what, wanted) {
          await until(() => events().some(wanted), what);
          return events().find(wanted) as FollowedEvent;
        },
      });
    });
    req.end();
  });
}
