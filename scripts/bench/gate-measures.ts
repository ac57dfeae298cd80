import { chatBody } from './bodies.ts';

/** A closed loop: each connection sends its next request as soon as it has the answer. */
export interface Load {
  readonly connections: number;
  body(): string;
}

/** A measure of the gate: a load, and the name of its row in the table of recorded ratios. */
export interface Measure extends Load {
  readonly name: string;
  /** The scenario of the bench that shows the same path. */
  readonly scenario: string;
}

const smallChat = (): string => chatBody({ bytes: 100, turns: 1 });
const stream = (everyUs: number): string =>
  chatBody({ bytes: 100, turns: 1, stream: { tokens: 50, everyUs } });

/** The loads that warm fresh processes: many connections, so that a busy machine delays few of the requests. */
export const WARM_CHATS: Load = { connections: 64, body: smallChat };
export const WARM_STREAMS: Load = { connections: 32, body: () => stream(0) };

/** The measures of the gate in their order. Small chats need the warmest code and run last. */
export const MEASURES: readonly Measure[] = [
  {
    name: '4 MB chat',
    connections: 4,
    body: () => chatBody({ bytes: 4 << 20, turns: 59 }),
    scenario: 'chat 4MB c=4',
  },
  {
    name: '64 KB chat',
    connections: 16,
    body: () => chatBody({ bytes: 64 << 10, turns: 9 }),
    scenario: 'chat 4MB c=4',
  },
  {
    // Paced, so that each token is a separate read and write: at full speed a slower gateway reads several at once.
    name: 'stream of 50 tokens',
    connections: 48,
    body: () => stream(2_000),
    scenario: 'sse x64 20ms',
  },
  { name: 'small chat', connections: 16, body: smallChat, scenario: 'chat c=16' },
];
