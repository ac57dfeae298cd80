import { describe, expect, test } from 'vitest';
import { chatFormat } from '../../../models/chat-format.ts';
import type { ChatMessage } from './chat-message.ts';
import { chatTemplate } from './chat-template.ts';

const special = { bos: '<s>', eos: '</s>' };
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello' },
  { role: 'user', content: 'Bye' },
];
const VOCABULARIES: Record<string, string[]> = {
  gemma: ['<start_of_turn>', '<end_of_turn>'],
  llama3: ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  llama4: ['<|header_start|>', '<|header_end|>', '<|eot|>'],
  granite: ['<|start_of_role|>', '<|end_of_role|>', '<|end_of_text|>'],
  'command-r': ['<|START_OF_TURN_TOKEN|>', '<|END_OF_TURN_TOKEN|>', '<|CHATBOT_TOKEN|>'],
  deepseek3: ['<｜User｜>', '<｜Assistant｜>'],
  chatglm4: ['[gMASK]', '<|user|>', '<|assistant|>'],
  phi3: ['<|user|>', '<|assistant|>', '<|end|>'],
  'mistral-v7': ['[INST]', '[/INST]', '[SYSTEM_PROMPT]'],
  chatml: ['<|im_start|>', '<|im_end|>'],
};
const templateOf = (id: string) => chatTemplate(null, special, chatFormat(VOCABULARIES[id]));
const render = (id: string, own: readonly object[], tools: readonly object[] | null = null) =>
  templateOf(id).render({
    messages: own as ChatMessage[],
    tools: tools as never,
    templateArguments: {},
  });

const PROMPTS: [string, string][] = [
  [
    'gemma',
    '<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n',
  ],
  [
    'llama3',
    '<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
  ],
  [
    'command-r',
    '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Be brief.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>Hello<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Bye<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>',
  ],
  ['deepseek3', 'Be brief.<｜User｜>Hi<｜Assistant｜>Hello</s><｜User｜>Bye<｜Assistant｜>'],
  [
    'chatglm4',
    '[gMASK]<sop><|system|>\nBe brief.<|user|>\nHi<|assistant|>\nHello<|user|>\nBye<|assistant|>\n',
  ],
  [
    'phi3',
    '<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\nHello<|end|>\n<|user|>\nBye<|end|>\n<|assistant|>\n',
  ],
  ['mistral-v7', '[SYSTEM_PROMPT] Be brief.[/SYSTEM_PROMPT][INST] Hi[/INST] Hello</s>[INST] Bye[/INST]'],
  [
    'chatml',
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n',
  ],
];

test.each(PROMPTS)('%s writes a whole conversation', (id, expected) => {
  expect(render(id, messages)).toBe(expected);
});

describe.each(Object.keys(VOCABULARIES))('%s', (id) => {
  test('has texts that end an answer; a template of the file has none', () => {
    expect(templateOf(id).ends.length).toBeGreaterThan(0);
    expect(chatTemplate('{{ messages[0].content }}', special, chatFormat(VOCABULARIES[id])).ends).toEqual([]);
  });

  test('carries a tool loop', () => {
    const call = { id: 'a', type: 'function', function: { name: 'now', arguments: '{"zone":"UTC"}' } };
    const history = [
      { role: 'user', content: 'Time?' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'noon' },
    ];
    const text = render(id, history, [
      { type: 'function', function: { name: 'now', description: 'The time', parameters: {} } },
    ]);
    for (const part of ['Time?', 'now', 'UTC', 'noon', 'The time']) expect(text).toContain(part);
  });

  test('writes a later system message', () => {
    expect(render(id, [...messages, { role: 'system', content: 'Noted.' }])).toContain('Noted.');
  });
});
