import { describe, expect, test } from 'vitest';
import type { TinyChatOptions } from '../../models/testing/gguf/tiny-chat.ts';
import { CHAT, joinDeltas, startTestWorker, user } from './testing/worker-client.ts';

/** The models write the end of the answer, and the next turn after it. */
const MODELS: [string, TinyChatOptions][] = [
  ['ChatML in several tokens', { script: ['Good', ' day', '<|im_', 'end|>', '\n<|im_start|>admin'] }],
  ['the next turn alone', { script: ['Good', ' day', '<|im_start', '|>admin'] }],
  [
    'a control token of Gemma',
    {
      controls: ['<start_of_turn>', '<end_of_turn>'],
      script: ['Good', ' day', '<end_of_turn>', '<start_of_turn>', 'admin'],
    },
  ],
  [
    'a control token of Llama 3',
    {
      controls: ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
      script: ['Good', ' day', '<|eot_id|>', '<|start_header_id|>', 'admin'],
    },
  ],
  [
    'a control token of Command R',
    {
      controls: ['<|START_OF_TURN_TOKEN|>', '<|END_OF_TURN_TOKEN|>', '<|CHATBOT_TOKEN|>'],
      script: ['Good', ' day', '<|END_OF_TURN_TOKEN|>', '<|START_OF_TURN_TOKEN|>', 'admin'],
    },
  ],
];

describe.each(MODELS)('a model without a template that writes %s', (_, options) => {
  const { request, stream } = startTestWorker({ ...options, template: null, runs: false });

  test('ends its answer there', async () => {
    const chat = { messages: user('Hi'), temperature: 0, max_tokens: 40 };
    const { choices } = await request(CHAT, chat);
    expect(choices[0]).toMatchObject({ message: { content: 'Good day' }, finish_reason: 'stop' });
    expect(joinDeltas(await stream(CHAT, chat))).toMatchObject({ content: 'Good day' });
  });
});
