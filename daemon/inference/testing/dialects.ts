export const RESPONSES = '/v1/responses';
export const MESSAGES = '/v1/messages';
export const COUNT = '/v1/messages/count_tokens';
export const hi = [{ role: 'user', content: 'hi' }];
export const BODIES = {
  [RESPONSES]: { model: 'agent', input: 'hi' },
  [MESSAGES]: { model: 'agent', max_tokens: 9, messages: hi },
} as const;
export type Path = keyof typeof BODIES;
export const PATHS = Object.keys(BODIES) as Path[];
export const JSON_TYPE = { 'content-type': 'application/json' };

/** Returns the events of a stream, without comments. */
export const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map(
      (block) => JSON.parse(block.split('\ndata: ')[1] ?? '') as { type: string } & Record<string, unknown>,
    );
export const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);
export const chunk = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
export const finish = (reason: string) =>
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
