import { expect, test } from 'vitest';
import type { EventStream } from '../event-stream.ts';
import type { RequestContext } from '../http-server.ts';
import { CHAT } from './chat-response.ts';
import type { AnswerEvent } from './choices.ts';
import { streamAnswer } from './stream-response.ts';
import { NO_COUNTS } from './usage.ts';

const text = (choice: number, text: string): AnswerEvent => ({
  type: 'pieces',
  choice,
  pieces: [{ type: 'text', text: text }],
  logprobs: null,
});
const end = (choice: number): AnswerEvent => ({ type: 'choice', choice, finish: 'stop', counts: NO_COUNTS });

/** Returns what was sent when each event was requested, and at the end. */
async function streamed(events: readonly AnswerEvent[]): Promise<string[][]> {
  const sent: string[] = [];
  const steps: string[][] = [];
  const stream: EventStream = {
    send: async (value) => {
      const [choice] = (value as { choices: { index: number; delta: object; finish_reason: unknown }[] })
        .choices;
      sent.push(`${choice?.index} ${JSON.stringify(choice?.delta)} ${choice?.finish_reason}`);
    },
    comment: async () => {},
    done: () => void sent.push('done'),
    end: () => {},
    fail: (error) => {
      throw error;
    },
  };
  async function* answer(): AsyncGenerator<AnswerEvent> {
    for (const event of events) {
      steps.push(sent.splice(0));
      yield event;
    }
  }
  const form = { dialect: CHAT, head: { id: '', created: 0, model: 'm' }, includeUsage: false };
  await streamAnswer({ events: () => stream } as unknown as RequestContext, answer(), form);
  return [...steps, sent];
}

test('sends nothing for a choice before its first piece', async () => {
  const opening = '{"role":"assistant","content":""} null';
  expect(
    await streamed([
      { type: 'started' },
      { type: 'progress' },
      text(0, 'a'),
      end(0),
      text(1, 'b'),
      end(1),
      { type: 'done', counts: NO_COUNTS },
    ]),
  ).toEqual([
    [],
    [],
    [],
    [`0 ${opening}`, '0 {"content":"a"} null'],
    ['0 {} stop'],
    [`1 ${opening}`, '1 {"content":"b"} null'],
    ['1 {} stop'],
    ['done'],
  ]);
});

test('opens and closes a choice without text', async () => {
  const sentAtEvents = await streamed([{ type: 'started' }, end(0), { type: 'done', counts: NO_COUNTS }]);
  expect(sentAtEvents[2]).toEqual(['0 {"role":"assistant","content":""} null', '0 {} stop']);
});
